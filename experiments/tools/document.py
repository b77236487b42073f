"""Write the generated parts of the docs anew: ``python -m experiments.tools.document`` (or ``make
docs``).

With ``--training runs/first`` the figures of that run, which `make train` left, go into
docs/training.json first.

A generated part stands between the comments ``<!-- NAME -->`` and ``<!-- end -->``; drawings are
files (``drawings.py``). A test holds docs and code together.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from experiments.benchmarks import game_figures, learning_curves, libraries, peers, strength
from experiments.tools import rules_page
from experiments.tools.drawings import FOLDER, drawings
from experiments.tools.fields import fields_table
from experiments.training.curves import read_curve
from skyenv.agents import agent_names, make_agent
from skyenv.arena import ladder
from skyenv.arena.schedule import entrants
from skyenv.commands import exit_code
from skyenv.engine import information_state as information
from skyenv.engine import knowledge
from skyenv.engine.observation import OBSERVATION_SIZE, markdown_table
from skyenv.engine.options import table_label, table_name
from skyenv.files import write_atomically
from skyenv.options import Options, option, parse
from skyenv.rules import state
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.components import SIDES
from skyenv.tables import markdown
from skyenv_agents.learned.networks import TRAINED

ROOT: Final = Path(__file__).resolve().parents[2]
LADDERS: Final = tuple((players, side) for players in (2, 3, 4) for side in SIDES)
"""Those that ship: players and side."""
PAR_NOTE: Final = (
    "Par is what an agent wins against copies of itself. With three and four players more than "
    "that doesn't tell who is stronger:"
    " whoever is alone often wins more by that alone, so the [ladder](ladder.md) has duels both "
    "ways round."
)
MISFIT: Final = "†"
MISFIT_NOTE: Final = (
    f"{MISFIT} A test refuses the ratings' model there: they are a summary, and what every pair "
    "won tells more"
    " ([docs/ladder.md](docs/ladder.md))."
)
"""Of columns of ladders whose model is refused, and what that means."""


def actions_table() -> str:
    """Every action's number and name."""
    return markdown(
        [
            ["number", "name"],
            *([str(number), f"`{name}`"] for number, name in enumerate(ACTION_NAMES)),
        ]
    )


def agents_table() -> str:
    """The players that have a name."""
    named = [(name, make_agent(name)) for name in agent_names()]
    return markdown(
        [
            ["name", "version", ""],
            *([f"`{name}`", agent.version, agent.description] for name, agent in named),
        ]
    )


def observation_size() -> str:
    """The length of the observation, as a sentence."""
    return f"The observation has **{OBSERVATION_SIZE}** entries."


def speed_table(name: str = "speed") -> str:
    """The figures of a file in docs/, which `python -m experiments.NAME --json docs/NAME.json`
    writes.
    """
    content = json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))
    machine = content["machine"]
    rows = [["what", "median", "of repeats"]]
    for figure in content["figures"]:
        digits = 0 if figure["median"] >= 100 else 2
        spread = (
            f"{figure['lowest']:,.{digits}f} … {figure['highest']:,.{digits}f}"
            if figure["repeats"] > 1
            else ""
        )
        rows.append([figure["name"], f"{figure['median']:,.{digits}f} {figure['unit']}", spread])
    return (
        f"{markdown(rows, 'lrl')}\n\n"
        f"Measured on {machine['processor']}, {machine['cores']} cores, Python "
        f"{machine['python']}, NumPy {machine['numpy']},"
        f" Numba {machine['numba']}. Method: {content['method']}."
    )


def take_training(run: Path) -> None:
    """Take over what `make train` left in a run's folder.

    Raises:
        CheckpointError: there is no curve. OSError: there is no evaluation, or docs/training.json
            can't be written.
    """
    last = read_curve(run)[-1]
    content = {
        "observation_size": OBSERVATION_SIZE,
        "minutes": json.loads((run / "config.json").read_text(encoding="utf-8"))["minutes"],
        "decisions": last["decisions"],
        "results": json.loads((run / "evaluation.json").read_text(encoding="utf-8")),
    }
    write_atomically(ROOT / "docs" / "training.json", json.dumps(content, indent=2) + "\n")


def training_result() -> str:
    """The figures of docs/training.json; see :func:`take_training`."""
    content = json.loads((ROOT / "docs" / "training.json").read_text(encoding="utf-8"))
    if content["observation_size"] != OBSERVATION_SIZE:
        raise ValueError(
            "docs/training.json tells of another observation: run `make train` and this with "
            "--training runs/first"
        )
    rows = [["against", "paired seeds, each from both seats", "wins", "own VP", "best other's VP"]]
    for result in content["results"]:
        wins, own, other = (
            f"{scale * estimate['mean']:.1f}{unit} [{scale * estimate['low']:.1f}, "
            f"{scale * estimate['high']:.1f}]"
            for scale, unit, estimate in (
                (100, " %", result["share"]),
                (1, "", result["own"]),
                (1, "", result["other"]),
            )
        )
        rows.append([result["opponent"], str(result["paired_seeds"]), wins, own, other])
    return (
        f"`make train` on 2 cores came to {content['decisions']:,} decisions in "
        f"{content['minutes']:g} minutes"
        f" (2 players; intervals are 95 %):\n\n{markdown(rows, 'lrrrr')}"
    )


def game_part(name: str) -> str:
    """A part of docs/game.md, from what `python -m experiments.benchmarks.game_figures --json
    docs/game.json` wrote.
    """
    return game_figures.TABLES[name](
        json.loads((ROOT / "docs" / "game.json").read_text(encoding="utf-8"))
    )


def shipped_ladder(players: int, side: str) -> ladder.Ladder:
    """The ladder that ships, which `python -m skyenv tournament … --publish` writes."""
    return ladder.read(ladder.SHIPPED / f"{table_name(players, side)}.json", players, side)


def ladder_table(players: int, side: str) -> str:
    """The shipped ladder, and which of its agents have changed since it was played."""
    published = shipped_ladder(players, side)
    table = ladder.markdown(published)
    agents = published["agents"]
    here = entrants([agent["spec"] for agent in agents], players, side)
    changed = [
        f"{now.name} (version {then['version']}; {now.version} now)"
        for now, then in zip(here, agents, strict=True)
        if now.version != then["version"]
    ]
    return (
        f"{table}\n\nChanged since, and not rated anew: {', '.join(changed)}." if changed else table
    )


def ladder_summary() -> str:
    """Every agent's rating on the ladders that ship, and half the length of its interval; the best
    with two players first.

    Columns of ladders that the model doesn't fit have a mark.
    """
    ladders = [shipped_ladder(players, side) for players, side in LADDERS]
    ratings = [
        {agent["name"]: agent["rating"] for agent in published["agents"]} for published in ladders
    ]
    names = dict.fromkeys(agent["name"] for published in ladders for agent in published["agents"])
    rows = [[name, *(_rating(by_name.get(name)) for by_name in ratings)] for name in names]
    marks = [f" {MISFIT}" if ladder.refusals(published) else "" for published in ladders]
    head = [
        table_label(players, side) + mark
        for (players, side), mark in zip(LADDERS, marks, strict=True)
    ]
    table = markdown([["agent", *head], *rows], "l" + "r" * len(head))
    return f"{table}\n\n{MISFIT_NOTE}" if any(marks) else table


def _rating(rating: dict[str, float] | None) -> str:
    if rating is None:
        return "–"
    return f"{rating['mean']:.0f} ± {(rating['high'] - rating['low']) / 2:.0f}"


def ladder_pairs(players: int, side: str) -> str:
    """The wins of every pair of the shipped ladder and its picture, for a page in docs/."""
    name = table_name(players, side)
    picture = (
        f"![ratings and wins of every pair, {players} players, {side} side](ladder/{name}.png)"
    )
    return f"{ladder.matrix_markdown(shipped_ladder(players, side))}\n\n{picture}"


def stage_line(stage: dict[str, Any]) -> str:
    """The command of a part of a training, of the version that it was trained with, and what it
    doesn't tell by itself.
    """
    notes = []
    if stage["stopped"]:
        notes.append(
            f"stopped after {stage['seconds'] / 60:.0f} minutes, {stage['decisions']:,} decisions"
        )
    if "target_version" in stage:
        notes.append(f"the target's version was {stage['target_version']}")
    command = str(stage["command"])
    return f"{command}  # {', '.join(notes)}" if notes else command


def how_made(content: dict[str, Any]) -> str:
    """The commands that made a shipped network."""
    commands = [stage_line(stage) for stage in content["stages"]]
    label = table_label(content["players"], content["side"])
    return "\n".join(
        [f"For {label}, commands of version {content['version']}:", "", "```", *commands, "```"]
    )


def trained_agents() -> str:
    """How the agents in agents/trained were made, and how strong they are."""
    rows = [
        [
            "players",
            "side",
            "decisions",
            "minutes",
            "against",
            "wins, one seat against all others",
            "par",
        ]
    ]
    made_by, curves = [], []
    for players, side in LADDERS:
        path = TRAINED / f"{table_name(players, side)}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        made_by.append(how_made(content))
        curves.append(f"![training for {table_label(players, side)}](trained/{path.stem}.png)")
        for result in content["results"]:
            share = result["share"]
            wins = (
                f"{100 * share['mean']:.1f} % [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
            )
            made = [
                str(players),
                side,
                f"{content['decisions']:,}",
                f"{content['seconds'] / 60:.0f}",
            ]
            rows.append([*made, result["opponent"], wins, f"{100 * result['par']:.1f} %"])
    how = "Each was made by its commands (a run may start from what another one left), then by `experiments.training.export`."
    return "\n\n".join([markdown(rows, "rlrrllr"), PAR_NOTE, how, *made_by, "\n".join(curves)])


PARTS: Final[dict[str, Callable[[], str]]] = {
    "observation table": markdown_table,
    "information table": information.markdown_table,
    "observation size": observation_size,
    "actions table": actions_table,
    "agents table": agents_table,
    "speed table": speed_table,
    "OpenSpiel speed table": partial(speed_table, "open_spiel_speed"),
    "view table": partial(fields_table, knowledge, "VIEW_DTYPE"),
    "game table": partial(fields_table, state, "GAME_DTYPE"),
    "resampling speed table": partial(speed_table, "knowledge_speed"),
    "libraries table": libraries.table,
    "peers table": peers.published,
    "picture speed table": partial(speed_table, "picture_speed"),
    "trained agents": trained_agents,
    "training result": training_result,
    "learning curves": learning_curves.published,
    "ladder summary": ladder_summary,
    "search strength": strength.published,
    "search speed": partial(speed_table, "search/speed"),
    **{f"game {name}": partial(game_part, name) for name in game_figures.TABLES},
    **{
        f"ladder {players} players {side}": partial(ladder_table, players, side)
        for players, side in LADDERS
    },
    **{
        f"ladder {players} players {side} in pairs": partial(ladder_pairs, players, side)
        for players, side in LADDERS
    },
}
PAGES: Final = (
    Path("README.md"),
    *(
        Path("docs") / f"{name}.md"
        for name in (
            "observation",
            "actions",
            "agents",
            "game",
            "knowledge",
            "ladder",
            "libraries",
            "open_spiel",
            "page",
            "speed",
            "training",
        )
    ),
)


def filled(page: str) -> str:
    """A page's text with its generated parts as the code has them now."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if pattern.search(page):
            text = make()
            page = pattern.sub(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
    return page


@dataclass(frozen=True)
class DocumentConfig(Options):
    """The program's options."""

    training: Path | None = option(
        None, "folder of a run whose figures are taken over", metavar="FOLDER"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write every page anew; returns the exit code: 0 all right, 1 a file is bad, 2 the command
    is.
    """

    def run() -> int:
        config = parse(
            DocumentConfig,
            "experiments.tools.document",
            "Write the generated parts of the docs anew.",
            arguments,
        )
        if config.training is not None:
            take_training(config.training)
        for path in PAGES:
            page = (ROOT / path).read_text(encoding="utf-8")
            write_atomically(ROOT / path, filled(page))
            print(path)
        for folder in (FOLDER, rules_page.PICTURES):
            (ROOT / folder).mkdir(parents=True, exist_ok=True)
        for path, text in (drawings() | rules_page.written()).items():
            write_atomically(ROOT / path, text)
            print(path)
        return 0

    return exit_code("document", run)


if __name__ == "__main__":
    sys.exit(main())
