"""The commands ``show`` and ``film``."""

from __future__ import annotations

from pathlib import Path

import pytest

from processes import main_of
from skyenv import records
from skyenv.engine.game import Game
from skyenv.options import BAD_DATA
from skyenv.render.raster import png
from skyenv.render.svg import svg
from skyenv.render.text import text


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of two short games, in the working directory."""
    monkeypatch.chdir(tmp_path)
    assert main_of("record --games 2 --seed 5 --max-turns 8 -o games.jsonl") == 0
    return tmp_path / "games.jsonl"


def test_show_prints_the_position(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("show games.jsonl") == 0
    assert text(Game.replay(records.nth_game(games)).state) in capsys.readouterr().out
    game = Game.replay(records.nth_game(games, 2), 20)
    assert main_of("show games.jsonl --game 2 --step 20 --seat 1") == 0
    output = capsys.readouterr().out
    assert output.startswith("games.jsonl, game 2, after 20 actions: seat ")
    assert output.endswith(f"\n\n{text(game.state, 1)}\n")


def test_show_draws_the_position(games: Path) -> None:
    words = "--game 2 --step 20 --seat 1 --theme dark --svg a.svg --png a.png --width 800"
    assert main_of(f"show games.jsonl {words}") == 0
    game = Game.replay(records.nth_game(games, 2), 20)
    drawn = svg(game.state, 1, theme="dark", events=game.events, agents=["random"] * 2, width=800)
    assert games.with_name("a.svg").read_text(encoding="utf-8") == drawn
    assert games.with_name("a.png").read_bytes() == png(drawn)


def test_both_pictures_are_drawn_or_none(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("skyenv.render.extras.find_spec", lambda name: None)
    assert main_of("show games.jsonl --svg a.svg --png a.png") == BAD_DATA
    assert "install the extra [pictures]" in capsys.readouterr().err
    assert [*games.parent.iterdir()] == [games]


@pytest.mark.usefixtures("games")
def test_film_writes_a_film(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--game 2 --from 3 --to 7 --every 2 --width 200 -o film.gif"
    assert main_of(f"film games.jsonl {words}") == 0
    assert capsys.readouterr().out == "film.gif: 3 pictures\n"
    assert Path("film.gif").read_bytes().startswith(b"GIF89a")
