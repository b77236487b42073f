"""The PettingZoo environment under a versioned name: ``from skyenv import fifth_avenue_v0``."""

from skyenv.errors import needs_extra

with needs_extra("pettingzoo"):
    from skyenv.envs.aec import env, parallel_env, raw_env

__all__ = ["env", "parallel_env", "raw_env"]
