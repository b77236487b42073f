"""The game behind PettingZoo, Gymnasium and Stable-Baselines3.

Each interface is a module that imports its own library: :mod:`skyenv.envs.aec` (PettingZoo),
:mod:`skyenv.envs.single` and :mod:`skyenv.envs.vector` (Gymnasium), :mod:`skyenv.envs.sb3` (Stable-Baselines3).
"""

from skyenv.envs.registration import register

register()
