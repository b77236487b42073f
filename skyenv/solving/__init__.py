"""Solving bidding tasks: game trees, equilibria and best responses to agents."""
