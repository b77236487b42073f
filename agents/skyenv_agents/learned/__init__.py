"""Agents from trained networks, and the opponent pool for self-play training."""
