"""The commands ``python -m skyenv evaluate`` and ``python -m skyenv tournament``.

**A secret** is drawn by both, which decides the paired seeds and the agents' random numbers
together with the seed, so that no agent can know the cards by knowing the seed. It is printed with
the figures, and a tournament's folder keeps it: ``--secret`` repeats the games bit for bit (but for
agents whose budget is time).

``python -m skyenv evaluate AGENT --against random greedy`` lets an agent play against others, every
paired seed once from each seat (:mod:`skyenv.arena.evaluate`). Ctrl-C ends the games and reports
the paired seeds that are finished, marked as such.

``python -m skyenv tournament random crowd greedy --players 2 --paired-seeds 500`` makes a ladder.
Who meets whom is told in :mod:`skyenv.arena.schedule`, what is written while it goes on in
:mod:`skyenv.arena.folder`, how it is played in :mod:`skyenv.arena.tournament`. In the end
ladder.txt, ladder.json and (where matplotlib is installed) ladder.png are written there, too. The
same command, or ``--resume``, goes on where the folder ends. Only paired seeds with all their games
count.

``--add NEWCOMER`` rates an agent against the ladder that ships with skyenv (see
:func:`skyenv.arena.ratings.rate_newcomer`): pairs and mixed tables with the newcomer are played.

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted (after the
report).
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from skyenv.agents import Agent, ReportingAgent, agents_help, make_agent
from skyenv.arena import ladder
from skyenv.arena.evaluate import as_json, evaluate, record_games, table
from skyenv.arena.folder import CONFIG, Folder, read_config, secret_of
from skyenv.arena.plots import check_plots, plot_ladder
from skyenv.arena.ratings import rate, rate_newcomer
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Entrant, Settings, entrant, entrants
from skyenv.arena.tournament import Tournament
from skyenv.engine.options import GameOptions, table_name
from skyenv.errors import CheckpointError, OptionError, RenderError
from skyenv.files import check_writable, write_atomically
from skyenv.options import (
    INTERRUPTED,
    SPREAD,
    Options,
    argument,
    command_line,
    common,
    complain,
    option,
)
from skyenv.seeds import HIGHEST_SEED, fresh_seed

# ---- evaluate ----


EVALUATE: Final = "skyenv evaluate"
NOTHING_WHOLE: Final = " before the first paired seed was finished"


@dataclass(frozen=True)
class EvaluateOptions(Options):
    """What the command takes."""

    agent: str = argument(f"who is measured: {agents_help()}", metavar="AGENT")
    against: tuple[str, ...] = common("against")
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common("paired_seeds")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - 10**7)
    secret: int | None = common("secret")
    max_turns: int = common("max_turns")
    deterministic: bool = option(
        False, "checkpoints take their most probable action, instead of drawing one"
    )
    workers: int | None = common("workers", default=None, text=SPREAD)
    ray: str | None = common("ray")
    json: Path | None = common("json")
    record: Path | None = option(None, "write records of games played", metavar="FILE")
    record_games: int = option(10, "how many against each opponent", low=1, high=10**6, metavar="N")


def evaluate_agent(options: EvaluateOptions) -> int:
    """Run the command; returns the exit code."""
    check_writable(*(path for path in (options.json, options.record) if path is not None))
    secret = fresh_seed() if options.secret is None else options.secret
    kind = GameOptions(options.players, options.side, max_turns=options.max_turns)
    spread = options.workers is not None or options.ray is not None
    agent, *opponents = (options.agent, *options.against) if spread else _made(options)
    results = evaluate(
        agent,
        opponents,
        paired_seeds=options.paired_seeds,
        seed=options.seed,
        options=kind,
        secret=secret,
        deterministic=options.deterministic,
        workers=options.workers,
        ray=options.ray,
        progress=True,
    )
    if results:
        unsaid = ("json", "record", "record_games", "workers", "ray")
        values = {**vars(options), "secret": secret, **dict.fromkeys(unsaid)}
        print(table(results))
        print(f"\nThe same games again: {command_line(EvaluateOptions, EVALUATE, values)}")
        if options.json is not None:
            write_atomically(options.json, as_json(results))
    if len(results) < len(opponents) or any(result.interrupted for result in results):
        complain("evaluate", f"interrupted{'' if results else NOTHING_WHOLE}")
        return INTERRUPTED
    if options.record is not None:
        games = options.record_games
        record_games(options.record, _made(options), kind, games, options.seed, secret)
    return 0


def _made(options: EvaluateOptions) -> list[Agent]:
    """Who is measured, and the opponents."""
    specs = (options.agent, *options.against)
    return [ReportingAgent(make_agent(spec, deterministic=options.deterministic)) for spec in specs]


# ---- tournament ----

DEFAULT_PAIRED_SEEDS: Final = 200
TOURNAMENT: Final = "skyenv tournament"


@dataclass(frozen=True)
class TournamentOptions(Options):
    """What the command takes."""

    agents: tuple[str, ...] = argument(f"two or more: {agents_help()}", default=(), metavar="AGENT")
    add: str | None = option(
        None,
        "rate this agent against the ladder, instead of agents against each other",
        metavar="AGENT",
    )
    players: int = common("players")
    side: str = common("side")
    max_turns: int = common("max_turns")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - MOST_PAIRED_SEEDS)
    secret: int | None = common("secret")
    paired_seeds: int | None = common(
        "paired_seeds",
        default=None,
        text=f"paired seeds (default: {DEFAULT_PAIRED_SEEDS})",
        high=MOST_PAIRED_SEEDS,
    )
    minutes: float = common(
        "minutes", text="as many paired seeds as can be played in so many minutes; 0: no limit"
    )
    slow: tuple[str, ...] = option(
        (), "agents that think long, by name: they play --slow-paired-seeds", metavar="AGENT"
    )
    slow_paired_seeds: int = common(
        "paired_seeds",
        default=MOST_PAIRED_SEEDS,
        text="paired seeds of the slow agents",
        high=MOST_PAIRED_SEEDS,
    )
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path | None = option(
        None,
        "where all is written, gone on with if it is there (default: runs/ladder-…)",
        metavar="FOLDER",
    )
    resume: bool = option(
        False,
        "go on with the folder of --out as it was begun, to as many paired seeds or for as many "
        "minutes, if none are given",
    )
    ladder: Path | None = option(
        None, "the ladder for --add (default: the one that ships)", metavar="FILE"
    )
    publish: Path | None = option(
        None,
        "copy ladder and picture to this folder; without one to where those that ship are in a "
        "clone",
        const=Path(),
        metavar="FOLDER",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.slow) != (self.slow_paired_seeds < MOST_PAIRED_SEEDS):
            raise OptionError("slow and slow_paired_seeds go together: who, and how many they play")
        if self.paired_seeds is not None and self.minutes:
            raise OptionError("paired seeds and minutes both say how long; give one of them")
        if self.add is None and self.ladder is not None:
            raise OptionError("--ladder goes with --add")
        if self.add is not None and (self.agents or self.publish is not None or self.resume):
            raise OptionError(
                "--add takes one agent, and goes with neither other agents nor --publish nor "
                "--resume"
            )
        if self.resume and self.out is None:
            raise OptionError("--resume needs --out FOLDER")


def earlier(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What --resume goes on with, or what the ladder for --add was played with; see
    :func:`skyenv.options.parse`.

    Raises:
        OptionError, CheckpointError, OSError: an option is wrong, or the folder or the ladder can't
            be used.
    """
    options = TournamentOptions(**given)
    if options.add is not None:
        shipped = _ladder_for(options)
        return {name: shipped[name] for name in ("side", "max_turns")}
    if options.out is None or not options.resume:
        return {}
    before = read_config(options.out)
    if not before:
        raise CheckpointError(
            f"there is nothing to go on with in {options.out}: it has no {CONFIG}"
        )
    before["agents"] = [agent["spec"] for agent in before["agents"]]
    told_anew = options.paired_seeds is not None or options.minutes
    how_long = ("paired_seeds", "minutes") if told_anew else ()
    return {name: value for name, value in before.items() if name not in how_long}


def play_tournament(options: TournamentOptions) -> int:
    """Run the command; returns the exit code."""
    if options.publish is not None:
        ladder.check_publish(options.publish)
        check_plots()
    shipped = None if options.add is None else _ladder_for(options)
    settings = _settings(options, shipped)
    if options.publish is not None and settings.secret is None:
        raise OptionError("games without a secret aren't of the deals of ladders (skyenv.seeds)")
    paired_seeds = options.paired_seeds or (None if options.minutes else DEFAULT_PAIRED_SEEDS)
    again = "the same command goes on"
    with ExitStack() as held:
        path = options.out or default_folder(settings)
        if options.out is None and shipped is not None:
            # The next try may be another agent of the same name.
            path = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="skyenv-")))
        elif options.out is None:
            print(f"tournament: the games are kept in {path}; {again} there", file=sys.stderr)
        begun = {"paired_seeds": paired_seeds, "minutes": options.minutes}
        folder = held.enter_context(Folder(path, settings, **begun))
        tournament = Tournament(
            folder,
            paired_seeds=paired_seeds,
            minutes=options.minutes or None,
            workers=options.workers,
            ray=options.ray,
            progress=True,
        )
        tournament.run()
        whole = folder.whole_paired_seeds()
        if whole and shipped is not None:
            _report_newcomer(folder, options, shipped)
        elif whole:
            _report(folder, options, is_whole=not tournament.interrupted)
    if not tournament.interrupted:
        return 0
    if shipped is None:
        again = f"go on with: python -m {TOURNAMENT} --resume --out {shlex.quote(str(path))}"
    hint = "" if shipped is not None and options.out is None else f"; {again}"
    complain("tournament", f"interrupted{'' if whole else NOTHING_WHOLE}{hint}")
    return INTERRUPTED


def default_folder(settings: Settings) -> Path:
    """Where a tournament is kept if the command doesn't say it: another folder for each kind of
    tournament.
    """
    played = json.dumps(asdict(replace(settings, secret=None)))
    name = hashlib.sha256(played.encode()).hexdigest()[:8]
    return Path("runs", f"ladder-{settings.players}-{settings.side}-{name}")


def _settings(options: TournamentOptions, shipped: ladder.Ladder | None) -> Settings:
    """What the command asks for. The secret is the folder's, unless one is asked for."""
    if shipped is not None:
        agents = _newcomer_and_ladder(options, shipped)
    else:
        agents = entrants(options.agents, options.players, options.side)
    settings = Settings(
        agents,
        options.players,
        options.side,
        options.seed,
        options.max_turns,
        newcomer=shipped is not None,
        slow=options.slow,
        slow_paired_seeds=options.slow_paired_seeds,
    )
    folder = options.out or default_folder(settings)
    return replace(settings, secret=secret_of(options.secret, folder))


def _report(folder: Folder, options: TournamentOptions, *, is_whole: bool) -> None:
    settings = folder.settings
    ratings = rate(folder.results(), [agent.name for agent in settings.agents], settings.seed)
    specs = [agent.spec for agent in settings.agents]
    again = command(settings, paired_seeds=ratings.paired_seeds, agents=specs)
    content = ladder.as_dict(ratings, asdict(settings), folder.speeds(), again)
    text = ladder.table(content)
    print(text)
    write_atomically(folder.path / "ladder.txt", text + "\n")
    write_atomically(folder.path / "ladder.json", ladder.as_json(content))
    try:
        check_plots()
        plot_ladder(content, folder.path / "ladder.png")
    except RenderError:
        print("tournament: no ladder.png, as matplotlib isn't installed", file=sys.stderr)
    if options.publish is not None and is_whole:
        ladder.publish(folder.path, settings.players, settings.side, options.publish)


def command(settings: Settings, **values: Any) -> str:
    """The command that plays the same games; `values` are options beside the settings."""
    values |= {
        name: getattr(settings, name) for name in ("players", "side", "max_turns", "seed", "secret")
    }
    if settings.slow:
        values |= {"slow": settings.slow, "slow_paired_seeds": settings.slow_paired_seeds}
    nothing: dict[str, Any] = {entry.name: None for entry in fields(TournamentOptions)}
    return command_line(TournamentOptions, TOURNAMENT, {**nothing, "agents": (), **values})


# ---- a newcomer ----


def _ladder_for(options: TournamentOptions) -> ladder.Ladder:
    if options.ladder is not None:
        return ladder.read(options.ladder, options.players)
    name = f"{table_name(options.players, options.side)}.json"
    return ladder.read(ladder.SHIPPED / name, options.players, options.side)


def _newcomer_and_ladder(options: TournamentOptions, shipped: ladder.Ladder) -> tuple[Entrant, ...]:
    """The newcomer and the agents of the ladder, which must be of the same kind of game."""
    for name in ("side", "max_turns"):
        if getattr(options, name) != shipped[name]:
            raise OptionError(
                f"the ladder was played with {name} {shipped[name]}, not {getattr(options, name)}"
            )
    newcomer = entrant(options.add or "", options.players, options.side)
    if newcomer.name in [rung["name"] for rung in shipped["agents"]]:
        newcomer = replace(newcomer, name=f"new {newcomer.name}")
    specs = [rung["spec"] for rung in shipped["agents"]]
    rungs = entrants(specs, options.players, options.side)
    for rung, old in zip(rungs, shipped["agents"], strict=True):
        if (rung.version, rung.digest) != (old["version"], old["digest"]):
            file = " (another file)" if rung.digest != old["digest"] else ""
            print(
                f"tournament: warning: {rung.name} is version {rung.version} here, but "
                f"{old['version']} in the ladder{file}: its rating there may not be its strength "
                "here",
                file=sys.stderr,
            )
    return newcomer, *rungs


def _report_newcomer(folder: Folder, options: TournamentOptions, shipped: ladder.Ladder) -> None:
    settings = folder.settings
    points = [rung["rating"]["mean"] for rung in shipped["agents"]]
    newcomer = rate_newcomer(folder.results(), points, shipped["samples"], settings.seed)
    played = newcomer.paired_seeds
    again = command(settings, add=options.add, paired_seeds=played, ladder=options.ladder)
    content = ladder.newcomer_as_dict(
        newcomer, asdict(settings.agents[0]), shipped, folder.speeds()[0], again
    )
    print(ladder.newcomer_table(content))
    if options.out is not None:
        write_atomically(folder.path / "newcomer.json", ladder.as_json(content))
