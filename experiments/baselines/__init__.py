"""Baselines: programs that train an agent with one library or one algorithm each."""
