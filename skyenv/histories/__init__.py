"""Positions with all that has led to them, and others that a seat can't tell from them, with other
pasts (INF-2).
"""
