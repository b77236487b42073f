"""Benchmarks of speed, strength, algorithms and the game itself."""
