"""Board files: which rings they may describe, what they change, and how each mistake is told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenario import bare_game, district
from skyenv import Board, BoardError, Game, Games, OptionError, load_board, make_board
from skyenv.rules.board import MAX_BOARD_FILE, as_board, default_ring
from skyenv.rules.components import COLOURS, DISTRICTS, PLOTS

REVERSED = ("gray", "orange", "brown", "violet", "green")


def board_file(path: Path, text: str | bytes) -> Path:
    """A file with this content."""
    file = path / "board.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.rule("COM-7", "COM-9")
def test_the_printed_order() -> None:
    """A board without any rings is the printed one."""
    assert default_ring("front") == ("green", "violet", "brown", "orange", "gray")
    assert default_ring("back") == ("green", "violet", "brown", "orange", "gray", "sixth")
    for side in ("front", "back"):
        board = make_board(side)
        assert board == Board(side, (default_ring(side),) * 7)
        assert board == make_board(side, {}) == as_board(None, side)
        assert as_board(None, side) is as_board(None, side)  # every new game asks for it
        assert board.ring_size == len(default_ring(side))


@pytest.mark.rule("COM-7", "COM-9")
@pytest.mark.parametrize(
    ("text", "side", "changed"),
    [
        ("", "front", {}),
        ("[rings]", "back", {}),
        ("# nothing\n\n", "front", {}),
        (
            '[rings]\nTSQ = ["gray", "orange", "brown", "violet", "green"]',
            "front",
            {"TSQ": REVERSED},
        ),
        ('rings.W34 = ["gray", "orange", "brown", "violet", "green"]', "front", {"W34": REVERSED}),
        (
            'rings = { E52 = ["gray", "orange", "brown", "violet", "green"] }',
            "front",
            {"E52": REVERSED},
        ),
        (
            '[rings]\r\nE34 = [\r\n  "sixth", "gray", "orange",  # a comment\r\n'
            '  "brown", "violet", "green",\r\n]\r\n',
            "back",
            {"E34": ("sixth", *REVERSED)},
        ),
    ],
)
def test_good_files(
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


@pytest.mark.parametrize("side", ["front", "back"])
def test_all_districts_at_once(tmp_path: Path, side: str) -> None:
    """Each with a ring of its own; the record of every game holds it."""
    rng = np.random.default_rng(2)
    rings = {name: rng.permutation(default_ring(side)).tolist() for name in DISTRICTS}
    text = "[rings]\n" + "".join(f"{name} = {ring}\n" for name, ring in rings.items())
    board = load_board(board_file(tmp_path, text), side)
    assert [list(ring) for ring in board.rings] == list(rings.values())
    games = Games(2, side=side, board=board, seed=1)
    for index, name in enumerate(DISTRICTS):
        numbers = [PLOTS.index(plot) for plot in rings[name]]
        assert games.state["ring"][1, index].tolist() == numbers + [-1] * (6 - len(numbers))
    assert Game(side=side, board=board, seed=1).header()["rings"] == list(rings.values())


def wrong_ring(ring: str) -> str:
    return f"[rings]\nW34 = {list(COLOURS)}\nE42 = {ring}\n"


MISTAKES: dict[str, tuple[str, str | None, str]] = {
    # text of a front side's file, district, message
    "missing plot": (
        wrong_ring('["green", "violet", "brown", "orange"]'),
        "E42",
        "gray is there 0 times",
    ),
    "plot twice": (
        wrong_ring('["green", "violet", "brown", "orange", "gray", "green"]'),
        "E42",
        "green is there 2 times",
    ),
    "plot instead of another": (
        wrong_ring('["green", "violet", "brown", "orange", "orange"]'),
        "E42",
        "orange is there 2 times",
    ),
    "unknown plot": (
        wrong_ring('["green", "violet", "brown", "orange", "pink"]'),
        "E42",
        "'pink' is no plot of this side",
    ),
    "black": (
        wrong_ring('["green", "violet", "brown", "orange", "black"]'),
        "E42",
        "'black' is no plot of this side",
    ),
    "the other side's plot": (
        wrong_ring('["green", "violet", "brown", "orange", "gray", "sixth"]'),
        "E42",
        "'sixth' is no plot",
    ),
    "number for a plot": (wrong_ring("[0, 1, 2, 3, 4]"), "E42", "0 is no plot"),
    "list for a plot": (wrong_ring('[["green"], "violet"]'), "E42", r"\['green'\] is no plot"),
    "capital letter": (
        wrong_ring('["Green", "violet", "brown", "orange", "gray"]'),
        "E42",
        "'Green' is no plot",
    ),
    "empty ring": (wrong_ring("[]"), "E42", "green is there 0 times"),
    "very long ring": (wrong_ring(str(["green"] * 5000)), "E42", "green is there 5000 times"),
    "text for a ring": (
        wrong_ring('"green"'),
        "E42",
        "its ring must be a list of plots, not 'green'",
    ),
    "number for a ring": (wrong_ring("7"), "E42", "its ring must be a list of plots, not 7"),
    "table for a ring": (wrong_ring("{ a = 1 }"), "E42", "its ring must be a list of plots"),
    "unknown district": (
        f"[rings]\nW99 = {list(COLOURS)}",
        "W99",
        "unknown district 'W99'; the districts are W34, E34",
    ),
    "a place that is no district": (
        f"[rings]\nCITY_HALL = {list(COLOURS)}",
        "CITY_HALL",
        "unknown district 'CITY_HALL'",
    ),
    "district in small letters": (
        f"[rings]\ntsq = {list(COLOURS)}",
        "tsq",
        "unknown district 'tsq'",
    ),
    "district outside of the table": (
        f"TSQ = {list(COLOURS)}",
        None,
        "unknown entry 'TSQ'; only the table 'rings' is allowed",
    ),
    "another table": ("[rings]\n[streets]\n", None, "unknown entry 'streets'"),
    "rings as a list": ("rings = []", None, r"'rings' must be a table, as in \[rings\]"),
    "rings as a text": ('rings = "TSQ"', None, "'rings' must be a table"),
    "rings as a list of tables": ("[[rings]]", None, "'rings' must be a table"),
    "district twice": (f"[rings]\nTSQ = {list(COLOURS)}\nTSQ = {list(COLOURS)}", None, "not TOML"),
    "no TOML": ("green, violet", None, "not TOML: .*line 1"),
    "JSON": ('{"rings": {}}', None, "not TOML"),
    "unfinished": ('[rings]\nTSQ = ["green"', None, "not TOML"),
    "deeply nested": ("a = " + "[" * 60_000, None, "not TOML"),
    "a number beyond counting": ("a = " + "9" * 5000, None, "board.toml: "),
    "a null": ('a = "\0"', None, "not TOML"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes(tmp_path: Path, what: str) -> None:
    """One sentence with the file, the district and the mistake; the same through Game and Games."""
    text, name, message = MISTAKES[what]
    file = board_file(tmp_path, text)
    for use in (
        lambda: load_board(file, "front"),
        lambda: Game(board=file),
        lambda: Games(2, board=str(file)),
    ):
        with pytest.raises(BoardError, match=message) as caught:
            use()
        assert caught.value.district == name
        assert str(caught.value).startswith(f"board file {file}: ")
        assert name is None or name in str(caught.value)
        assert len(str(caught.value)) < len(str(file)) + 250
        assert "\n" not in str(caught.value)


def test_a_back_sides_ring_needs_the_sixth_plot(tmp_path: Path) -> None:
    file = board_file(tmp_path, f"[rings]\nW52 = {list(COLOURS)}")
    with pytest.raises(BoardError, match="district W52: sixth is there 0 times") as caught:
        load_board(file, "back")
    assert caught.value.district == "W52"
    load_board(file, "front")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "not TOML"),
        (b"\x00" * 100, "not TOML"),
        (b"# " + b"x" * MAX_BOARD_FILE, f"larger than {MAX_BOARD_FILE} bytes"),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BoardError, match=message):
        load_board(board_file(tmp_path, content), "front")


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    assert load_board(board_file(tmp_path, b"#" * MAX_BOARD_FILE), "front") == make_board("front")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """A sparse file of a terabyte: refused at once."""
    file = tmp_path / "huge.toml"
    with open(file, "wb") as huge:
        huge.truncate(1 << 40)
    with pytest.raises(BoardError, match="larger than"):
        load_board(file, "front")


@pytest.mark.parametrize(
    "path", ["nowhere.toml", "", ".", "a/b/c.toml", "no\0where.toml", "x" * 5000], ids=range(6)
)
def test_files_that_cannot_be_read(tmp_path: Path, path: str) -> None:
    wanted = tmp_path / path if path else path
    with pytest.raises(BoardError, match="board file"):
        load_board(wanted, "front")


@pytest.mark.parametrize("side", ["left", "", "Front", None, 0])
def test_sides_that_there_are_not(tmp_path: Path, side: Any) -> None:
    for use in (
        lambda: make_board(side),
        lambda: load_board(board_file(tmp_path, ""), side),
        lambda: default_ring(side),
    ):
        with pytest.raises(OptionError, match="side must be 'front' or 'back'"):
            use()


@pytest.mark.parametrize("board", [7, ["W34"], {"rings": {}}, b"board.toml", True])
def test_boards_of_no_kind(board: Any) -> None:
    with pytest.raises(
        OptionError, match="board must be a Board, the path of a board file, or None"
    ):
        Game(board=board)


def test_a_board_belongs_to_its_side() -> None:
    with pytest.raises(OptionError, match="the board given is the front side, but side is 'back'"):
        Game(side="back", board=make_board("front"))


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
def test_a_board_made_by_hand_is_checked_too(rings: Any) -> None:
    """However a board comes about, no game is played on one that can't be."""
    with pytest.raises(OptionError):
        Game(board=Board("front", rings))


def test_boards_are_values() -> None:
    """Equal if they say the same, usable as keys; errors survive being sent to another process."""
    board = make_board("front", {"W34": list(REVERSED)})
    assert board == make_board("front", {"W34": REVERSED}) != make_board("front")
    assert len({board, make_board("front", {"W34": REVERSED})}) == 1
    assert pickle.loads(pickle.dumps(board)) == board
    error = pickle.loads(pickle.dumps(BoardError("wrong", "W34")))
    assert (type(error), str(error), error.district) == (BoardError, "wrong", "W34")


@pytest.mark.rule("COM-6", "COM-7", "SCO-2")
def test_rings_decide_which_plots_are_next_to_each_other(tmp_path: Path) -> None:
    """The front side: a skyscraper scores for the two plots beside it, in its own district alone,
    the ring being closed.
    """
    file = board_file(tmp_path, '[rings]\nTSQ = ["green", "brown", "gray", "violet", "orange"]')
    other = load_board(file, "front")
    for board, neighbours in ((None, {"violet", "gray"}), (other, {"brown", "orange"})):
        game = bare_game(board=board)
        district(game, "TSQ", green="boutique jeweller")
        values = dict(zip(COLOURS, game.state["value"][3].tolist(), strict=True))
        assert values == {plot: 3 if plot in neighbours else 1 for plot in COLOURS}
        assert (np.delete(game.state["value"], 3, axis=0) == 1).all()
    game = bare_game(board=other)
    district(game, "TSQ", brown=(1, 2), green="boutique", gray="gallery")
    game.state["place"][0] = 3
    game.refresh()
    scored = next(event for event in game.play("option D TSQ") if event["event"] == "vp")
    assert scored["vp"] == [0, 6, 0]


@pytest.mark.rule("COM-8", "COM-9", "SCO-2")
def test_the_sixth_plot_has_its_place_in_the_ring(tmp_path: Path) -> None:
    """Printed between gray and green, which then are no longer neighbours; a file can put it
    elsewhere.
    """
    file = board_file(
        tmp_path, '[rings]\nTSQ = ["green", "violet", "sixth", "brown", "orange", "gray"]'
    )
    other = load_board(file, "back")
    for board, beside, of_green in (
        (None, {"gray", "green"}, {"violet"}),
        (other, {"violet", "brown"}, {"violet", "gray"}),
    ):
        game = bare_game(side="back", board=board)
        district(game, "TSQ", sixth="boutique jeweller")
        values = dict(zip(COLOURS, game.state["value"][3].tolist(), strict=True))
        assert values == {plot: 3 if plot in beside else 1 for plot in COLOURS}
        district(game, "TSQ", green="boutique", sixth="boutique")
        values = dict(zip(COLOURS, game.state["value"][3].tolist(), strict=True))
        assert {plot for plot in COLOURS if values[plot] == 2} == of_green | beside
