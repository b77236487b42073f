"""The game for OpenSpiel: importing this registers it, and
``pyspiel.load_game("fifth_avenue(players=3)")`` makes it.

Every card, tile and plot that chance decides is a chance node of its own, in the order of
:meth:`skyenv.Game.chance_ahead`. OpenSpiel's information state is
:mod:`skyenv.engine.information_state`, its
observation :mod:`skyenv.engine.observation`, returns are the reward "outcome". A state's
``resample_from_infostate`` draws a determinization with its whole past, so OpenSpiel's searches
need not cheat.
"""

from skyenv.errors import install_hint

try:
    import pyspiel  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}; {install_hint('openspiel')}", name=error.name) from error

from skyenv.envs.open_spiel.bots import AgentBot
from skyenv.envs.open_spiel.game import SHORT_NAME, FifthAvenueGame, FifthAvenueState

__all__ = ["SHORT_NAME", "AgentBot", "FifthAvenueGame", "FifthAvenueState"]
