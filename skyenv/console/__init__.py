"""Command lines, progress bars and tables of text."""
