"""Games on a GPU: the same rules, compiled as device code; needs the extra ``[cuda]``.

* :mod:`~skyenv.cuda.games`: a batch of games in the GPU's memory, with the interface of
  :class:`skyenv.Games`
* :mod:`~skyenv.cuda.kernels`: what runs on the GPU, a thread for each game
* :mod:`~skyenv.cuda.arrays`: arrays there, which PyTorch, CuPy and JAX take without a copy
"""

from skyenv.cuda.arrays import DeviceArray
from skyenv.cuda.games import Games

__all__ = ["DeviceArray", "Games"]
