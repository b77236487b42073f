"""Positions with their histories, and determinizations of whole histories (INF-2)."""
