"""Write the generated parts of the docs anew: ``python -m experiments.document`` (or ``make docs``).

A generated part stands between the comments ``<!-- NAME -->`` and ``<!-- end -->``. A test holds docs and code together.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from agents import NAMES
from agents.learned import TRAINED
from experiments import ladder, strength
from experiments.files import write_atomically
from skyenv import information
from skyenv.observation import OBSERVATION_SIZE, markdown_table
from skyenv.rules.actions import ACTION_NAMES

ROOT: Final = Path(__file__).resolve().parent.parent


def actions_table() -> str:
    """Every action's number and name."""
    return "\n".join(["| number | name |", "|---|---|", *(f"| {i} | `{name}` |" for i, name in enumerate(ACTION_NAMES))])


def agents_table() -> str:
    """The players that have a name."""
    lines = ["| name | version | |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {agent.version} | {agent.description} |" for name, agent in NAMES.items())])


def observation_size() -> str:
    """The length of the observation, as a sentence."""
    return f"The observation has **{OBSERVATION_SIZE}** entries."


def speed_table(name: str = "speed") -> str:
    """The figures of a file in docs/, which `python -m experiments.NAME --json docs/NAME.json` writes."""
    found = json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))
    machine = found["machine"]
    lines = ["| what | median | of repeats |", "|---|---:|---|"]
    for figure in found["figures"]:
        digits = 0 if figure["median"] >= 100 else 2
        spread = f"{figure['lowest']:,.{digits}f} … {figure['highest']:,.{digits}f}" if figure["repeats"] > 1 else ""
        lines.append(f"| {figure['name']} | {figure['median']:,.{digits}f} {figure['unit']} | {spread} |")
    lines += [
        "",
        f"Measured on {machine['processor']}, {machine['cores']} cores, Python {machine['python']}, NumPy {machine['numpy']},"
        f" Numba {machine['numba']}. Method: {found['method']}.",
    ]
    return "\n".join(lines)


def training_result() -> str:
    """The figures of docs/training.json: what `make train` left in evaluation.json, with the length of the observation."""
    found = json.loads((ROOT / "docs" / "training.json").read_text(encoding="utf-8"))
    if found["observation_size"] != OBSERVATION_SIZE:
        raise ValueError("docs/training.json tells of another observation: run `make train` and `make docs`")
    lines = [
        "`make train` on 2 cores gave (2 players, five minutes; intervals are 95 %):",
        "",
        "| against | deals, each from both seats | wins | own VP | best other's VP |",
        "|---|---:|---:|---:|---:|",
    ]
    for result in found["results"]:
        share, own, other = (
            f"{scale * estimate['mean']:.1f}{unit} [{scale * estimate['low']:.1f}, {scale * estimate['high']:.1f}]"
            for scale, unit, estimate in ((100, " %", result["share"]), (1, "", result["own"]), (1, "", result["other"]))
        )
        lines.append(f"| {result['opponent']} | {result['deals']} | {share} | {own} | {other} |")
    return "\n".join(lines)


def ladder_table(players: int) -> str:
    """The shipped ladder, which `python -m experiments.tournament … --publish` writes; a line that says so if there is none."""
    path = ladder.SHIPPED / f"{players}-players.json"
    if not path.exists():
        return f"No ladder of {players} players has been published yet."
    return ladder.markdown(ladder.read(path, players))


def ladder_pairs(players: int) -> str:
    """The wins of every pair of the shipped ladder and its picture, for a page in docs/; a line that says so if there is none."""
    path = ladder.SHIPPED / f"{players}-players.json"
    if not path.exists():
        return "So there are no wins of pairs either."
    picture = f"![ratings and wins of every pair, {players} players](ladder/{players}-players.png)"
    return f"{ladder.matrix_markdown(ladder.read(path, players))}\n\n{picture}"


def stage_line(stage: dict[str, Any]) -> str:
    """The command of a part of a training, and when it was stopped if it was."""
    if not stage["stopped"]:
        return f"$ {stage['command']}"
    return f"$ {stage['command']}  # stopped after {stage['seconds'] / 60:.0f} minutes, {stage['decisions']:,} decisions"


def trained_agents() -> str:
    """How the agents in agents/trained were made, and how strong they are."""
    lines = [
        "| players | decisions | minutes | against | wins, one seat against all others | par |",
        "|---:|---:|---:|---|---|---:|",
    ]
    commands, curves = [], []
    for path in sorted(TRAINED.glob("*-players.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        commands += [stage_line(stage) for stage in found["stages"]]
        curves.append(f"![training for {found['players']} players](trained/{path.stem}.png)")
        for result in found["results"]:
            share = result["share"]
            wins = f"{100 * share['mean']:.1f} % [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
            lines.append(
                f"| {found['players']} | {found['decisions']:,} | {found['seconds'] / 60:.0f} | {result['opponent']} | {wins}"
                f" | {100 * result['par']:.1f} % |"
            )
    if not commands:
        return "None ships yet."
    how = "They were made by these commands (a run may start from what another one left), then by `experiments.ship`:"
    return "\n".join([*lines, "", how, "", "```", *commands, "```", "", *curves])


PARTS: Final[dict[str, Callable[[], str]]] = {
    "observation table": markdown_table,
    "information table": information.markdown_table,
    "observation size": observation_size,
    "actions table": actions_table,
    "agents table": agents_table,
    "speed table": speed_table,
    "OpenSpiel speed table": partial(speed_table, "open_spiel_speed"),
    "resampling speed table": partial(speed_table, "knowledge_speed"),
    "picture speed table": partial(speed_table, "picture_speed"),
    "trained agents": trained_agents,
    "training result": training_result,
    "search strength": strength.published,
    "search speed": partial(speed_table, "search/speed"),
    **{f"ladder {players} players": partial(ladder_table, players) for players in (2, 3, 4)},
    **{f"ladder {players} players in pairs": partial(ladder_pairs, players) for players in (2, 3, 4)},
}
PAGES: Final = (
    Path("README.md"),
    *(Path("docs") / f"{name}.md" for name in ("observation", "actions", "agents", "knowledge", "ladder", "open_spiel", "page")),
)


def filled(page: str) -> str:
    """A page's text with its generated parts as the code has them now."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if pattern.search(page):
            text = make()
            page = pattern.sub(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
    return page


def main() -> int:
    """Write every page anew."""
    for path in PAGES:
        page = (ROOT / path).read_text(encoding="utf-8")
        write_atomically(ROOT / path, filled(page))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
