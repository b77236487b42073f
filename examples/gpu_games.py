"""Games on a GPU with actions by PyTorch: ``python examples/gpu_games.py``.

Needs ``[cuda]`` and PyTorch with CUDA. All arrays stay in the GPU's memory, without copies. Actions
are sampled uniformly from the legal ones; a policy would replace that sampling.
Without a GPU, ``NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python examples/gpu_games.py --games 4
--steps 20`` plays in Numba's simulator, very slowly.
"""

import argparse
import time
from typing import Any

import numpy as np
import torch

from skyenv.cuda import Games


def shared(array: Any) -> torch.Tensor:
    """Return the same memory as a tensor, on the CPU in the simulator."""
    if hasattr(array, "__cuda_array_interface__"):
        return torch.as_tensor(array, device="cuda")
    return torch.from_numpy(np.asarray(array))


def play(num_games: int, steps: int, seed: int) -> tuple[int, float]:
    """Play at random; return the number of finished games and the decisions per second."""
    games = Games(num_games, num_players=2, seed=seed, wait=False)
    mask, done = shared(games.mask), shared(games.done)  # each step updates them
    generator = torch.Generator(mask.device).manual_seed(seed)
    ended = torch.zeros((), dtype=torch.int64, device=mask.device)
    began = time.perf_counter()
    for _ in range(steps):
        actions = torch.multinomial(mask.float(), 1, generator=generator)[:, 0]
        games.step(actions if actions.is_cuda else actions.numpy())
        ended += done.sum()
    games.check()  # waits for the GPU and raises for illegal actions
    return int(ended), num_games * steps / (time.perf_counter() - began)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Play random games on a GPU.")
    parser.add_argument(
        "--games", type=int, default=65536, help="concurrent games (default: 65536)"
    )
    parser.add_argument("--steps", type=int, default=500, help="decisions per game (default: 500)")
    options = parser.parse_args()
    ended, pace = play(options.games, options.steps, seed=1)
    print(f"{ended} games ended; {pace:,.0f} decisions/s, compilation included")


if __name__ == "__main__":
    main()
