"""Games as records: write one, check it, replay it, draw it. Core only."""

import tempfile
from pathlib import Path

from skyenv import Game, make_agent
from skyenv.agents import decide_game
from skyenv.render import svg


def main(folder: Path) -> None:
    """Record a game of greedy against random, replay it and draw its end."""
    seats = [make_agent("greedy"), make_agent("random")]
    game = Game(num_players=2, seed=3)
    while game.seat is not None:
        game.play(decide_game(game, seats[game.seat]))
    print(game.outcome)

    path = folder / "game.jsonl"
    path.write_text(game.to_record([agent.name for agent in seats]), encoding="utf-8")
    print(
        f"{len(path.read_text(encoding='utf-8').splitlines())} lines; `python -m skyenv verify "
        f"{path}` checks them"
    )

    replayed = Game.from_record(
        path.read_text(encoding="utf-8")
    )  # no random generator: the record tells what chance decided
    assert replayed.outcome == game.outcome

    drawing = folder / "position.svg"
    drawing.write_text(svg(replayed.state, seat=0, events=replayed.events), encoding="utf-8")
    print(f"{drawing}: the end, as seat 0 sees it")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="skyenv-")))
