"""Measuring agents: games between them, evaluations, tournaments, ratings and the ladder that
ships.
"""
