"""The engine: batches of games in arrays, single games, observations and seats' knowledge."""
