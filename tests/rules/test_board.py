"""Board files: which rings they may describe, what they change, and how each mistake is told."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from skyenv import Board, BoardError, Game, Games, OptionError, load_board, make_board
from skyenv.rules.board import as_board, default_ring
from skyenv.rules.components import COLOURS, DISTRICTS

REVERSED = ("gray", "orange", "brown", "violet", "green")


def board_file(path: Path, text: str | bytes) -> Path:
    """A file with this content."""
    file = path / "board.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.rule("COM-7", "COM-9")
def test_the_default_board_has_the_printed_order() -> None:
    """A board without any rings is the printed one."""
    assert default_ring("front") == ("green", "violet", "brown", "orange", "gray")
    assert default_ring("back") == ("green", "violet", "brown", "orange", "gray", "sixth")
    for side in ("front", "back"):
        board = make_board(side)
        assert board == Board(side, (default_ring(side),) * 7)
        assert board == make_board(side, {}) == as_board(None, side)


@pytest.mark.rule("COM-7", "COM-9")
@pytest.mark.parametrize(
    ("text", "side", "changed"),
    [
        ("", "front", {}),
        (
            '[rings]\nTSQ = ["gray", "orange", "brown", "violet", "green"]',
            "front",
            {"TSQ": REVERSED},
        ),
        (
            '[rings]\r\nE34 = [\r\n  "sixth", "gray", "orange",  # a comment\r\n'
            '  "brown", "violet", "green",\r\n]\r\n',
            "back",
            {"E34": ("sixth", *REVERSED)},
        ),
    ],
)
def test_board_files_change_only_the_named_districts(
    tmp_path: Path, text: str, side: str, changed: dict[str, tuple[str, ...]]
) -> None:
    """Only the districts that differ stand in them; the others have the printed order."""
    file = board_file(tmp_path, text)
    board = load_board(file, side)
    assert board == load_board(str(file), side)
    assert board.side == side
    assert board.rings == tuple(changed.get(name, default_ring(side)) for name in DISTRICTS)
    assert (
        Game(board=file, side=side, seed=1).board
        == Games(2, board=str(file), side=side, seed=1).board
        == board
    )


def wrong_ring(ring: str) -> str:
    return f"[rings]\nW34 = {list(COLOURS)}\nE42 = {ring}\n"


RING = (
    "district E42: its ring must be a list of green, violet, brown, orange, gray, each once, not "
)
MISTAKES: dict[str, tuple[str | bytes, str]] = {
    # content of a front side's file, message
    "missing plot": (wrong_ring('["green", "violet", "brown", "orange"]'), RING),
    "plot twice": (wrong_ring('["green", "violet", "brown", "orange", "gray", "green"]'), RING),
    "unknown plot": (wrong_ring('["green", "violet", "brown", "orange", "pink"]'), RING),
    "the other side's": (
        wrong_ring('["green", "violet", "brown", "orange", "gray", "sixth"]'),
        RING,
    ),
    "number for a plot": (wrong_ring("[0, 1, 2, 3, 4]"), RING),
    "very long ring": (wrong_ring(str(["green"] * 5000)), RING),
    "text for a ring": (wrong_ring('"green"'), f"{RING}'green'"),
    "table for a ring": (wrong_ring("{ a = 1 }"), RING),
    "unknown district": (
        f"[rings]\nCITY_HALL = {list(COLOURS)}",
        "unknown district 'CITY_HALL'; the districts are W34, E34",
    ),
    "district outside of the table": (f"TSQ = {list(COLOURS)}", "it must hold one table, [rings]"),
    "another table": ("[rings]\n[streets]\n", "it must hold one table, [rings]"),
    "rings as a list": ("rings = []", "it must hold one table, [rings]"),
    "district twice": (f"[rings]\nTSQ = {list(COLOURS)}\nTSQ = {list(COLOURS)}", "not TOML"),
    "JSON": ('{"rings": {}}', "not TOML"),
    "deeply nested": ("a = " + "[" * 60_000, "not TOML"),
    "a number beyond counting": ("a = " + "9" * 5000, "not TOML"),
    "UTF-16": (b"\xff\xfe\x00", "not TOML"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_errors_name_the_file_the_district_and_the_fault(tmp_path: Path, what: str) -> None:
    """One sentence with the file, the district and the mistake; the same through Game and Games."""
    content, message = MISTAKES[what]
    file = board_file(tmp_path, content)
    for use in (
        lambda: load_board(file, "front"),
        lambda: Game(board=file),
        lambda: Games(2, board=str(file)),
    ):
        with pytest.raises(BoardError, match=re.escape(f"board file {file}: {message}")) as caught:
            use()
        assert len(str(caught.value)) < len(str(file)) + 300
        assert "\n" not in str(caught.value)


def test_a_back_sides_ring_needs_the_sixth_plot(tmp_path: Path) -> None:
    file = board_file(tmp_path, f"[rings]\nW52 = {list(COLOURS)}")
    with pytest.raises(BoardError, match=r"district W52: its ring must be a list of .*, sixth, "):
        load_board(file, "back")
    load_board(file, "front")


@pytest.mark.parametrize(
    "path", ["nowhere.toml", "", ".", "a/b/c.toml", "no\0where.toml", "x" * 5000], ids=range(6)
)
def test_unreadable_board_files_are_refused(tmp_path: Path, path: str) -> None:
    wanted = tmp_path / path if path else path
    with pytest.raises(BoardError, match="board file"):
        load_board(wanted, "front")


@pytest.mark.parametrize("side", ["left", "", "Front", None, 0])
def test_unknown_sides_are_refused(tmp_path: Path, side: Any) -> None:
    for use in (
        lambda: make_board(side),
        lambda: load_board(board_file(tmp_path, ""), side),
        lambda: default_ring(side),
    ):
        with pytest.raises(OptionError, match="side must be one of front, back"):
            use()


@pytest.mark.parametrize(
    "rings",
    [
        (),
        (COLOURS,) * 6,
        (("green",) * 5,) * 7,
        (COLOURS[:4],) * 7,
        (("pink", *COLOURS[1:]),) * 7,
        ((*COLOURS, "sixth"),) * 7,
    ],
)
def test_boards_made_by_hand_are_validated(rings: Any) -> None:
    """However a board comes about, no game is played on one that can't be."""
    with pytest.raises(OptionError):
        Game(board=Board("front", rings))


def test_equal_boards_are_equal_and_hashable() -> None:
    """Equal if they say the same, and usable as keys."""
    board = make_board("front", {"W34": list(REVERSED)})
    assert board == make_board("front", {"W34": REVERSED}) != make_board("front")
    assert len({board, make_board("front", {"W34": REVERSED})}) == 1
    assert pickle.loads(pickle.dumps(board)) == board
