"""The game behind PettingZoo, Gymnasium, Stable-Baselines3 and OpenSpiel.

Each interface is a module that imports its own library: :mod:`skyenv.envs.aec` (PettingZoo),
:mod:`skyenv.envs.single` and :mod:`skyenv.envs.vector` (Gymnasium), :mod:`skyenv.envs.sb3`
(Stable-Baselines3), :mod:`skyenv.envs.open_spiel` (OpenSpiel).
"""

from skyenv.envs import registration  # noqa: F401 (its import makes the environments known)
