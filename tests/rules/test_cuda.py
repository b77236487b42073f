"""The rules as CUDA device code: the same functions compile unchanged, for which no GPU is needed."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from skyenv.knowledge import VIEW_DTYPE, redact
from skyenv.observation import CODES_DTYPE, OBSERVATION_SIZE, write_codes
from skyenv.rules.compiling import COMPILED
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.scoring import winners
from skyenv.rules.setup import begin
from skyenv.rules.state import GAME_DTYPE, PHASE_OVER
from skyenv.rules.tape import TAPE_DTYPE

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]

CAPABILITY = (8, 0)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Any:
    """numba.cuda as numba-cuda provides it, able to compile where there is no GPU to ask for its kind."""
    pytest.importorskip("numba_cuda", reason="numba-cuda isn't installed: pip install 'numba-cuda[cu13]'")
    from numba import cuda
    from numba.cuda import dispatcher

    # compile_ptx takes the capability as an argument, but not so for the functions that are called.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=CAPABILITY))
    return cuda


def compiled(cuda: Any, kernel: Any, *arguments: Any) -> str:
    """PTX of a kernel for arrays of these types; it calls nothing that allocates, and nothing that isn't there."""
    from numba import from_dtype, types

    arrays = [types.Array(from_dtype(dtype), dimensions, "C") for dtype, dimensions in arguments]
    try:
        ptx, _ = cuda.compile_ptx(kernel, types.void(*arrays), cc=CAPABILITY)
    except Exception as error:
        if "libnvrtc" in str(error) or "libnvvm" in str(error):
            pytest.skip(f"numba-cuda lacks NVIDIA's compiler: pip install 'numba-cuda[cu13]' ({error})")
        raise
    assert ".entry" in ptx
    assert "NRT_" not in ptx, "it allocates"
    assert re.findall(r"^\.extern \.func", ptx, re.MULTILINE) == [], "it calls something that isn't there"
    return str(ptx)


def test_playing(cuda: Any) -> None:
    """Setup, actions, legal actions and the result of games, one for each thread."""
    import numpy as np

    def play(state, blank, tape, masks, actions, seeds, best):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < len(state):
            game = state[row]
            if game.phase == PHASE_OVER:
                best[row] = winners(game)
                begin(game, tape[row], seeds[row])
            else:
                apply(game, tape[row], actions[row])
            refresh_mask(game, masks[row])

    games, tapes, numbers = (GAME_DTYPE, 1), (TAPE_DTYPE, 1), (np.dtype(np.int64), 1)
    ptx = compiled(cuda, play, games, games, tapes, (np.dtype(np.int8), 2), numbers, numbers, numbers)
    assert f".target sm_{CAPABILITY[0]}{CAPABILITY[1]}" in ptx


def test_seeing(cuda: Any) -> None:
    """Observations and views."""
    import numpy as np

    def see(state, scratch, views, seats, codes):  # type: ignore[no-untyped-def]
        row = cuda.grid(1)
        if row < len(state):
            write_codes(state[row], seats[row], scratch[row])
            for i in range(OBSERVATION_SIZE):
                codes[row, i] = scratch[row].codes[i]
            redact(views[row], seats[row])

    numbers = (np.dtype(np.int64), 1)
    compiled(cuda, see, (GAME_DTYPE, 1), (CODES_DTYPE, 1), (VIEW_DTYPE, 1), numbers, (np.dtype(np.int16), 2))
