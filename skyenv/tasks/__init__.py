"""Bidding tasks solved: their trees, equilibria, and best responses to agents."""
