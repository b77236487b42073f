"""Programs that train agents, export them and draw their learning curves."""
