"""Evaluation of an agent: every paired seed once from each seat, an opponent in all others."""

import json
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final, Unpack

import numpy as np

from skyenv.agents import Agent, ReportingAgent, make_agent
from skyenv.arena.matches import Played, play_games, rotations
from skyenv.arena.ratings import best_other
from skyenv.arena.schedule import Entrant, GroupSeeds, agent_of, entrant, rounds
from skyenv.checks import check_integer
from skyenv.console.progress import progress as progress_bar
from skyenv.console.tables import columns, csv_text, latex
from skyenv.engine.options import GameKeywords, GameOptions, options_of
from skyenv.rules.variant import VARIANT
from skyenv.seeds import HIGHEST_SEED
from skyenv.statistics import Estimate, Weights, interval
from skyenv.work import Interrupt, open_pool

# The opponent's name in the pooled result of all opponents.
POOLED: Final = "all of them"


@dataclass(frozen=True)
class Result:
    """The result of an agent against one opponent.

    Attributes:
        agent, opponent: names. num_players, side, seed: the games; paired seed i is `seed` + i.
        paired_seeds: those finished from every seat. games: paired_seeds · num_players.
        par: an agent's share against copies of itself, 1 / num_players. With two players an agent
            above par is the stronger one. With more, being alone among copies often wins more by
            itself, so the reverse must be played too (:class:`skyenv.arena.ratings.Duel`).
        share: of the wins. own: VP. other: VP of the best other seat. margin: own − other.
        decisions, turns: per game, all seats together. truncated: share of games ended by END-5.
        interrupted: whether Ctrl-C left paired seeds out. Short games are then overrepresented.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        variant: label of the rules (:mod:`skyenv.rules.variant`); "" for the printed ones.
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
    margin: Estimate
    decisions: float
    turns: float
    truncated: float
    interrupted: bool
    secret: int | None = None
    variant: str = VARIANT


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
    pooled: bool = False,
    **game: Unpack[GameKeywords],
) -> list[Result]:
    """Evaluate an agent against opponents, every paired seed once from each seat.

    Args:
        agent, opponents: agents, or specifications for :func:`skyenv.make_agent`.
        num_players, side, game: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        paired_seeds: their number, 1 to 10⁷.
        seed: the first paired seed, and the seed of the resampling.
        deterministic: checkpoints take the argmax instead of sampling; for agents given as
            specifications.
        workers, ray: the pool, as for :func:`skyenv.work.open_pool`; agents must then be names or
            paths. Both None: play in this process. The games are the same.
        progress: show a bar on stderr.
        pooled: with several opponents, add a result over all of them.

    Returns:
        A result for each opponent. After Ctrl-C, opponents without a finished paired seed are left
        out, and incomplete results are marked `interrupted`.

    Raises:
        OptionError: invalid option. AgentError, CheckpointError: an agent can't be made, or
            returned illegal actions.
    """
    check_integer("paired_seeds", paired_seeds, 1, 10**7)
    check_integer("seed", seed, 0, HIGHEST_SEED - paired_seeds)
    options = options_of(num_players, side, **game)
    in_workers = workers is not None or ray is not None
    agents = tuple(
        entrant(one, options.num_players, options.side)
        if in_workers
        else ReportingAgent(make_agent(one, deterministic=deterministic))
        for one in (agent, *opponents)
    )
    work = partial(_play, agents, options, seed, secret, deterministic)
    players = options.num_players
    seating = rotations(options.num_players, paired_seeds)
    seeds = np.repeat(np.arange(seed, seed + paired_seeds), players)
    matches = [Played.none(seeds, seating) for _ in opponents]
    groups = [(0, 1 + opponent) for opponent in range(len(opponents))]
    jobs = partial(rounds, lambda _: groups, paired_seeds)
    with ExitStack() as held, progress_bar(len(opponents) * len(seating), shown=progress) as bar:
        if in_workers:
            interrupt = held.enter_context(Interrupt())
            pool = held.enter_context(open_pool(workers or 0, ray))
            results = pool.results(
                work,
                jobs(pool.size),
                goes_on=interrupt.goes_on,
                about=lambda job: f"{agents[0].name} played {agents[job.group[1]].name}",
            )
        else:
            results = ((job, work(job)) for job in jobs(lambda: 1))
        held.enter_context(suppress(KeyboardInterrupt))
        for job, played in results:
            first = job.paired_seeds[0] * players
            matches[job.group[1] - 1].fill(slice(first, first + len(played.seeds)), played)
            bar.update(len(played.seeds))
    named = [(one.name, played, 1) for one, played in zip(agents[1:], matches, strict=True)]
    if pooled and len(matches) > 1:
        columns = zip(*(vars(one).values() for one in matches), strict=True)
        named.append((POOLED, Played(*map(np.concatenate, columns)), len(matches)))
    return [
        summary(agents[0].name, name, played, options.side, seed, secret, opponents)
        for name, played, opponents in named
        if played.finished.reshape(-1, options.num_players).all(axis=1).any()
    ]


def _play(
    agents: Sequence[Agent | Entrant],
    options: GameOptions,
    seed: int,
    secret: int | None,
    deterministic: bool,
    job: GroupSeeds,
) -> Played:
    """Play the games of a job: the first agent against one opponent."""
    made = [
        agent_of(one, deterministic=deterministic) if isinstance(one, Entrant) else one
        for one in (agents[index] for index in job.group)
    ]
    players = options.num_players
    return play_games(
        made,
        rotations(players, len(job.paired_seeds)),
        seed + np.repeat(job.paired_seeds, players),
        secret=secret,
        options=options,
    )


def summary(
    agent: str,
    opponent: str,
    played: Played,
    side: str,
    seed: int,
    secret: int | None = None,
    opponents: int = 1,
) -> Result:
    """Return the result of games seated by :func:`skyenv.arena.matches.rotations`.

    At least one paired seed must be finished from every seat. `played` holds the games with
    `opponents` opponents one after the other, on the same paired seeds.
    """
    games, players = played.seating.shape
    whole = np.flatnonzero(played.finished.reshape(-1, players).all(axis=1))
    rows = (whole[:, None] * players + np.arange(players)).ravel()
    deals, deal = np.unique(whole % (games // players // opponents), return_inverse=True)
    paired_seed = np.repeat(deal, players)
    mine = played.seating[rows] == 0
    own = played.scores[rows][mine]
    other = best_other(played.scores[rows])[mine]
    weights = Weights.draw(np.random.default_rng(seed), len(deals), players)
    return Result(
        agent=agent,
        opponent=opponent,
        num_players=players,
        side=side,
        seed=seed,
        paired_seeds=len(deals),
        games=len(rows),
        par=1 / players,
        share=weights.mean(played.shares[rows][mine], paired_seed, share=True),
        own=weights.mean(own, paired_seed),
        other=weights.mean(other, paired_seed),
        margin=weights.mean(own - other, paired_seed),
        decisions=float(played.decisions[rows].mean()),
        turns=float(played.turns[rows].mean()),
        truncated=float(played.truncated[rows].mean()),
        interrupted=len(rows) < games,
        secret=secret,
    )


# ---- reporting ----


# Number of text columns.
NAMES: Final = 3


def _cells(results: Sequence[Result]) -> list[list[str]]:
    """Return a header and a row for each result: means with 95 % confidence intervals."""
    head = ["agent", "against", "players", "seeds", "wins, %", "par", "VP", "margin"]
    rows = [
        [
            result.agent,
            result.opponent,
            f"{result.num_players} {result.side}",
            f"{result.paired_seeds}{'*' if result.interrupted else ''}",
            interval(result.share, 1, 100),
            f"{100 * result.par:.1f}",
            f"{result.own.mean:.0f}",
            interval(result.margin),
        ]
        for result in results
    ]
    return [head, *rows]


def table(results: Sequence[Result]) -> str:
    """Return the results as text, in lines of 80 characters where names allow it.

    Columns: paired seeds ("seeds"), share of the wins, the share of equal agents ("par"), own VP,
    and own VP minus the best other seat's ("margin").
    """
    text = columns(_cells(results), NAMES)
    if any(result.interrupted for result in results):
        text += "\n* interrupted: paired seeds are missing, long games above all"
    return text


def as_latex(results: Sequence[Result]) -> str:
    """Return the table as a LaTeX tabular."""
    return latex(_cells(results), NAMES)


def as_csv(results: Sequence[Result]) -> str:
    """Return the results as CSV with a header; an estimate has three columns, such as `share`,
    `share_low` and `share_high`.
    """
    return csv_text([asdict(result) for result in results])


def as_json(results: Sequence[Result]) -> str:
    """Return the results as JSON text, a list of objects."""
    return json.dumps([asdict(result) for result in results], indent=2) + "\n"
