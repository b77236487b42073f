"""What a browser receives of a game."""
