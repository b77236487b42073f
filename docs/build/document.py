"""Generator of the docs' tables: ``python -m docs.build.document`` (``make docs``).

A generated part is the text between the comments ``<!-- NAME -->`` and ``<!-- end -->``. NAME is
one of PARTS, or ``figures FILE`` for a list of the figures in docs/results/FILE.json, or ``grid
FILE`` or ``grid FILE: COLUMN, COLUMN`` for a grid of them. Drawings, the rules page and the
page's game.js are whole generated files. A test compares all of them with the code.

Exit codes: 0 success, 1 invalid file, 2 invalid command.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from docs.build import drawings, page_facts, rules_page
from experiments import figures
from skyenv.agents import agent_names, make_agent
from skyenv.arena import benchmark, ladder
from skyenv.arena.schedule import entrants
from skyenv.console.options import Help, Options, program
from skyenv.console.tables import markdown
from skyenv.engine import events, knowledge, observation
from skyenv.engine.options import table_label, table_name
from skyenv.files import read_sealed, write_atomically
from skyenv.rules import state
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.components import SIDES
from skyenv.rules.record import Record
from skyenv.statistics import interval, percent
from skyenv_agents.learned.networks import TRAINED

ROOT: Final = Path(__file__).resolve().parents[2]
LADDERS: Final = tuple((players, side) for players in (2, 3, 4) for side in SIDES)
SUMMARISED: Final = ("lookahead", "trained", "greedy")  # agents of the README's table
OPPONENTS: Final = ("greedy", "appraiser")  # columns of the shipped networks' table


def span(first: int, last: int) -> str:
    """Return a range of numbers, both ends included."""
    return f"{first}" if first == last else f"{first}–{last}"


def listed(names: Sequence[str]) -> str:
    """Return names separated by commas; of more than nine, only the first and the last."""
    return ", ".join(names if len(names) <= 9 else (names[0], "…", names[-1]))


def actions_table() -> str:
    """Return the actions' numbers and names, one row per run of similar names."""
    rows, first = [["numbers", "names"]], 0
    for _, run in groupby(ACTION_NAMES, key=lambda name: (name.split()[0], len(name.split()))):
        names = [f"`{name}`" for name in run]
        rows.append([span(first, first + len(names) - 1), listed(names)])
        first += len(names)
    return markdown(rows)


def agents_table() -> str:
    """Return the named agents with their versions and descriptions."""
    named = [(name, make_agent(name)) for name in agent_names()]
    rows = [[f"`{name}`", agent.version, agent.description] for name, agent in named]
    return markdown([["name", "version", ""], *rows])


def fields_table(record: type[Record]) -> str:
    """Return the fields of a record: names, types with shapes, and the comments beside or above
    them.

    Comments with ``--`` are headings.
    """
    rows = [["field", "type", "meaning"]]
    above: list[str] = []
    for line in inspect.getsource(record).splitlines():
        code, _, comment = line.partition("# ")
        if field := re.match(r" +(\w+) = field\(", code):
            kind = record.dtype[field[1]]
            base = "record" if kind.base.names else kind.base.name
            shape = f"{base} {kind.shape}" if kind.shape else base
            rows.append([f"`{field[1]}`", shape, " ".join([*above, comment]).strip()])
            above = []
        elif comment.startswith("--"):
            rows.append([f"**{comment.lstrip('- ')}**", "", ""])
        elif comment:
            above.append(comment)
    return markdown([row for row in rows if row[0] != "`spare`"])


def shipped_ladder(players: int, side: str) -> ladder.Ladder:
    """Return a shipped ladder."""
    return ladder.read(ladder.path_of(players, side))


def ladder_summary() -> str:
    """Return the ratings of SUMMARISED on the front side, with half the width of the intervals."""
    tables = [table for table in LADDERS if table[1] == "front"]
    ratings = [
        {
            one["name"]: one["rating"]
            | {"half": (one["rating"]["high"] - one["rating"]["low"]) / 2}
            for one in shipped_ladder(*table)["agents"]
        }
        for table in tables
    ]
    head = ["agent", *(f"{players} players" for players, _ in tables)]
    rows = [
        [
            name,
            *(
                "{mean:.0f} ± {half:.0f}".format(**by_name[name]) if name in by_name else "–"
                for by_name in ratings
            ),
        ]
        for name in SUMMARISED
    ]
    return markdown([head, *rows], "l" + "r" * len(tables))


def ladder_table(players: int, side: str) -> str:
    """Return a shipped ladder and the versions of its agents, then and now."""
    published = shipped_ladder(players, side)
    agents = published["agents"]
    current = entrants([agent["spec"] for agent in agents], players, side)
    versions = [
        f"`{now.name}` {then['version']}"
        + (f" ({now.version} now, not rated)" if now.version != then["version"] else "")
        for now, then in zip(current, agents, strict=True)
    ]
    commit = figures.commit_of(f"ladder-{table_name(players, side)}")
    return f"```\n{ladder.table(published)}\n```\n\nVersions{commit}: {', '.join(versions)}."


def ladder_strength(players: int, side: str) -> str:
    """Return the ratings of a shipped ladder, and each agent's worst opponent."""
    rows = [["agent", "rating", "wins", "worst opponent", "exploitability ≥"]]
    for agent in shipped_ladder(players, side)["agents"]:
        measured = [interval(agent["rating"]), percent(agent["wins"])]
        worst = [f"`{agent['worst']}`", percent(agent["exploitability"])]
        rows.append([f"`{agent['name']}`", *measured, *worst])
    return markdown(rows, "lrrlr")


def published_networks() -> list[tuple[str, str, dict[str, Any]]]:
    """Return the label, the file's stem and the training of every shipped network."""
    return [
        (table_label(*table), name, json.loads((TRAINED / f"{name}.json").read_text("utf-8")))
        for table in LADDERS
        for name in [table_name(*table)]
    ]


def trained_agents() -> str:
    """Return the training cost and the strength of the shipped networks."""
    rows = [["table", "decisions", "minutes", *(f"against {name}" for name in OPPONENTS), "par"]]
    for label, _, training in published_networks():
        results = {result["opponent"]: result for result in training["results"]}
        wins = [percent(results[name]["share"]) for name in OPPONENTS]
        par = f"{100 * training['results'][0]['par']:.1f} %"
        cost = [f"{training['decisions']:,}", f"{training['seconds'] / 60:.0f}"]
        rows.append([label, *cost, *wins, par])
    return markdown(rows, "l" + "r" * (len(rows[0]) - 1))


def trained_commands() -> str:
    """Return the training commands and the learning curves of the shipped networks."""
    parts = []
    for label, name, training in published_networks():
        commands = "\n".join(stage["command"] for stage in training["stages"])
        parts.append(f"## {label}\n\nskyenv {training['version']}:\n\n```\n{commands}\n```")
        parts.append(f"![learning curve, {label}](trained/{name}.png)")
    return "\n\n".join(parts)


def observation_table() -> str:
    """Return the blocks of the observation, one row per block."""
    rows = [["entries", "block", "labels", "largest", "meaning"]]
    for block, where in zip(observation.BLOCKS, observation.offsets().values(), strict=True):
        numbers = span(where.start, where.stop - 1)
        largest = f"{float(observation.HIGH[where].max()):.4g}"
        shown = listed(block.entries)
        rows.append([numbers, block.name, shown, largest, block.text])
    return markdown(rows)


def sizes() -> str:
    """Return the numbers of observation entries and of actions."""
    entries = f"Observations have **{observation.OBSERVATION_SIZE}** entries"
    return f"{entries}, and there are **{len(ACTION_NAMES)}** actions."


def information_table() -> str:
    """Return the events of an information state's vector, one row per event."""
    rows = [["first number", "event", "numbers after it", "each divided by"]]
    for number, (kind, fields) in enumerate(events.EVENTS.items(), 1):
        text = ", ".join(field.text for field in fields)
        largest = ", ".join(str(one) for field in fields for one in field.scaled_to_1)
        rows.append([str(number), kind, text, largest])
    return markdown(rows)


def benchmark_tables() -> str:
    """Return the published results of the benchmark: games, bidding tasks, costs and versions."""
    entries = read_sealed(ROOT / "docs/results/benchmark.json")["agents"]
    found = []
    for head, *rows in benchmark.all_rows(entries):
        lines = [head, *([f"`{name}`", *row] for name, *row in rows)]
        found.append(markdown(lines, "lll" + "r" * (len(head) - 3)))
    panel = {
        table_label(one["players"], one["side"]): one["panel"].values()
        for entry in entries
        for one in entry["tables"]
    }
    lines = [[label, *versions] for label, versions in panel.items()]
    found.append(markdown([["version at", *benchmark.PANEL], *lines]))
    return "\n\n".join(found)


def algorithms_table(name: str) -> str:
    """Return a table of the published comparison of algorithms."""
    rows = figures.read("algorithms")[name]
    return markdown(rows, "ll" + "r" * (len(rows[0]) - 2))


PARTS: Final[dict[str, Callable[[], str]]] = {
    "benchmark tables": benchmark_tables,
    "observation table": observation_table,
    "algorithms": partial(algorithms_table, "comparison"),
    "algorithms' mistakes": partial(algorithms_table, "mistakes"),
    "sizes": sizes,
    "information table": information_table,
    "actions table": actions_table,
    "agents table": agents_table,
    "view table": partial(fields_table, knowledge.ViewRecord),
    "game table": partial(fields_table, state.GameRecord),
    "trained agents": trained_agents,
    "trained commands": trained_commands,
    "ladder summary": ladder_summary,
    "ladder strength": partial(ladder_strength, 2, "front"),
}
PAGES: Final = (Path("README.md"), *sorted(p.relative_to(ROOT) for p in ROOT.glob("docs/**/*.md")))


def part(name: str) -> str:
    """Return the current text of a generated part.

    Raises:
        KeyError: unknown name.
    """
    if found := re.fullmatch(r"ladder (\d) players (\w+)", name):
        return ladder_table(int(found[1]), found[2])
    if found := re.fullmatch(r"figures (\w+)", name):
        return figures.list_table(found[1])
    if found := re.fullmatch(r"grid (\w+)(?:: (.*))?", name):
        return figures.grid_table(found[1], found[2].split(", ") if found[2] else ())
    return PARTS[name]()


def filled(page: str) -> str:
    """Return a page's text with current generated parts."""
    return re.sub(
        r"(<!-- ([^\n]+?) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{part(found[2])}\n{found[3]}",
        page,
        flags=re.DOTALL,
    )


def files() -> dict[Path, str]:
    """Return every generated file and every page with generated parts, by its path from ROOT."""
    pages = {path: filled((ROOT / path).read_text(encoding="utf-8")) for path in PAGES}
    return pages | drawings.drawings() | rules_page.written() | page_facts.written()


def _run(_: Options) -> None:
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(ROOT / path, text)


main = program(
    Options,
    "docs.build.document",
    Help("update the generated parts of the docs", page="CONTRIBUTING.md"),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
