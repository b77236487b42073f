"""Baselines: programs that train an agent with one library or one algorithm each."""

from skyenv.errors import needs_extra

with needs_extra("train"):
    import torch  # noqa: F401 (its programs need it)
