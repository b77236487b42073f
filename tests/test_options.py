"""Options of programs from the command line, TOML files and Python."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from skyenv.console.options import (
    Help,
    Options,
    argument,
    command_line,
    common,
    exit_code,
    option,
    parse,
)
from skyenv.errors import OptionError


@dataclass(frozen=True)
class Show(Options):
    """One option of each kind."""

    agent: str = argument("who plays", metavar="AGENT")
    rest: tuple[str, ...] = argument("more of them", default=())
    players: tuple[int, ...] = common("players", default=(2,))
    side: str = common("side")
    rate: float = option(0.5, "100 % or less", high=1.0, above=True, section="numbers")
    rows: int = option(8, "games", low=1, high=100)
    out: Path | None = option(None, "where", short="-o", metavar="FILE")
    limit: int | None = option(None, "limit", high=9)
    publish: Path | None = option(None, "copy it")
    against: tuple[str, ...] = common("against")
    prior: str = option("", "what to start from", choices=("", "greedy"))
    resume: bool = common("resume")


EVERYTHING = Show(
    "me",
    ("you", "they", "we all"),
    (2, 3, 4),
    "back",
    0.25,
    9,
    Path("x y.png"),
    3,
    Path("here"),
    ("a", "b"),
    "greedy",
    True,
)


def asked(words: str) -> Show:
    return parse(Show, "skyenv show", Help("Shows."), shlex.split(words))


def test_options_are_parsed_from_the_command_line() -> None:
    config = asked(
        "me you,they 'we all' --players 2,3 4 --side back --rate .25 --rows 9 -o 'x y.png' "
        "--limit 3 --publish here --against a b --prior greedy --resume"
    )
    assert config == EVERYTHING
    assert asked("me --publish there --against ''") == Show("me", publish=Path("there"), against=())
    assert type(asked("me --rate 1").rate) is float


def test_command_line_reproduces_options() -> None:
    for config in (Show("me"), replace(EVERYTHING, rest=()), EVERYTHING):
        values = json.loads(json.dumps(asdict(config), default=str))  # as a file holds them
        words = command_line(Show, "skyenv show", values)
        assert asked(words.removeprefix("python -m skyenv show ")) == config


def test_config_files_override_defaults_and_yield_to_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "show.toml"
    file.write_text(
        'agent = "me"\nrows = 5\nplayers = [2, "4"]\nrate = 1\nout = "a"\nagainst = "x,y"\n'
        'resume = true\nrest = ["a", "b"]\nlimit = 3\n'
    )
    config = asked(f"--config {file} --rows 6")
    assert config == Show(
        agent="me",
        rest=("a", "b"),
        rows=6,
        players=(2, 4),
        rate=1.0,
        out=Path("a"),
        limit=3,
        against=("x", "y"),
        resume=True,
    )


def test_earlier_values_yield_to_given_ones(tmp_path: Path) -> None:
    (tmp_path / "show.toml").write_text("rows = 5\n")
    values: list[Mapping[str, Any]] = []

    def earlier(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> Mapping[str, Any]:
        values.extend([given, defaults])
        return {"agent": "me", "rows": 1, "rate": 0.25, "players": [3], "of another version": 1}

    words = ["--config", str(tmp_path / "show.toml"), "--players", "4"]
    config = parse(Show, "skyenv show", Help("Shows."), words, earlier)
    assert config == Show("me", rows=5, rate=0.25, players=(4,))
    given, defaults = values
    assert given == {"rows": 5, "players": ["4"]}
    assert defaults["side"] == "front"


BAD_VALUES: list[tuple[str, Any, str]] = [
    ("agent", "a\0b", "agent must not have a null byte in it"),
    ("rows", 0, "rows must be a whole number from 1 to 100, not 0"),
    ("rows", "many", "rows must be a whole number from 1 to 100, not 'many'"),
    ("rows", 3.0, "rows must be a whole number"),
    ("rate", 1.5, "rate must be a number from 0 to 1, not 1.5"),
    ("limit", 10**13, "limit must be a whole number from 0 to 9, not 1"),
    ("rows", True, "rows must be a whole number"),
    ("rows", "9" * 5000, "rows must be a whole number"),
    ("rows", {"number": 3}, "rows must be a whole number"),
    ("players", "2,5", "players must be a whole number from 2 to 4, not '5'"),
    ("players", "2,", "players must be a whole number from 2 to 4, not ''"),
    ("players", [2, [3]], "players must be a whole number from 2 to 4"),
    ("rate", 0, "rate must be above 0"),
    ("rate", "nan", "rate must be a number from 0 to 1, not"),
    ("rate", "inf", "rate must be a number from 0 to 1, not"),
    ("rate", True, "rate must be a number from 0 to 1, not"),
    ("rate", 10**400, "rate must be a number from 0 to 1, not"),
    ("rate", "", "rate must be a number from 0 to 1, not"),
    ("side", "top", "side must be one of front, back, not 'top'"),
    ("prior", "gredy", "prior must be one of greedy, or nothing, not 'gredy'"),
    ("out", 3, "out must be of type Path, not 3"),
    ("resume", "yes", "resume must be of type bool, not 'yes'"),
    ("against", [3], "against must be of type str, not 3"),
    ("rows", None, "rows must be a whole number"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_VALUES)
def test_invalid_values_are_refused(name: str, value: Any, message: str) -> None:
    """Also as texts on the command line."""
    makers: list[Callable[[], Show]] = [
        lambda: Show(**{"agent": "me", name: value}),
        lambda: replace(Show("me"), **{name: value}),
    ]
    if isinstance(value, str) and name not in ("agent", "resume"):
        makers.append(lambda: asked(f"me --{name} {shlex.quote(value)}"))
    for make in makers:
        with pytest.raises(OptionError) as caught:
            make()
        assert str(caught.value).startswith(message)


BAD_FILES: list[tuple[str | bytes | None, int, str]] = [
    ("speed = 3", 2, "show.toml: unknown option 'speed'; there are agent, rest, players"),
    ("config = 'x'", 2, "unknown option 'config'"),
    ("rows = 101", 2, "rows must be a whole number from 1 to 100, not 101"),
    ("[rows]\nnumber = 3", 2, "rows must be a whole number"),
    ("rows 3", 1, "show.toml can't be read as TOML"),
    (b"\xff\xfe", 1, "can't be read as TOML"),
    (None, 1, "show.toml: No such file"),
    ("rows = " + "9" * 5000, 1, "can't be read as TOML: Exceeds the limit"),
    ("rows = " + "[" * 3000, 1, "can't be read as TOML"),
]


@pytest.mark.parametrize(("text", "code", "message"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_invalid_config_files_are_refused(
    text: str | bytes | None,
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "show.toml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert exit_code("show", lambda: len(asked(f"me --config {file}").rest)) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("show: error: ")
    assert message in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("me --speed 3", "--speed"),
        ("me --rows", "--rows"),
        ("me --row 8", "--row"),
        ("", "AGENT is required: who plays"),
    ],
)
def test_invalid_command_lines_are_refused(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        asked(words)
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("show: error: ")
    assert message in line
    assert line.endswith("(see --help)")


def test_help_lists_every_option(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no word is broken
    with pytest.raises(SystemExit) as caught:
        asked("--help")
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in (
        "AGENT who plays",
        "--players N [N ...] number of players (default: 2)",
        "--side {front,back} side of the board (default: front)",
        "names here numbers: --rate X 100 % or less (default: 0.5) --rows N games",
        "--out FILE where (default: none)",  # after "-o," since Python 3.13, "-o FILE," before
        "--against AGENT [AGENT ...] opponents (default: random,greedy)",
        "--prior {greedy} what to start from (default: none)",
        "--resume resume an interrupted run",
        "--config FILE",
    ):
        assert part in text
