"""Programs that train agents, and look at how it went."""
