"""The rules of the game, a chapter of RULES.md each: plain functions on one NumPy record, which
Numba compiles.
"""
