"""Speed of the environments for other libraries."""

import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np

from experiments.benchmarks.engine import legal_choice
from experiments.benchmarks.peers import ALL, Play, fifth_avenue, pace, petting_zoo
from experiments.figures import Figure, Scale
from skyenv import fifth_avenue_v0
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError

ROOT: Final = Path(__file__).resolve().parents[2]
ENVIRONMENTS: Final = ROOT / ".venv-libraries"
GAMES: Final = 64


def batch_play(masks: Any, step: Callable[[Any], Any]) -> Play:
    """Return random play in a batch of games: `masks` are the first, `step` returns the next."""
    generator = np.random.default_rng(1)

    def timed(actions: Any) -> int:
        nonlocal masks
        masks = step(actions)
        return GAMES

    return Play(lambda: legal_choice(masks, generator), timed)


def gymnasium_games() -> Play:
    """Return random play in Gymnasium's vector environment."""
    envs = gymnasium.make_vec(ENV_ID, num_envs=GAMES, autoreset_mode="SameStep", opponents="random")
    masks = envs.reset(seed=1)[1]["action_mask"]
    return batch_play(masks, lambda actions: envs.step(actions)[-1]["action_mask"])


def stable_baselines_games() -> Play:
    """Return random play in Stable-Baselines3's vector environment, with its action masks."""
    env = SkyenvVecEnv(GAMES, opponents="random", seed=1)
    env.reset()

    def step(actions: Any) -> Any:
        env.step(actions)
        return env.action_masks()

    return batch_play(env.action_masks(), step)


def libraries(scale: Scale) -> Iterator[Figure]:
    """Steps per second of the second run of each program in examples/libraries, in the virtual
    environments of `make test-libraries`; programs without one are left out. The built-in
    environments get random legal actions, sampled outside the timing. Medians of repeats.
    """
    plays = {
        "Gymnasium": gymnasium_games(),
        "OpenSpiel": fifth_avenue(ALL, 1),
        "PettingZoo": petting_zoo(fifth_avenue_v0.env, ALL, 1),
        "Stable-Baselines3": stable_baselines_games(),
    }
    for name, play in plays.items():
        yield scale.measure(name, "steps/s", partial(pace, play, scale.share))
    for example in examples():
        if (ENVIRONMENTS / example.stem / ".ready").exists():
            yield scale.measure(example.stem, "steps/s", partial(steps_per_second, example))


def examples() -> list[Path]:
    """Return the example programs that have a file of requirements."""
    folders = (ROOT / "experiments" / "baselines", ROOT / "examples" / "libraries")
    return [file.with_suffix(".py") for folder in folders for file in sorted(folder.glob("*.txt"))]


def steps_per_second(example: Path) -> float:
    """Run an example in its virtual environment and return the number in its last line.

    Raises:
        OptionError: the example fails, or prints no steps per second.
    """
    python = ENVIRONMENTS / example.stem / "bin" / "python"
    done = subprocess.run([python, example], capture_output=True, text=True, cwd=ROOT, check=False)
    line = re.search(r"^([\d,]+) steps/s\Z", done.stdout.strip(), re.MULTILINE)
    if done.returncode or line is None:
        raise OptionError(f"{example} fails in {python}: {done.stderr.strip() or done.stdout}")
    return float(line[1].replace(",", ""))
