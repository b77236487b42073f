"""Games on a GPU: the same rules compiled as device code (extra ``[cuda]``).

* :mod:`~skyenv.cuda.games`: a batch of games in the GPU's memory, with the interface of
  :class:`skyenv.Games`
* :mod:`~skyenv.cuda.kernels`: the GPU's code, a thread for each game
"""

from skyenv.cuda.games import Games

__all__ = ["Games"]
