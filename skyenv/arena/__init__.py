"""Measuring agents: matches, evaluations, tournaments, ratings and the shipped ladders."""
