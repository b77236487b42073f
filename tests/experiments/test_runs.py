"""What all trainings share: options, folders, checkpoints, signals, curves. Shown on the lean trainer."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import signal
import tomllib
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from agents import agent
from experiments import ppo
from experiments.curves import draw_curves
from experiments.ppo import Config, SelfPlay
from experiments.runs import (
    DEFAULT_MINUTES,
    DIGEST,
    FEWEST_EPISODES,
    MAGIC,
    Episodes,
    RunConfig,
    option,
    parse,
    read_checkpoint,
    read_toml,
)
from skyenv.errors import CheckpointError, OptionError

SMALL: dict[str, Any] = {
    "games": 8, "steps": 24, "batch": 64, "hidden": 8, "decisions": 300, "max_turns": 2, "deals": 0, "opponents": 1.0,
    "checkpoint_seconds": 1e9,
}  # fmt: skip
TINY = [part for name, value in SMALL.items() for part in ("--" + name.replace("_", "-"), str(value))]


def asked(*arguments: str) -> Config:
    return parse(Config, "ppo", "Train.", arguments)[0]


def trained(folder: Path, **changes: Any) -> SelfPlay:
    """A run that is over, in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    training = SelfPlay(Config(**{"run": str(folder), **SMALL, **changes}))
    training.begin()
    assert training.run()
    return training


def one_line(text: str, program: str = "ppo") -> str:
    """The only line on stderr, beside the progress bar."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    assert lines[0].startswith(f"{program}: error: ")
    return lines[0]


# ---- options ----


def test_defaults() -> None:
    assert asked() == Config()
    assert Config().minutes == DEFAULT_MINUTES
    assert Config(decisions=10).minutes == 0  # decisions alone limit the run
    assert Config(minutes=2, decisions=10).minutes == 2


def test_command_line_over_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('games = 32\nsteps = 16\nlearning-rate = 1\nplayers = "2,4"\nmax_turns = 9\n')
    config, resume = parse(Config, "p", "d", ["--config", str(file), "--steps", "8", "--max-turns", "7", "--resume"])
    assert resume
    assert (config.games, config.steps, config.learning_rate, config.players, config.max_turns) == (32, 8, 1.0, "2,4", 7)
    assert type(config.learning_rate) is float
    assert config.batch == Config().batch
    assert parse(Config, "p", "d", []) == (Config(), False)


def test_every_option_can_be_given_in_both_ways(tmp_path: Path) -> None:
    flags, lines = [], []
    for entry in fields(Config):
        choices = [choice for choice in entry.metadata["choices"] or () if choice != entry.default]
        default: Any = entry.default
        value = choices[-1] if choices else f"{default}x" if isinstance(default, str) else default + 1
        flags += ["--" + entry.name.replace("_", "-"), str(value)]
        lines.append(f"{entry.name} = {json.dumps(value)}\n")
    (tmp_path / "all.toml").write_text("".join(lines))
    from_flags, from_file = asked(*flags), asked("--config", str(tmp_path / "all.toml"))
    assert from_flags == from_file
    assert all(getattr(from_flags, entry.name) != entry.default for entry in fields(Config))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("speed = 3", OptionError, "unknown option 'speed'; there are run, players"),
        ("config = 'x'", OptionError, "unknown option 'config'"),
        ("[games]\nnumber = 3", OptionError, "games must be of type int, not {'number': 3}"),
        ("games = '3'", OptionError, "games must be of type int, not '3'"),
        ("games = 3.0", OptionError, "games must be of type int, not 3.0"),
        ("games = true", OptionError, "games must be of type int, not True"),
        ("gamma = 'high'", OptionError, "gamma must be of type float, not 'high'"),
        ("gamma = true", OptionError, "gamma must be of type float, not True"),
        ("players = 2", OptionError, "players must be of type str, not 2"),
        ("players = [2, 3]", OptionError, "players must be of type str"),
        ("games 3", CheckpointError, "can't be read as TOML"),
        (b"\xff\xfe", CheckpointError, "can't be read as TOML"),
        (None, CheckpointError, "can't be read as TOML"),
    ],
)
def test_option_files_that_can_not_be_used(
    text: str | bytes | None, error: type[Exception], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "options.toml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error) as caught:
        read_toml(file, Config)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)
    code = ppo.main(["--config", str(file), "--run", str(tmp_path / "run")])
    assert code == (2 if error is OptionError else 1)
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--speed", "3"], ["--games", "many"], ["--games"], ["--gamma", "high"], ["--reward", "fame"], ["--game", "8"], ["more"]],
)
def test_command_lines_that_can_not_be_used(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        ppo.main(arguments)
    assert caught.value.code == 2
    assert "(see --help)" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--players", "5"], 2, "players must be 2, 3 or 4"),
        (["--threads", "2000"], 2, "threads must be"),
        (["--minutes", "nan"], 2, "minutes must be"),
        (["--anchors", "nobody"], 2, "anchors: unknown agent 'nobody'"),
        (["--anchors", "nowhere/model.npz"], 1, "there is no network file nowhere/model.npz"),
    ],
)
def test_bad_values_leave_no_folder(
    arguments: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main(["--run", str(tmp_path / "run"), *arguments]) == code
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_a_device_from_a_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "options.toml").write_text('device = "tpu"')
    assert ppo.main(["--config", str(tmp_path / "options.toml"), "--run", str(tmp_path / "run")]) == 2
    assert "device must be one of auto, cpu, cuda" in one_line(capsys.readouterr().err)


def test_help_lists_every_option(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no word is broken
    with pytest.raises(SystemExit) as caught:
        ppo.main(["--help"])
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for entry in fields(Config):
        assert f"--{entry.name.replace('_', '-')} {type(entry.default).__name__} " in text
        assert f"{' '.join(entry.metadata['help'].split())} (default: {entry.default!r})" in text
    assert "--config FILE" in text
    assert "--resume" in text


# ---- a run's folder ----


def test_a_run_leaves_all_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "there" / "first"
    options = [*TINY, "--players", "2,3", "--games", "8", "--deals", "1"]
    assert ppo.main(["--run", str(folder), *options]) == 0
    out = capsys.readouterr().out
    assert "greedy" in out
    assert "decisions in" in out
    expected = {
        "config.json", "checkpoint.bin", "model.npz", "curve.jsonl", "curves.png", "tensorboard",
        "evaluation.txt", "evaluation.json", "evaluation-2-front.png", "evaluation-3-front.png",
        "games-2-front.jsonl", "games-3-front.jsonl",
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == expected  # and no half-written ones
    assert all(path.is_dir() or path.stat().st_size > 0 for path in folder.iterdir())
    assert json.loads((folder / "config.json").read_text()) == asdict(asked("--run", str(folder), *options))
    assert (folder / "evaluation.txt").read_text().strip() in out
    found = json.loads((folder / "evaluation.json").read_text())
    assert [(entry["opponent"], entry["num_players"]) for entry in found] == [
        (o, p) for p in (2, 3) for o in ("random", "greedy")
    ]
    assert agent(folder / "model.npz").name == "first"
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_holds_a_run_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    capsys.readouterr()
    assert ppo.main(["--run", str(tmp_path), *TINY]) == 2
    assert "holds a run; go on with it by --resume" in one_line(capsys.readouterr().err)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("something")
    assert ppo.main(["--run", str(tmp_path / "run"), *TINY]) == 1
    assert "run" in one_line(capsys.readouterr().err)


def test_curve_goes_up_and_is_the_same_in_tensorboard(tmp_path: Path) -> None:
    """Also over an interruption: no point is lost, none is there twice."""
    training = trained(tmp_path, decisions=1000, games=48)
    again = SelfPlay(Config(**{"run": str(tmp_path), **SMALL, "games": 48, "decisions": 2000}))
    again.load()
    assert again.run()
    curve = [json.loads(line, parse_constant=pytest.fail) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert curve[: len(training.curve)] == json.loads(json.dumps(training.curve))
    assert [point["update"] for point in curve] == list(range(1, len(curve) + 1))
    for name in ("decisions", "seconds", "episodes"):
        values = [point[name] for point in curve]
        assert values == sorted(values)
        assert values[0] >= 0
    assert len({point["decisions"] for point in curve}) == len(curve)
    assert all(point["illegal"] == 0 and 0 <= point["passes"] <= 1 and point["entropy"] > 0 for point in curve)
    assert 0 <= curve[-1]["shares"]["random"] <= 1

    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    wanted = {
        "win share/random", "win share/greedy", "ppo/entropy", "ppo/value_loss", "ppo/explained_variance", "ppo/policy_loss",
        "ppo/passes", "ppo/points", "ppo/length", "ppo/illegal", "ppo/pace", "ppo/seconds", "ppo/change", "ppo/episodes",
    }  # fmt: skip
    assert set(events.Tags()["scalars"]) == wanted
    for tag in wanted:
        kind, name = tag.split("/")
        told = {
            point["decisions"]: point["shares"].get(name) if kind == "win share" else point.get(name)
            for point in curve
            if (name in point["shares"] if kind == "win share" else point.get(name) is not None)
        }
        assert [scalar.step for scalar in events.Scalars(tag)] == list(told)
        assert [scalar.value for scalar in events.Scalars(tag)] == pytest.approx(list(told.values()), rel=1e-5)
    assert {scalar.value for scalar in events.Scalars("ppo/illegal")} == {0.0}


def test_curves_of_several_runs_in_one_picture(tmp_path: Path) -> None:
    point = {"seconds": 60.0, "shares": {"random": 0.5}, "entropy": 1.0}
    late = {"seconds": 120.0, "shares": {"random": 0.6, "someone": 0.1}, "entropy": 0.9}
    draw_curves({"a": [point, late], "b": [point]}, tmp_path / "two.png")
    draw_curves({"none": []}, tmp_path / "none.png")
    assert (tmp_path / "two.png").stat().st_size > (tmp_path / "none.png").stat().st_size > 0


# ---- episodes ----


def test_episodes_count_shares_by_kind_of_opponent() -> None:
    episodes = Episodes()
    for opponent, share, times in (
        ("random", 0.0, 30), ("random", 1.0, 90), ("self-10", 0.5, 30), ("self-20", 0.5, 30), ("selfish", 1.0, 60),
        ("greedy", 1.0, FEWEST_EPISODES - 1),
    ):  # fmt: skip
        for _ in range(times):
            episodes.note(10, 5.0)
            episodes.note_share(opponent, share)
    assert episodes.means() == {"random": 0.75, "self": 0.5, "selfish": 1.0}
    assert episodes.count == 289
    for _ in range(1000):
        episodes.note(20, 1.0)
        episodes.note_share("random", 0.25)
    assert episodes.means()["random"] == 0.25  # only the latest count
    assert set(episodes.lengths) == {20}


# ---- checkpoints ----


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    trained(folder)
    return folder


@pytest.fixture
def folder(run: Path, tmp_path: Path) -> Path:
    """A folder with its checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "checkpoint.bin").write_bytes((run / "checkpoint.bin").read_bytes())
    return folder


def rewrite(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what a checkpoint says, with a right checksum."""
    path = folder / "checkpoint.bin"
    state = pickle.loads(path.read_bytes()[len(MAGIC) + DIGEST :])
    body = pickle.dumps(change(state) or state)
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Why ``--resume`` doesn't go on; it says so in one line, with exit code 1, and writes nothing."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert ppo.main(["--run", str(folder), *TINY, *more, "--resume"]) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    message = one_line(capsys.readouterr().err)
    assert str(folder) in message
    return message


def test_a_checkpoint_that_is_all_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is over, resumed: nothing more is learned."""
    before = read_checkpoint(folder / "checkpoint.bin")
    assert ppo.main(["--run", str(folder), *TINY, "--resume"]) == 0
    after = read_checkpoint(folder / "checkpoint.bin")
    assert after["curve"] == before["curve"]
    assert f"{before['decisions']:,} decisions" in capsys.readouterr().out
    assert ppo.main(["--run", str(folder), *TINY, "--resume", "--decisions", str(before["decisions"] + 1)]) == 0
    assert len(read_checkpoint(folder / "checkpoint.bin")["curve"]) == len(before["curve"]) + 1


def test_the_time_left_of_a_resumed_run_counts_what_is_done_from_here_on(tmp_path: Path) -> None:
    training = SelfPlay(Config(run=str(tmp_path), **SMALL))
    training.decisions = SMALL["decisions"] // 2
    with training._bar() as bar:
        assert (bar.n, bar.format_dict["initial"]) == (0.5, 0.5)


def test_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no checkpoint to go on from" in refused(tmp_path, capsys)


def test_foreign_checkpoints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (folder / "checkpoint.bin").read_bytes()
    for content in (b"", b"something else", whole.replace(b"checkpoint-3", b"checkpoint-2", 1), pickle.dumps({}), MAGIC[:-1]):
        (folder / "checkpoint.bin").write_bytes(content)
        assert "no training checkpoint of this version" in refused(folder, capsys)


def test_damaged_anywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "checkpoint.bin"
    whole = path.read_bytes()
    for position in [*range(len(MAGIC) + DIGEST + 2), *range(0, len(whole), len(whole) // 40), len(whole) - 1]:
        data = bytearray(whole)
        data[position] ^= 16
        path.write_bytes(bytes(data))
        with pytest.raises(CheckpointError, match="damaged" if position >= len(MAGIC) else "no training checkpoint"):
            read_checkpoint(path)
    for length in [*range(0, len(whole), len(whole) // 40), len(MAGIC), len(MAGIC) + DIGEST, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match="damaged" if length >= len(MAGIC) else "no training checkpoint"):
            read_checkpoint(path)
    path.write_bytes(whole + b"\0")
    assert "damaged" in refused(folder, capsys)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.update(kind="train"), "was written by the trainer train, not by ppo"),
        (lambda state: state.update(observation_size=700), "was trained for observations of length 700; they have"),
        (lambda state: state["config"].update(gamma=0.5), "was trained with gamma = 0.5, not 1.0"),
        (lambda state: state["config"].update(colour="red"), "was trained with colour = red, not None"),
    ],
)
def test_checkpoints_of_something_else(
    change: Callable[[dict[str, Any]], Any], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, change)
    assert message in refused(folder, capsys)


def test_checkpoints_that_refer_to_what_is_gone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "checkpoint.bin"
    body = path.read_bytes()[len(MAGIC) + DIGEST :].replace(b"experiments.runs", b"experiments.ruin")
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)
    assert "can't be read by this version (ModuleNotFoundError" in refused(folder, capsys)


@pytest.mark.parametrize(
    ("name", "value"),
    [("players", "3"), ("side", "back"), ("seed", "2"), ("hidden", "9"), ("gamma", "0.9"), ("advisor", "greedy"), ("games", "9")],
)
def test_options_that_may_not_change(name: str, value: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(folder, capsys, f"--{name}", value)
    assert f"was trained with {name} = {getattr(asked(*TINY), name)}, not {value}; only run, minutes" in message


def test_options_that_may_change_and_a_folder_that_moved(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path / "moved")
    changes = ["--minutes", "100", "--checkpoint-seconds", "5", "--deals", "1", "--decisions", "400"]
    assert ppo.main(["--run", str(moved), *TINY, *changes, "--resume"]) == 0
    assert json.loads((moved / "config.json").read_text())["minutes"] == 100
    assert (moved / "evaluation.json").exists()


def test_a_checkpoint_does_not_depend_on_how_the_trainer_was_started(run: Path) -> None:
    """With ``python -m`` the module is called __main__; nothing in a checkpoint may say so."""
    body = (run / "checkpoint.bin").read_bytes()
    assert b"__main__" not in body
    source = Path(ppo.__file__).read_text(encoding="utf-8")
    assert source.rstrip().endswith("sys.exit(ppo.main())")


# ---- signals ----


def signalling(monkeypatch: pytest.MonkeyPatch, numbers: dict[int, list[int]]) -> None:
    """Send this process signals during these updates of any run."""
    real = SelfPlay.learn

    def learn(self: SelfPlay) -> dict[str, float]:
        for number in numbers.get(self.updates + 1, []):
            os.kill(os.getpid(), number)
        return real(self)

    monkeypatch.setattr(SelfPlay, "learn", learn)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_after_the_update(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    signalling(monkeypatch, {2: [number]})
    arguments = ["--run", str(tmp_path), *TINY, "--decisions", "1000"]
    assert ppo.main(arguments) == 130
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    told = capsys.readouterr()
    assert "stopping after this update" in told.err
    assert "--resume` with the same options goes on" in told.out
    state = read_checkpoint(tmp_path / "checkpoint.bin")
    assert state["updates"] == len(state["curve"]) == 2
    assert {"model.npz", "curve.jsonl", "curves.png", "config.json"} < {path.name for path in tmp_path.iterdir()}
    assert ppo.main([*arguments, "--resume"]) == 0
    curve = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["update"] for line in curve] == list(range(1, len(curve) + 1))


def test_a_second_ctrl_c_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    signalling(monkeypatch, {3: [signal.SIGINT, signal.SIGINT]})
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert ppo.main(["--run", str(tmp_path), *TINY, "--decisions", "1000", "--checkpoint-seconds", "0"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert read_checkpoint(tmp_path / "checkpoint.bin")["updates"] == 2


def test_ctrl_c_in_the_closing_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> list[Any]:
        return []

    monkeypatch.setattr("experiments.runs.evaluate", interrupted)
    assert ppo.main(["--run", str(tmp_path), *TINY, "--deals", "1"]) == 130
    assert (tmp_path / "model.npz").exists()
    assert not (tmp_path / "evaluation.json").exists()


# ---- limits ----


def test_a_run_ends_at_the_nearest_limit() -> None:
    training = SelfPlay(Config(minutes=10, decisions=100))
    assert not training.finished()
    training.decisions = 50
    training.seconds = 450
    assert training.progress() == 0.75
    training.decisions = 90
    assert training.progress() == 0.9
    training.decisions = 120
    assert training.progress() == 1.0
    assert training.finished()
    training.decisions, training.seconds = 0, 600
    assert training.finished()


def test_options_of_a_trainer_of_ones_own() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Own(RunConfig):
        speed: float = option(1.0, "how fast", None)

    config, resume = parse(Own, "mine", "Train.", ["--speed", "2", "--seed", "5"])
    assert (config.speed, config.seed, resume) == (2.0, 5, False)
    config.check()


def test_files_of_options_in_the_docs_can_be_read(tmp_path: Path) -> None:
    """What a run was asked for, as TOML, asks for the same."""
    values = asdict(Config(run="x", decisions=5))
    (tmp_path / "x.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    assert tomllib.loads((tmp_path / "x.toml").read_text()) == values
    assert asked("--config", str(tmp_path / "x.toml")) == Config(run="x", decisions=5)
