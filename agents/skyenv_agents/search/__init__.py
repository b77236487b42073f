"""Players that search: they draw what they can't see anew and play on."""
