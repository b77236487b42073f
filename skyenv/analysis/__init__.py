"""Estimates and analyses of positions and recorded games."""
