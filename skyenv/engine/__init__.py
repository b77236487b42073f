"""The engine: many games in arrays, single games, observations, and what a seat knows."""
