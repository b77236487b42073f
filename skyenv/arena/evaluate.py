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
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent, make_agent
from skyenv.arena.estimates import Estimate, Weights, interval
from skyenv.arena.matches import Played, grown, play_game, play_games, rotations
from skyenv.arena.ratings import best_other
from skyenv.arena.schedule import Entrant, entrant
from skyenv.arena.spread import ROUND_SECONDS, Evaluation, play_in_workers
from skyenv.checks import check_integer
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import OptionError, shown
from skyenv.files import writing
from skyenv.progress import Bar
from skyenv.progress import progress as progress_bar
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv.seeds import HIGHEST_SEED
from skyenv.tables import WIDTH, columns

LARGEST_ROUND: Final = 512
"""Paired seeds of a round at most."""


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
    max_turns: int = DEFAULT_MAX_TURNS,
    secret: int | None = None,
    deterministic: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    progress: bool = False,
) -> list[Result]:
    """Let an agent play against others, every paired seed once from each seat.

    Args:
        agent, opponents: players, or what :func:`skyenv.make_agent` makes players of.
        num_players, side, max_turns: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        paired_seeds: how many, at least 1.
        seed: the first paired seed, and the seed of the resampling.
        deterministic: checkpoints take their most probable action, instead of drawing one; for
            agents that are made here.
        workers, ray: who plays side by side, as for :func:`skyenv.arena.units.run_units`; agents
            have to be told by name or path then. Both None: this process plays. The games are the
            same.
        progress: show a bar on stderr.

    Returns:
        A result for each opponent; after Ctrl-C for those of whom a paired seed is finished. The
        last one is marked `interrupted` then, and all that lack some.

    Raises:
        OptionError: an option is wrong. AgentError, CheckpointError: an agent can't be made, or
            answered wrongly.
    """
    check_integer("paired_seeds", paired_seeds, 1, 10**7)
    check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)
    check_integer("seed", seed, 0, HIGHEST_SEED - paired_seeds)
    agents = [agent, *opponents]
    results: list[Result] = []
    play: Callable[[Bar], Matches]
    if workers is None and ray is None:
        players = [make_agent(one, deterministic=deterministic) for one in agents]
        play = partial(
            _here,
            players,
            num_players,
            paired_seeds,
            seed,
            side=side,
            max_turns=max_turns,
            secret=secret,
        )
    else:
        asked = Evaluation(
            _entrants(agents, num_players, side),
            num_players,
            side,
            paired_seeds,
            seed,
            max_turns,
            secret,
            deterministic,
        )
        play = partial(_in_workers, asked, workers or 0, ray)
    with progress_bar(paired_seeds * num_players * len(opponents), shown=progress) as bar:
        for name, opponent, played in play(bar):
            if played.finished.reshape(paired_seeds, num_players).all(axis=1).any():
                results.append(replace(summary(name, opponent, played, side, seed), secret=secret))
    return results


Matches = Iterator[tuple[str, str, Played]]
"""Who is measured, the opponent, and their games; after Ctrl-C there may be fewer opponents."""


def _here(
    players: Sequence[Agent],
    num_players: int,
    paired_seeds: int,
    seed: int,
    bar: Bar,
    **options: Any,
) -> Matches:
    player, *others = players
    for other in others:
        bar.set_description(f"against {other.name}")
        play = partial(play_games, [player, other], progress=bar.update, **options)
        played = _in_rounds(play, num_players, paired_seeds, seed)
        yield player.name, other.name, played
        if played.interrupted:
            return


def _in_workers(asked: Evaluation, workers: int, ray: str | None, bar: Bar) -> Matches:
    player, *others = asked.entrants
    for other, played in zip(others, play_in_workers(asked, workers, ray, bar.update), strict=True):
        yield player.name, other.name, played


def _entrants(agents: Sequence[Agent | str | Path], players: int, side: str) -> tuple[Entrant, ...]:
    """What workers are told of agents.

    Raises:
        OptionError: one is no name or path. AgentError, CheckpointError: it can't be made.
    """
    for agent in agents:
        if not isinstance(agent, (str, Path)):
            raise OptionError(
                f"agents that play in workers are told by name or path, not as {shown(agent)}"
            )
    return tuple(entrant(str(agent), players, side) for agent in agents)


def _in_rounds(play: Callable[..., Played], players: int, paired_seeds: int, seed: int) -> Played:
    """All games of an evaluation, some paired seeds at a time, so that there is something to report
    whenever Ctrl-C comes.

    Rounds grow as long as they take little time; what games come to doesn't depend on them.
    """
    whole = Played(
        np.repeat(np.arange(seed, seed + paired_seeds), players), rotations(players, paired_seeds)
    )
    first, size = 0, 1
    while first < paired_seeds and not whole.interrupted:
        started = time.perf_counter()
        part = slice(first * players, (first + size) * players)
        played = play(whole.seating[part], whole.seeds[part])
        whole.fill(part, played)
        whole.interrupted = played.interrupted
        first += size
        size = grown(size, time.perf_counter() - started, ROUND_SECONDS)
        size = max(1, min(size, LARGEST_ROUND, paired_seeds - first))
    return whole


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
    max_turns: int = DEFAULT_MAX_TURNS,
    secret: int | None = None,
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
                game = play_game(
                    seats, seed + i // num_players, side, max_turns=max_turns, secret=secret
                )
                stream.write(game.to_record([one.name for one in seats]).encode())
