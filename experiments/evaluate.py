"""An agent against others: ``python -m experiments.evaluate AGENT --against random greedy``.

Every deal is played once from each seat with the same chance seed, the opponent having all other seats. Printed are the share
of wins (several winners share one, END-4) and the mean VP with 95 % confidence intervals: deals are resampled (bootstrap),
because the games of one deal are alike. Ctrl-C ends the games and reports the deals that are finished.

Exit codes: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted (after the report).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from agents import NAMES
from agents import agent as make
from experiments.commands import INTERRUPTED, Parser, complain, exit_code, whole
from experiments.matches import Played, play_game, play_games, rotations
from skyenv.agents import Agent
from skyenv.errors import OptionError
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, check_integer
from skyenv.record import RecordWriter
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

RESAMPLES: Final = 2000
CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """An agent against one opponent.

    Attributes:
        agent, opponent: names. num_players, side, seed: what was played; deal i has the seed `seed` + i.
        deals: deals finished from every seat. games: deals · num_players.
        par: the share that an agent against its equal has, 1 / num_players.
        share: of the wins. own: VP. other: VP of the best other seat. ahead: own − other.
        decisions: of all seats together per game. turns: likewise. truncated: share of the games that END-5 ended.
        interrupted: whether there are fewer deals than asked for, because of Ctrl-C. Short games are then too many.
    """

    agent: str
    opponent: str
    num_players: int
    side: str
    seed: int
    deals: int
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


def bootstrap(values: npt.ArrayLike, seed: int = 0, resamples: int = RESAMPLES) -> list[Estimate]:
    """Means of several quantities with 95 % confidence intervals, by resampling deals.

    Args:
        values: float (deals, quantities), at least one deal.
        seed: of the resampling.
        resamples: how often.

    Returns:
        An estimate for each quantity; all from the same resampled deals.
    """
    table = np.asarray(values, np.float64)
    deals = len(table)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, table.shape[1]))
    for i in range(resamples):
        means[i] = table[rng.integers(0, deals, deals)].mean(axis=0)
    tail = 100 * (1 - CONFIDENCE) / 2
    lows, highs = np.percentile(means, [tail, 100 - tail], axis=0)
    return [Estimate(*map(float, row)) for row in zip(table.mean(axis=0), lows, highs, strict=True)]


def evaluate(
    agent: Agent | str,
    opponents: Sequence[Agent | str],
    num_players: int = 2,
    side: str = "front",
    deals: int = 500,
    seed: int = 1,
    *,
    max_turns: int = DEFAULT_MAX_TURNS,
    threads: int = 1,
    progress: bool = False,
) -> list[Result]:
    """Let an agent play against others, every deal once from each seat.

    Args:
        agent, opponents: players, or what :func:`agents.agent` makes players of.
        num_players, side, max_turns, threads: as for :class:`skyenv.Games`.
        deals: how many, at least 1.
        seed: of the first deal, and of the resampling.
        progress: show a bar on stderr.

    Returns:
        A result for each opponent; after Ctrl-C for those of whom a deal is finished, the last one marked `interrupted`.

    Raises:
        OptionError: an option is wrong. AgentError, CheckpointError: an agent can't be made, or answered wrongly.
    """
    check_integer("deals", deals, 1, 10**7)
    check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)
    check_integer("seed", seed, 0, HIGHEST_SEED - deals)
    players = [make(one) for one in (agent, *opponents)]
    found: list[Result] = []
    with _bar(deals * num_players * len(opponents), progress) as told:
        for opponent in players[1:]:
            told(0, opponent.name)
            seeds = np.repeat(np.arange(seed, seed + deals), num_players)
            played = play_games(
                [players[0], opponent],
                rotations(num_players, deals),
                seeds,
                side,
                max_turns=max_turns,
                threads=threads,
                progress=told,
            )
            if played.finished.reshape(deals, num_players).all(axis=1).any():
                found.append(summary(players[0].name, opponent.name, played, side, seed))
            if played.interrupted:
                break
    return found


def summary(agent: str, opponent: str, played: Played, side: str, seed: int) -> Result:
    """What came of games that :func:`experiments.matches.rotations` seated; at least one deal is finished from every seat."""
    games, players = played.seating.shape
    whole = np.flatnonzero(played.finished.reshape(-1, players).all(axis=1))
    rows = (whole[:, None] * players + np.arange(players)).ravel()
    mine = played.seating[rows] == 0
    own = played.scores[rows][mine]
    other = np.where(mine, -1, played.scores[rows]).max(axis=1)
    quantities = np.stack([played.shares[rows][mine], own, other, own - other], axis=1).astype(np.float64)
    share, own_vp, other_vp, ahead = bootstrap(quantities.reshape(len(whole), players, -1).mean(axis=1), seed)
    return Result(
        agent,
        opponent,
        players,
        side,
        seed,
        len(whole),
        len(rows),
        1 / players,
        share,
        own_vp,
        other_vp,
        ahead,
        float(played.decisions[rows].mean()),
        float(played.turns[rows].mean()),
        float(played.truncated[rows].mean()),
        len(rows) < games,
    )


@contextlib.contextmanager
def _bar(games: int, shown: bool) -> Iterator[Callable[..., None]]:
    """A progress bar over all games; what it yields is told how many more are finished, and who the opponent is."""
    with tqdm(total=games, unit="game", disable=None if shown else True, file=sys.stderr, smoothing=0.1) as bar:

        def told(number: int, opponent: str | None = None) -> None:
            if opponent is not None:
                bar.set_description(f"against {opponent}")
            bar.update(number)

        yield told


# ---- reporting ----


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.mean:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _vp(estimate: Estimate) -> str:
    return f"{estimate.mean:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]"


def table(results: Sequence[Result]) -> str:
    """The results as text: means with 95 % confidence intervals."""
    head = ["agent", "against", "players", "side", "deals", "wins", "par", "VP", "best other's"]
    head += ["ahead", "decisions", "truncated"]
    lines = [head]
    for result in results:
        lines.append(
            [
                result.agent,
                result.opponent,
                str(result.num_players),
                result.side,
                f"{result.deals}{'*' if result.interrupted else ''}",
                _percent(result.share),
                f"{100 * result.par:.1f} %",
                _vp(result.own),
                _vp(result.other),
                _vp(result.ahead),
                f"{result.decisions:.0f}",
                f"{100 * result.truncated:.1f} %",
            ]
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, ["─" * width for width in widths])
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
    if any(result.interrupted for result in results):
        text += "\n* interrupted; deals with long games are missing"
    return text


BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GRAY: Final = "#666666"
"""Okabe and Ito's colours, which colour-blind people tell apart."""


def plot(results: Sequence[Result], path: str | Path) -> None:
    """Draw the results: wins on the left, VP on the right, with 95 % confidence intervals.

    Raises:
        OSError: the file can't be written.
        OptionError: there is nothing to draw, or the file's name has no known ending.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not results:
        raise OptionError("there are no results to draw")
    figure = Figure(figsize=(9.5, 1.7 + 0.62 * len(results)), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_wins(left, results)
    _draw_vp(right, results)
    for axes in (left, right):
        axes.set_ylim(len(results) - 0.4, -0.6)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    first = results[0]
    figure.suptitle(f"{first.agent}, {first.num_players} players, {first.side} side: every deal once from each seat", fontsize=11)
    try:
        canvas.print_figure(path, dpi=150)
    except ValueError as error:
        raise OptionError(f"can't draw {path}: {error}") from error


def _draw_wins(axes: Any, results: Sequence[Result]) -> None:
    rows = range(len(results))
    axes.set_yticks(list(rows), [f"against {result.opponent}\n{result.deals} deals" for result in results])
    for row, result in zip(rows, results, strict=True):
        _draw_estimate(axes, row, result.share, 100, BLUE, "o")
        axes.annotate(f"{100 * result.share.mean:.1f}", (100 * result.share.mean, row), (0, 9), textcoords="offset points",
                      ha="center", color=BLUE, fontsize=9, bbox={"color": "white", "pad": 1})  # fmt: skip
    par = 100 * results[0].par
    axes.axvline(par, color=GRAY, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate("par", (par, 1), (4, -2), xycoords=("data", "axes fraction"), textcoords="offset points",
                  va="top", color=GRAY, fontsize=9)  # fmt: skip
    axes.set_xlim(-3, 103)
    axes.set_xlabel("wins (%)")


def _draw_vp(axes: Any, results: Sequence[Result]) -> None:
    for row, result in enumerate(results):
        _draw_estimate(axes, row - 0.13, result.own, 1, BLUE, "o", result.agent if row == 0 else None)
        _draw_estimate(axes, row + 0.13, result.other, 1, VERMILION, "s", "best other" if row == 0 else None)
    axes.set_xlim(left=0)
    axes.set_xlabel("victory points")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=9)


def _draw_estimate(
    axes: Any, row: float, estimate: Estimate, scale: float, colour: str, marker: str, label: str | None = None
) -> None:
    mean = scale * estimate.mean
    # With few resamples the interval can miss the mean by a rounding error.
    reach = [[max(mean - scale * estimate.low, 0.0)], [max(scale * estimate.high - mean, 0.0)]]
    axes.errorbar([mean], [row], xerr=reach, fmt=marker, color=colour, markersize=6, capsize=3, linewidth=1.8, label=label)


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
) -> None:
    """Write the records of the first games against every opponent, as :func:`evaluate` plays them (one rotation after the other).

    Raises:
        OSError: the file can't be written.
    """
    players = [make(one) for one in (agent, *opponents)]
    seating = rotations(num_players, -(-games // num_players))[:games]
    with RecordWriter(path) as writer:
        for opponent in players[1:]:
            for i, chairs in enumerate(seating.tolist()):
                seats = [(players[0], opponent)[chair] for chair in chairs]
                game = play_game(seats, seed + i // num_players, side, max_turns=max_turns)
                writer.write(game, [one.name for one in seats])


# ---- the command line ----


def _parser() -> Parser:
    parser = Parser("evaluate", "Let an agent play against others, every deal once from each seat with the same chance seed.")
    add = parser.add_argument
    known = ", ".join(NAMES)
    add("agent", metavar="AGENT", help=f"{known}, a checkpoint (model.zip), or module:Name")
    add("--against", nargs="+", default=["random", "greedy"], metavar="AGENT", help="opponents (default: random greedy)")
    add("--players", type=whole(MIN_PLAYERS, MAX_PLAYERS), default=2, metavar="N", help="2, 3 or 4 (default: 2)")
    add("--side", choices=SIDES, default="front", help="side of the board (default: front)")
    add("--deals", type=whole(1, 10**7), default=500, metavar="N", help="deals, each played N times (default: 500)")
    add("--seed", type=whole(0, 2**62), default=1, metavar="S", help="seed of the first deal (default: 1)")
    add("--max-turns", type=whole(1, 2**31 - 1), default=DEFAULT_MAX_TURNS, metavar="N",
        help="turns after which a game is truncated (default: 500)")  # fmt: skip
    add("--threads", type=whole(1, 256), default=1, metavar="N", help="threads for the rules (default: 1)")
    add("--deterministic", action="store_true", help="checkpoints take their most probable action (default: they draw one)")
    add("--plot", metavar="FILE", help="draw the results (PNG)")
    add("--json", metavar="FILE", help="write the results as JSON")
    add("--record", metavar="FILE", help="write records of games played")
    add("--record-games", type=whole(1, 10**6), default=10, metavar="N", help="how many against each opponent (default: 10)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    options = _parser().parse_args(arguments)
    return exit_code("evaluate", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    agent, *opponents = [make(spec, deterministic=options.deterministic) for spec in (options.agent, *options.against)]
    results = evaluate(
        agent,
        opponents,
        options.players,
        options.side,
        options.deals,
        options.seed,
        max_turns=options.max_turns,
        threads=options.threads,
        progress=True,
    )
    interrupted = len(results) < len(opponents) or any(result.interrupted for result in results)
    if results:
        print(table(results))
        if options.plot:
            plot(results, options.plot)
        if options.json:
            Path(options.json).write_text(as_json(results), encoding="utf-8")
    if options.record and not interrupted:
        record_games(
            options.record, agent, opponents, options.players, options.side, options.record_games, options.seed,
            max_turns=options.max_turns,
        )  # fmt: skip
    if interrupted:
        complain("evaluate", "interrupted")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
