"""Heuristic agents: weighted scores of legal actions, one action ahead."""
