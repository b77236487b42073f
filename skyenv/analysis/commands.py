"""The command ``python -m skyenv analyse``: the mistakes of a recorded game, by what they cost."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyenv.agents import agents_help, make_agent
from skyenv.analysis.mistakes import Analysis
from skyenv.analysis.playouts import PlayOuts
from skyenv.analysis.recording import Recording
from skyenv.analysis.win_chance import ESTIMATOR
from skyenv.console.options import Options, argument, common, option
from skyenv.console.progress import progress
from skyenv.console.tables import columns, counted
from skyenv.errors import OptionError
from skyenv.files import check_writable, write_atomically
from skyenv.records import nth_game
from skyenv.records.format import MAX_INT32
from skyenv.records.reader import named
from skyenv.render.words import seat_label


@dataclass(frozen=True)
class AnalyseOptions(Options):
    """Options of ``analyse``."""

    file: Path = argument("the record", metavar="FILE")
    game: int = option(1, "the game's number in the record", low=1, high=MAX_INT32)
    agent: str = option(
        ESTIMATOR,
        f"the agent whose choices are compared with those played: {agents_help()}",
        metavar="AGENT",
    )
    seed: int = common("seed", default=0, text="seed of the games played out")
    json: Path | None = option(None, "write the analysis to this file", metavar="FILE", writes=True)


def analyse(options: AnalyseOptions) -> None:
    """Print a table of a game's mistakes; percentages are of the seat's chance to win. The table
    counts seats from 1, the JSON file from 0.
    """
    if options.json is not None:
        check_writable(options.json)
    agent, estimator = (make_agent(name) for name in (options.agent, ESTIMATOR))
    with named(options.file):
        recording = Recording(nth_game(options.file, options.game))
    if task := recording.game.options.task:
        raise OptionError(f"only whole games can be analysed, not task {task}")
    analysis = Analysis(recording, agent, estimator, PlayOuts(options.seed))
    with progress(len(analysis.decisions), unit="decision") as bar:
        for done in analysis.run():
            bar.update(done - bar.n)
    mistakes = [one.payload() for one in analysis.mistakes]
    print(_table(mistakes) if mistakes else f"{options.agent} found no better choice.")
    print(f"{counted(len(analysis.decisions), 'decision')}, chances to win by {ESTIMATOR}")
    if options.json is not None:
        found = {
            "agent": options.agent,
            "estimator": ESTIMATOR,
            "game": options.game,
            "names": recording.names,
            "mistakes": mistakes,
            "chances": analysis.chances(),
        }
        write_atomically(options.json, json.dumps(found).encode())


def _table(mistakes: list[dict[str, Any]]) -> str:
    rows = [["step", "seat", "cost", "games", "played", "better"]]
    for one in mistakes:
        cost, error = 100 * one["cost"], 100 * one["error"]
        unclear = "" if one["clear"] else " unclear"
        interval = f"[{cost - error:.1f}, {cost + error:.1f}]{unclear}"
        within = f"{cost:.1f} % {interval if one['games'] else 'estimated'}"
        place = str(one["step"]), seat_label(one["seat"]), within, str(one["games"] or "–")
        rows.append([*place, one["played"], one["best"]])
    return columns(rows, left=6, width=200)
