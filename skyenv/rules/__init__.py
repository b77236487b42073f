"""The rules of the game, one module per chapter of RULES.md: functions on a NumPy record, compiled
by Numba.
"""
