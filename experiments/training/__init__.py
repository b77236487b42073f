"""Programs that train agents, export them and draw their learning curves."""

from skyenv.errors import needs_extra

with needs_extra("train"):
    import torch  # noqa: F401 (its programs need it)
