"""An agent against others: every paired seed once from each seat, the opponent having all other
seats.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, make_agent
from skyenv.arena.estimates import Estimate, Weights, interval
from skyenv.arena.matches import Played, Progress, play_game, play_games, rotations
from skyenv.arena.ratings import best_other
from skyenv.arena.schedule import Entrant, entrant, timed_agent
from skyenv.checks import check_integer
from skyenv.engine.options import GameKeywords
from skyenv.errors import OptionError, shown
from skyenv.files import writing
from skyenv.progress import progress as progress_bar
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv.seeds import HIGHEST_SEED
from skyenv.tables import WIDTH, columns
from skyenv.work import Interrupt, open_pool

# Tasks for each worker, against each opponent at least: so none is idle for long in the end.
TASKS: Final = 4
# Paired seeds of a task at most, and how long it should take at most: Ctrl-C drops it.
LARGEST: Final = 256
TASK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Result:
    """An agent against one opponent.

    Attributes:
        agent, opponent: names. num_players, side, seed: what was played; paired seed i is `seed` +
            i.
        paired_seeds: those finished from every seat. games: paired_seeds · num_players.
        par: the share that an agent has against copies of itself, 1 / num_players. With two players
            whoever has more is stronger. With more than two that doesn't follow: whoever is alone
            often wins more by that alone, so the other way round has to be played as well
            (:class:`skyenv.arena.ratings.Duel`).
        share: of the wins. own: VP. other: VP of the best other seat. ahead: own − other.
        decisions: of all seats together per game. turns: likewise. truncated: share of the games
            that END-5 ended.
        interrupted: whether there are fewer paired seeds than asked for, because of Ctrl-C. Short
            games may then be too many.
        secret: as for :func:`skyenv.arena.matches.play_games`.
    """

    agent: str
    opponent: str
    num_players: int
    side: str
    seed: int
    paired_seeds: int
    games: int
    par: float
    share: Estimate
    own: Estimate
    other: Estimate
    ahead: Estimate
    decisions: float
    turns: float
    truncated: float
    interrupted: bool
    secret: int | None = None


def evaluate(
    agent: Agent | str,
    opponents: Sequence[Agent | str],
    num_players: int = 2,
    side: str = "front",
    paired_seeds: int = 500,
    seed: int = 1,
    *,
    secret: int | None = None,
    deterministic: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = False,
    **game: Unpack[GameKeywords],
) -> list[Result]:
    """Let an agent play against others, every paired seed once from each seat.

    Args:
        agent, opponents: players, or what :func:`skyenv.make_agent` makes players of.
        num_players, side, game: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        paired_seeds: how many, at least 1.
        seed: the first paired seed, and the seed of the resampling.
        deterministic: checkpoints take the argmax instead of sampling; for agents that are made
            here.
        workers, ray: the pool that plays, as for :func:`skyenv.work.open_pool`; agents must be
            names or paths then. Both None: this process plays. The games are the same.
        progress: show a bar on stderr.

    Returns:
        A result for each opponent; after Ctrl-C for those with a finished paired seed. The last one
        is marked `interrupted` then, and all that lack some.

    Raises:
        OptionError: an option is wrong. AgentError, CheckpointError: an agent can't be made, or
            answered wrongly.
    """
    check_integer("paired_seeds", paired_seeds, 1, 10**7)
    check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)
    check_integer("seed", seed, 0, HIGHEST_SEED - paired_seeds)
    play = partial(play_games, side=side, secret=secret, **game)
    matches = [
        Played(
            np.repeat(np.arange(seed, seed + paired_seeds), num_players),
            rotations(num_players, paired_seeds),
        )
        for _ in opponents
    ]
    with progress_bar(paired_seeds * num_players * len(opponents), shown=progress) as bar:
        if workers is None and ray is None:
            players = [make_agent(one, deterministic=deterministic) for one in (agent, *opponents)]
            names = [player.name for player in players]
            _play_here(players, matches, play, bar.update)
        else:
            seated = _entrants((agent, *opponents), num_players, side)
            names = [entry.name for entry in seated]
            work = partial(_play_task, seated, play, deterministic)
            _play_in_workers(work, matches, names, (workers or 0, ray), bar.update)
    return [
        replace(summary(names[0], name, played, side, seed), secret=secret)
        for name, played in zip(names[1:], matches, strict=True)
        if played.finished.reshape(-1, num_players).all(axis=1).any()
    ]


def _play_here(
    players: Sequence[Agent],
    matches: list[Played],
    play: Callable[..., Played],
    progress: Progress,
) -> None:
    """Play in this process: with slow agents few games at a time, so that some are finished
    whenever Ctrl-C comes.
    """
    for number, (opponent, games) in enumerate(zip(players[1:], matches, strict=True)):
        first_rows = games.seating.shape[1]
        matches[number] = play(
            [players[0], opponent],
            games.seating,
            games.seeds,
            first_rows=first_rows,
            progress=progress,
        )
        if matches[number].interrupted:
            return


def _entrants(agents: Sequence[Agent | str | Path], players: int, side: str) -> tuple[Entrant, ...]:
    """Return agents as workers get them.

    Raises:
        OptionError: one is no name or path. AgentError, CheckpointError: it can't be made.
    """
    for agent in agents:
        if not isinstance(agent, (str, Path)):
            raise OptionError(f"agents of workers must be names or paths, not {shown(agent)}")
    return tuple(entrant(str(agent), players, side) for agent in agents)


class SeedRange(NamedTuple):
    """A task: games against an opponent, paired seeds from `first` to before `end`, from 0."""

    opponent: int
    first: int
    end: int
    seeds: npt.NDArray[np.int64]
    seating: npt.NDArray[np.int64]


def _play_task(
    seated: tuple[Entrant, ...], play: Callable[..., Played], deterministic: bool, task: SeedRange
) -> tuple[Played, float]:
    """Return the games of a task, played in a worker, and the seconds that they took."""
    started = time.perf_counter()
    entries = seated[0], seated[1 + task.opponent]
    agents = [timed_agent(entry, deterministic=deterministic) for entry in entries]
    played = play(agents, task.seating, task.seeds)
    if played.interrupted:
        raise KeyboardInterrupt
    return played, time.perf_counter() - started


class Sizes:
    """How many paired seeds tasks have: one at first against each opponent, twice as many as long
    as they take little time.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._now: dict[int, int] = {}  # by opponent: a slow one must not begin with many

    def tasks(self, matches: Sequence[Played]) -> Iterator[SeedRange]:
        """Yield the tasks of all matches, one opponent after the other."""
        for opponent, games in enumerate(matches):
            players = games.seating.shape[1]
            paired_seeds, first = len(games.seeds) // players, 0
            most = max(1, min(LARGEST, paired_seeds // (TASKS * self._workers)))
            while first < paired_seeds:
                end = min(first + min(self._now.get(opponent, 1), most), paired_seeds)
                rows = slice(first * players, end * players)
                yield SeedRange(opponent, first, end, games.seeds[rows], games.seating[rows])
                first = end

    def learn(self, task: SeedRange, seconds: float) -> None:
        """Note the seconds that a task took."""
        size = task.end - task.first
        fitting = TASK_SECONDS * size / max(seconds, 1e-9)
        self._now[task.opponent] = max(1, int(min(2 * size, fitting)))


def _play_in_workers(
    work: Callable[[SeedRange], tuple[Played, float]],
    matches: Sequence[Played],
    names: Sequence[str],
    workers: tuple[int, str | None],
    progress: Progress,
) -> None:
    """Fill matches by a pool of workers; after Ctrl-C the last one is marked `interrupted`, and all
    that lack games.
    """

    def about(task: SeedRange) -> str:
        seeds = f"seeds {task.seeds[0]} to {task.seeds[-1]}"
        return f"{names[0]} played {seeds} against {names[1 + task.opponent]}"

    with Interrupt() as interrupt, open_pool(*workers) as pool:
        sizes = Sizes(pool.size())
        for task, (played, seconds) in pool.results(
            work, sizes.tasks(matches), goes_on=interrupt.goes_on, about=about
        ):
            sizes.learn(task, seconds)
            games = matches[task.opponent]
            players = games.seating.shape[1]
            games.fill(slice(task.first * players, task.end * players), played)
            progress(len(played.seeds))
    for games in matches:
        games.interrupted = not games.finished.all()
    if matches:
        matches[-1].interrupted |= interrupt.asked


def summary(agent: str, opponent: str, played: Played, side: str, seed: int) -> Result:
    """What came of games that :func:`skyenv.arena.matches.rotations` seated; some paired seed is
    finished from every seat.
    """
    games, players = played.seating.shape
    whole = np.flatnonzero(played.finished.reshape(-1, players).all(axis=1))
    rows = (whole[:, None] * players + np.arange(players)).ravel()
    paired_seed = np.repeat(np.arange(len(whole)), players)
    mine = played.seating[rows] == 0
    own, other = played.scores[rows][mine], best_other(played.scores[rows])[mine]
    weights = Weights.draw(np.random.default_rng(seed), len(whole), players)
    return Result(
        agent=agent,
        opponent=opponent,
        num_players=players,
        side=side,
        seed=seed,
        paired_seeds=len(whole),
        games=len(rows),
        par=1 / players,
        share=weights.mean(played.shares[rows][mine], paired_seed, share=True),
        own=weights.mean(own, paired_seed),
        other=weights.mean(other, paired_seed),
        ahead=weights.mean(own - other, paired_seed),
        decisions=float(played.decisions[rows].mean()),
        turns=float(played.turns[rows].mean()),
        truncated=float(played.truncated[rows].mean()),
        interrupted=played.interrupted or len(rows) < games,
    )


# ---- reporting ----


def table(results: Sequence[Result]) -> str:
    """The results as text, in lines of 80 characters where names allow it: means with 95 %
    confidence intervals.

    Columns: paired seeds ("seeds"), share of the wins, own VP, by how much they are ahead of the
    best other's, and the share of the games that END-5 ended, in percent, if it ended any.
    """
    head = ["agent", "against", "players", "seeds", "wins, %", "VP", "ahead"]
    cut = any(result.truncated for result in results)
    rows = [
        [
            result.agent,
            result.opponent,
            f"{result.num_players} {result.side}",
            f"{result.paired_seeds}{'*' if result.interrupted else ''}",
            interval(result.share, 1, 100),
            f"{result.own.mean:.1f}",
            interval(result.ahead),
            *([f"{100 * result.truncated:.1f}"] if cut else []),
        ]
        for result in results
    ]
    text = columns([[*head, "END-5"] if cut else head, *rows], 3, WIDTH)
    if any(result.interrupted for result in results):
        text += "\n* interrupted; paired seeds are missing, long ones above all"
    return text


def as_json(results: Sequence[Result]) -> str:
    """The results as JSON text, a list with one object for each."""
    return json.dumps([asdict(result) for result in results], indent=2) + "\n"


def record_games(
    path: str | Path,
    agent: Agent | str,
    opponents: Sequence[Agent | str],
    num_players: int,
    side: str,
    games: int,
    seed: int,
    *,
    secret: int | None = None,
    **game: Unpack[GameKeywords],
) -> None:
    """Write the records of the first games against every opponent, as :func:`evaluate` plays them
    (one rotation after the other).

    Raises:
        OSError: the file can't be written.
    """
    players = [make_agent(one) for one in (agent, *opponents)]
    seating = rotations(num_players, -(-games // num_players))[:games]
    with writing(path) as stream:
        for opponent in players[1:]:
            for i, chairs in enumerate(seating.tolist()):
                seats = [(players[0], opponent)[chair] for chair in chairs]
                played = play_game(seats, seed + i // num_players, side, secret=secret, **game)
                stream.write(played.to_record([one.name for one in seats]).encode())
