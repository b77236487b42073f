"""Benchmarks of speed, start-up, strength, algorithms and the game itself."""
