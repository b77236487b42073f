"""Decisions to learn from: ``python -m experiments.lessons --players 2 --decisions 20000 --out lessons.npz``.

Agents play against each other, with some random actions so that unusual positions come up too. In a share of their decisions
every action that is worth a look is played on in many worlds that the seat can't tell from the real one
(:meth:`agents.rollout.RolloutAgent.values`). A lesson is such a decision: what the seat saw, the actions, and what they led to.
``python -m experiments.tune --lessons FILE`` makes an agent's weights choose what led to most.

The file is written as the lessons come; Ctrl-C keeps those that are there. Exit codes: 0 all right, 1 a file is
bad, 2 the command is, 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from agents.learned import ADVISORS
from agents.rollout import RolloutAgent
from experiments.commands import INTERRUPTED, Parser, complain, exit_code, whole
from experiments.files import write_atomically
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in
from skyenv.errors import CheckpointError, OptionError
from skyenv.games import Games, check_choice, check_integer
from skyenv.knowledge import VIEW_DTYPE
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

FORMAT: Final = "skyenv-lessons-1"
ROWS: Final = 256
"""Games side by side."""
SALT: Final = 2000
SAVE_SECONDS: Final = 30.0
WIDTH: Final = 12
"""Actions that are tried at the most: all legal ones if they are so few, else those that players think best, and some others."""
BEST: Final = 8


@dataclass(frozen=True)
class Plan:
    """Which lessons.

    Attributes:
        players, side: of the games. agents: names of those who play, with commas; each game is one agent's against itself.
        worlds: in which every action is tried. share: of the decisions that become lessons. noise: share of random actions.
        seed: of everything.
    """

    players: int = 2
    side: str = "front"
    agents: str = "greedy,appraiser"
    worlds: int = 24
    share: float = 0.05
    noise: float = 0.05
    seed: int = 1

    def __post_init__(self) -> None:
        check_integer("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        check_integer("worlds", self.worlds, 1, 10**5)
        check_integer("seed", self.seed, 0, 2**62)
        for name in ("share", "noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must be from 0 to 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class Lessons:
    """Lessons, k in all.

    Attributes:
        view: what the seat saw, VIEW_DTYPE (k,). mask: int8 (k, 103). uniform: float64 (k,), the decision's random number.
        actions: int64 (k, WIDTH), those tried, and −1 behind them. values: float64 (k, WIDTH), the seat's chance to win that each
            led to, NaN for −1.
    """

    view: npt.NDArray[np.void]
    mask: npt.NDArray[np.int8]
    uniform: npt.NDArray[np.float64]
    actions: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.view)

    def decisions(self, players: int) -> Decisions:
        """The decisions, to be taken again, in games of so many players."""
        view = self.view.view(np.recarray)
        return Decisions(self.mask, view["seat"].astype(np.int64), players, self.uniform, view=view)

    def worth(self, chosen: npt.NDArray[np.integer[Any]]) -> float:
        """The mean chance to win that chosen actions, (k,), lead to; an untried one counts as the worst that was tried."""
        matches = self.actions == chosen[:, None]
        tried = np.where(matches, self.values, 0.0).sum(axis=1)
        return float(np.where(matches.any(axis=1), tried, np.nanmin(self.values, axis=1)).mean())


class Collector:
    """Collects lessons; everything follows from the plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.teacher = RolloutAgent()
        self.players = [ADVISORS[check_choice("agents", name, list(ADVISORS))]() for name in plan.agents.split(",")]
        self.random = RandomAgent()
        self.games = Games(ROWS, plan.players, plan.side, plan.seed, observe=False)
        self.rng = np.random.default_rng(plan.seed)
        self.player = np.arange(ROWS) % len(self.players)

    def collect(self) -> Lessons:
        """Play one action in every game, and make lessons of some of the decisions before."""
        games, plan = self.games, self.plan
        scores = []
        for player in self.players:
            decisions = decisions_in(games, player, salt=SALT)
            scores.append(np.where(decisions.mask != 0, player.scores(decisions), -np.inf))
        rows = np.flatnonzero((games.mask.sum(axis=1) > 1) & (self.rng.random(ROWS) < plan.share))
        found = self._try(rows, [score[rows] for score in scores])
        chosen = np.choose(self.player, [score.argmax(axis=1) for score in scores])
        noisy = np.flatnonzero(self.rng.random(ROWS) < plan.noise)
        if noisy.size:
            chosen[noisy] = decide(games, self.random, noisy, SALT + 1)
        games.step(chosen)
        return found

    def _try(self, rows: npt.NDArray[np.int64], scores: list[npt.NDArray[np.float64]]) -> Lessons:
        """Lessons of the decisions in some rows."""
        decisions = decisions_in(self.games, self.teacher, rows, SALT)
        assert decisions.view is not None
        actions = np.full((rows.size, WIDTH), -1, np.int64)
        for i in range(rows.size):
            tried = self._worth_a_look(np.flatnonzero(decisions.mask[i]), [score[i] for score in scores])
            actions[i, : len(tried)] = tried
        values = self.teacher.values(decisions, actions, self.plan.worlds)
        return Lessons(decisions.view.view(np.ndarray), decisions.mask, decisions.uniform, actions, values)

    def _worth_a_look(self, legal: npt.NDArray[np.int64], scores: list[npt.NDArray[np.float64]]) -> list[int]:
        """All legal actions if they are few; else those that any of the players holds to be best, and some others."""
        if len(legal) <= WIDTH:
            return [int(action) for action in legal]
        best = [legal[np.argsort(-score[legal], kind="stable")[: BEST // len(scores)]] for score in scores]
        wanted = dict.fromkeys(np.concatenate([*best, self.rng.permutation(legal)]).tolist())
        return sorted(wanted, key=list(wanted).index)[:WIDTH]


# ---- files ----


def save(path: Path, plan: Plan, parts: Sequence[Lessons]) -> None:
    """Write lessons, atomically.

    Raises:
        OSError: the file can't be written.
    """
    file = io.BytesIO()
    arrays = {entry.name: np.concatenate([getattr(part, entry.name) for part in parts]) for entry in fields(Lessons)}
    arrays["view"] = arrays["view"].view(np.uint8).reshape(len(arrays["view"]), -1)
    arrays["about"] = np.array(json.dumps({"format": FORMAT, **asdict(plan)}))
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    write_atomically(path, file.getvalue())


def load(path: Path) -> tuple[Plan, Lessons]:
    """Read lessons.

    Raises:
        CheckpointError: the file is missing, damaged, or of another version.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        if about.pop("format") != FORMAT:
            raise ValueError("it has another format")
        arrays["view"] = np.ascontiguousarray(arrays["view"]).view(VIEW_DTYPE)[:, 0]
        return Plan(**about), Lessons(**arrays)
    except Exception as error:  # a damaged file can fail anywhere in zipfile, zlib, NumPy and json
        raise CheckpointError(f"{path} can't be read as lessons ({type(error).__name__}: {error!s:.100})") from error


# ---- the command line ----


def _parser() -> Parser:
    parser = Parser("lessons", "Collect decisions with what every action leads to, for experiments.tune.")
    add = parser.add_argument
    add("--decisions", type=whole(1, 10**7), default=20_000, metavar="N", help="how many lessons (default: 20000)")
    add("--players", type=whole(MIN_PLAYERS, MAX_PLAYERS), default=2, metavar="N", help="2, 3 or 4 (default: 2)")
    add("--side", choices=SIDES, default="front", help="side of the board (default: front)")
    add("--agents", default=Plan.agents, metavar="NAMES", help=f"who plays, with commas: {', '.join(ADVISORS)}")
    add("--worlds", type=whole(1, 10**5), default=Plan.worlds, metavar="N", help="worlds for every action (default: 24)")
    add("--seed", type=whole(0, 2**62), default=1, metavar="S", help="of everything (default: 1)")
    add("--out", type=Path, default=Path("lessons.npz"), metavar="FILE", help="where they are written (default: lessons.npz)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    options = _parser().parse_args(arguments)
    return exit_code("lessons", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.out.exists():
        raise OptionError(f"{options.out} is there already; choose another file with --out")
    plan = Plan(options.players, options.side, options.agents, options.worlds, seed=options.seed)
    collector = Collector(plan)
    parts: list[Lessons] = []
    number = 0
    saved = time.monotonic()
    with tqdm(total=options.decisions, unit="lesson", disable=None, file=sys.stderr) as bar:
        try:
            while number < options.decisions:
                parts.append(collector.collect())
                number += len(parts[-1])
                bar.update(len(parts[-1]))
                if time.monotonic() - saved > SAVE_SECONDS:
                    save(options.out, plan, parts)
                    saved = time.monotonic()
        except KeyboardInterrupt:
            if parts:
                save(options.out, plan, parts)
            there = f"{options.out} has {number} lessons" if parts else "there are no lessons yet"
            complain("lessons", f"interrupted; {there}")
            return INTERRUPTED
    save(options.out, plan, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
