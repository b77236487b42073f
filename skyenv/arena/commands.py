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
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from skyenv.agents import Agent, ReportingAgent, agents_help, make_agent
from skyenv.arena import ladder
from skyenv.arena.evaluate import as_json, evaluate, record_games, table
from skyenv.arena.folder import CONFIG, Folder, read_config, secret_of
from skyenv.arena.plots import check_plots, plot_ladder
from skyenv.arena.ratings import rate, rate_newcomer
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Settings, entrants
from skyenv.arena.tournament import Tournament
from skyenv.commands import INTERRUPTED, complain
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, OptionError, RenderError
from skyenv.files import check_writable, write_atomically
from skyenv.options import SPREAD, Options, argument, command_line, common, option
from skyenv.seeds import HIGHEST_SEED, fresh_seed

# ---- evaluate ----


EVALUATE: Final = "skyenv evaluate"


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
    spread = options.workers is not None or options.ray is not None
    agent, *opponents = (options.agent, *options.against) if spread else _made(options)
    results = evaluate(
        agent,
        opponents,
        options.players,
        options.side,
        options.paired_seeds,
        options.seed,
        max_turns=options.max_turns,
        secret=secret,
        deterministic=options.deterministic,
        workers=options.workers,
        ray=options.ray,
        progress=True,
    )
    interrupted = len(results) < len(opponents) or any(result.interrupted for result in results)
    if results:
        unsaid = ("json", "record", "record_games", "workers", "ray")
        values = {**vars(options), "secret": secret, **dict.fromkeys(unsaid)}
        print(table(results))
        print(f"\nThe same games again: {command_line(EvaluateOptions, EVALUATE, values)}")
        if options.json is not None:
            write_atomically(options.json, as_json(results))
    if options.record is not None and not interrupted:
        agent, *opponents = _made(options)
        record_games(
            options.record,
            agent,
            opponents,
            options.players,
            options.side,
            options.record_games,
            options.seed,
            max_turns=options.max_turns,
            secret=secret,
        )
    if interrupted:
        complain(
            "evaluate",
            "interrupted" + ("" if results else " before the first paired seed was finished"),
        )
        return INTERRUPTED
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
    if options.paired_seeds is not None or options.minutes:  # how long is told anew
        return {
            name: value for name, value in before.items() if name not in ("paired_seeds", "minutes")
        }
    return before


def play_tournament(options: TournamentOptions) -> int:
    """Run the command; returns the exit code."""
    if options.add is not None:
        return _run_newcomer(options)
    if options.publish is not None:
        ladder.check_publish(options.publish)
        check_plots()
    settings = _settings(options)
    path = options.out or default_folder(settings)
    if options.publish is not None and settings.secret is None:
        raise OptionError(
            f"{path} has no secret: its deals aren't those of ladders (skyenv.seeds), so it isn't "
            "published"
        )
    if options.out is None:
        print(
            f"tournament: the games are kept in {path}; the same command goes on there",
            file=sys.stderr,
        )
    with Folder(
        path, settings, paired_seeds=_paired_seeds(options), minutes=options.minutes
    ) as folder:
        tournament = _play(folder, options)
        if folder.whole_paired_seeds():
            _report(folder, options, tournament)
    return _end(
        folder,
        tournament,
        f"; go on with: python -m {TOURNAMENT} --resume --out {shlex.quote(str(path))}",
    )


def _paired_seeds(options: TournamentOptions) -> int | None:
    """How many are asked for; None: the minutes decide."""
    return options.paired_seeds or (None if options.minutes else DEFAULT_PAIRED_SEEDS)


def _play(folder: Folder, options: TournamentOptions) -> Tournament:
    tournament = Tournament(
        folder,
        paired_seeds=_paired_seeds(options),
        minutes=options.minutes or None,
        workers=options.workers,
        ray=options.ray,
        progress=True,
    )
    tournament.run()
    return tournament


def _end(folder: Folder, tournament: Tournament, hint: str) -> int:
    if not tournament.interrupted:
        return 0
    before = "" if folder.whole_paired_seeds() else " before the first paired seed was finished"
    complain("tournament", f"interrupted{before}{hint}")
    return INTERRUPTED


def default_folder(settings: Settings) -> Path:
    """Where a tournament is kept if the command doesn't say it: another folder for each kind of
    tournament.
    """
    played = json.dumps(asdict(replace(settings, secret=None)))
    name = hashlib.sha256(played.encode()).hexdigest()[:8]
    return Path("runs", f"ladder-{settings.players}-{settings.side}-{name}")


def _settings(options: TournamentOptions) -> Settings:
    """What the command asks for. The secret is the folder's, unless one is asked for."""
    if len(options.agents) < 2:
        raise OptionError("a tournament needs at least two agents")
    settings = Settings(
        entrants(options.agents, options.players, options.side),
        options.players,
        options.side,
        options.seed,
        options.max_turns,
        slow=options.slow,
        slow_paired_seeds=options.slow_paired_seeds,
    )
    return replace(
        settings, secret=secret_of(options.secret, options.out or default_folder(settings))
    )


def _report(folder: Folder, options: TournamentOptions, tournament: Tournament) -> None:
    settings = folder.settings
    ratings = rate(folder.results(), [agent.name for agent in settings.agents], settings.seed)
    again = command(
        settings,
        paired_seeds=ratings.paired_seeds,
        agents=[agent.spec for agent in settings.agents],
    )
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
    if options.publish is not None and not tournament.interrupted:
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
    return ladder.read(
        ladder.SHIPPED / f"{table_name(options.players, options.side)}.json",
        options.players,
        options.side,
    )


def _run_newcomer(options: TournamentOptions) -> int:
    shipped = _ladder_for(options)
    for name in ("side", "max_turns"):
        if getattr(options, name) != shipped[name]:
            raise OptionError(
                f"the ladder was played with {name} {shipped[name]}, not {getattr(options, name)}"
            )
    settings = _newcomer_settings(options, shipped)
    if options.out is not None:
        return _rate_newcomer(options, settings, shipped, options.out)
    with tempfile.TemporaryDirectory(
        prefix="skyenv-"
    ) as name:  # the next try may be another agent of the same name
        return _rate_newcomer(options, settings, shipped, Path(name))


def _newcomer_settings(options: TournamentOptions, shipped: ladder.Ladder) -> Settings:
    (newcomer,) = entrants([options.add or ""], options.players, options.side)
    if newcomer.name in [rung["name"] for rung in shipped["agents"]]:
        newcomer = replace(newcomer, name=f"new {newcomer.name}")
    specs = [rung["spec"] for rung in shipped["agents"]]
    rungs = entrants(specs, options.players, options.side)
    for rung, old in zip(rungs, shipped["agents"], strict=True):
        if (rung.version, rung.digest) != (old["version"], old["digest"]):
            print(
                f"tournament: warning: {rung.name} is version {rung.version} here, but "
                f"{old['version']} in the ladder"
                f"{' (another file)' if rung.digest != old['digest'] else ''}: its rating there "
                "may not be its strength here",
                file=sys.stderr,
            )
    secret = secret_of(options.secret, *([] if options.out is None else [options.out]))
    kind = (options.players, options.side, options.seed, options.max_turns)
    return Settings(
        (newcomer, *rungs),
        *kind,
        secret,
        newcomer=True,
        slow=options.slow,
        slow_paired_seeds=options.slow_paired_seeds,
    )


def _rate_newcomer(
    options: TournamentOptions, settings: Settings, shipped: ladder.Ladder, path: Path
) -> int:
    with Folder(path, settings) as folder:
        tournament = _play(folder, options)
        if folder.whole_paired_seeds():
            points = [rung["rating"]["mean"] for rung in shipped["agents"]]
            newcomer = rate_newcomer(folder.results(), points, shipped["samples"], settings.seed)
            again = command(
                settings, add=options.add, paired_seeds=newcomer.paired_seeds, ladder=options.ladder
            )
            content = ladder.newcomer_as_dict(
                newcomer, asdict(settings.agents[0]), shipped, folder.speeds()[0], again
            )
            print(ladder.newcomer_table(content))
            if options.out is not None:
                write_atomically(path / "newcomer.json", ladder.as_json(content))
    return _end(folder, tournament, "" if options.out is None else "; the same command goes on")
