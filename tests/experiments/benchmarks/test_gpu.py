"""The figures of a GPU, where there is none: it is hidden, or a simulator stands for it."""

from __future__ import annotations

import json

from processes import ROOT, printed, python

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
HIDDEN = {"CUDA_VISIBLE_DEVICES": ""}


def test_without_a_gpu_it_says_so() -> None:
    for program in (("gpu",), ("speed", "--device", "cuda")):
        done = python(
            "-m",
            f"experiments.benchmarks.{program[0]}",
            *program[1:],
            "--quick",
            environment=HIDDEN,
        )
        assert done.returncode == 2
        assert done.stderr.strip().endswith(
            "there is no GPU here that Numba can use; python -m numba -s says what it finds"
        )


def test_the_comparison_finds_what_differs() -> None:
    """In the simulator, at one kind of table: in which way of playing each mistake is found."""
    program = """
import json
from unittest import mock
from experiments.benchmarks import gpu
from skyenv.cuda import Games
from skyenv.errors import OptionError, SkyenvError

gpu.TABLES, gpu.AT_A_TIME = gpu.TABLES[:1], 10
play_random, step, uniforms, observe, check = Games.play_random, Games.step, Games.uniforms, Games.observe, Games.check

def other_error(games):
    try:
        check(games)
    except SkyenvError:
        raise OptionError("another") from None

mistakes = {
    "play_random": lambda games, steps: play_random(games, steps + 1),
    "step": lambda games, actions, *rows: step(games, actions if not rows else games.mask.numpy().argmax(axis=1)),
    "uniforms": lambda games, salt: uniforms(games, None, salt + 1),
    "observe": lambda games, seats, *more: observe(games, seats ^ 1, *more),
    "check": other_error,
    "finished": property(lambda games: games.reward),
}
found = {}
for name, mistake in mistakes.items():
    with mock.patch.object(Games, name, mistake):
        found[name] = gpu.differences(1, max_turns=2)

print(json.dumps(found))
"""
    found = json.loads(printed("-c", program, environment=SIMULATED, cwd=ROOT))
    steps, random = ([f"2 players, front side, {way}"] for way in ("steps", "random play"))
    both = {"play_random": random, "finished": random + steps}
    assert found == {
        name: both.get(name, steps)
        for name in ("play_random", "step", "uniforms", "observe", "check", "finished")
    }
