"""How games are written: as INTERFACE.md says, and so that they are read back to the same bytes."""

from __future__ import annotations

import io
from typing import Any

import pytest
from recorded import played

from skyenv import records
from skyenv.engine.game import Game
from skyenv.errors import OptionError


def test_the_header_is_written_as_the_interface_shows_it() -> None:
    head, *_ = Game(3, seed=7).to_record(["random", "random", "random"]).splitlines()
    ring = '["green", "violet", "brown", "orange", "gray"]'
    assert head == (
        '{"format": "skyenv-record", "version": 1, "players": 3, "side": "front", '
        f'"rings": [{", ".join([ring] * 7)}], "max_turns": 500, "seed": 7, '
        '"agents": ["random", "random", "random"]}'
    )


def test_a_record_ends_in_a_newline_so_that_records_can_be_joined() -> None:
    text = played(2, max_turns=3).to_record() + played(3, max_turns=3).to_record()
    assert text.endswith("}\n")
    assert records.verify(io.StringIO(text)).games == 2


def test_the_last_newline_may_be_missing() -> None:
    text = played(2, max_turns=3).to_record()
    assert records.verify(io.StringIO(text[:-1])).games == 1


def test_names_are_written_as_they_are_and_read_back() -> None:
    names = [
        "zufällig",
        "随机",
        "\u2028\x85",
    ]  # the last two end a line for str.splitlines(), not for JSON Lines
    text = played(3, max_turns=3).to_record(names)
    assert "zufällig" in text
    assert "随机" in text
    (lines,) = records.iter_games(io.BytesIO(text.encode("utf-8")))
    assert lines.header.value["agents"] == names


@pytest.mark.parametrize(
    "agents", ["ab", [], ["random"], ["random", 1], ["random", "\ud800"], ["a", "b", "c"]]
)
def test_agents_must_be_one_text_per_seat(agents: list[Any]) -> None:
    with pytest.raises(OptionError, match="agents"):
        Game(2, seed=1).to_record(agents)
