"""Environments for PettingZoo, Gymnasium, Stable-Baselines3 and OpenSpiel.

Each module imports its own library: :mod:`skyenv.envs.aec` (PettingZoo), :mod:`skyenv.envs.single`
and :mod:`skyenv.envs.vector` (Gymnasium), :mod:`skyenv.envs.sb3` (Stable-Baselines3),
:mod:`skyenv.envs.open_spiel` (OpenSpiel).
"""

from skyenv.envs import registration  # noqa: F401 (its import registers the environments)
