"""The JSON that a seat receives of a game, made from the seat's view alone."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyenv.engine.events import Event, seen_by
from skyenv.engine.game import Game
from skyenv.engine.knowledge import PUBLIC
from skyenv.engine.openings import TASK_TEXTS
from skyenv.engine.rewards import CARD_VP
from skyenv.page.view import guidance
from skyenv.page.view.recent import changed_since_last_turn
from skyenv.render import words
from skyenv.render.parts import Drawing
from skyenv.render.reasons import reason
from skyenv.render.svg import drawing
from skyenv.render.table import if_scored_now, visible_table
from skyenv.render.words import Sentence
from skyenv.rules.actions import BID_DONE, NUM_ACTIONS, OPTION_A, OPTION_C, PASS

THEMES: Final = ("light", "dark")
WIDE: Final = 1200
# Widths of drawings for wide screens and for phones; they have different layouts.
NARROW: Final = 640
Payload = dict[str, Any]  # a JSON object for a browser


# Actions with buttons, as they have no place on the table.
BUTTONS: Final = (OPTION_A, OPTION_C, PASS, *range(BID_DONE, NUM_ACTIONS))

PAYS: Final = (
    "The change of each player's lead in VP, as if all districts were scored; "
    f"each card paid costs its payer {CARD_VP:g} VP, which the others gain"
)
PAYS_OUTCOME: Final = "The task pays 1 for a win, -1 for a loss, 0 if truncated"


@dataclass(frozen=True)
class SeatView:
    """A game from the view of one seat.

    Args:
        game: the game; its hidden cards never enter a payload.
        seat: the viewing seat; PUBLIC: a spectator, who sees public knowledge; None: a game without
            people, all open.
        names: the players' names by seat.
        theme: "light" or "dark".
        narrow: whether to draw for a phone.
        can_act: whether the seat may act if it is its turn.
    """

    game: Game
    seat: int | None
    names: Sequence[str]
    theme: str = THEMES[0]
    narrow: bool = False
    can_act: bool = True

    @property
    def position(self) -> Any:
        """The view shown: the seat's, or the public one; the whole game if all is open."""
        if self.is_open:
            return self.game.state
        return self.game.public_view() if self.seat == PUBLIC else self.game.view(self.seat)

    @property
    def is_open(self) -> bool:
        """Whether all hands are shown, as at the end of a game."""
        return self.seat is None or self.game.is_over

    @property
    def is_to_act(self) -> bool:
        """Whether this seat is to act and may do so."""
        return self.can_act and self.seat is not None and self.seat == self.game.seat

    def payload(self, lines_known: int = 0, drawn: Container[str] = ()) -> Payload:
        """Return the full state for a page.

        Args:
            lines_known: number of log lines that the page has; only later ones are sent.
            drawn: digests of the parts of the drawing that the page has
                (:meth:`skyenv.render.parts.Drawing.changes`).
        """
        position = self.position
        table = visible_table(position)
        lines = self.log()
        reasons = self.reasons(position)
        legal = self.game.legal_actions if self.is_to_act else []
        return {
            "seat": None if self.seat == PUBLIC else self.seat,
            "names": list(self.names),
            "task": task_label(self.game),
            "over": self.game.is_over,
            "yours": self.is_to_act,
            "phase": self.game.phase,
            "scores": self.game.scores,
            "standing": if_scored_now(table.game, table.players).tolist(),
            "decision": guidance.decision(position, table, self.names, legal),
            "changed": changed_since_last_turn(
                seen_by(self.game.events, self.seat), table.players, self.seat
            ),
            "drawing": self.drawing(position).changes(drawn),
            "legal": [
                {
                    "action": action,
                    "text": words.action_text(position, action, self.names),
                    "place": action not in BUTTONS,
                }
                for action in legal
            ],
            "why": {why.text: actions for why, actions in reasons.items()},
            "why_rules": {why.text: why.rules for why in reasons},
            "log": {
                "from": min(lines_known, len(lines)),
                "lines": [line.text for line in lines[lines_known:]],
                "rules": [line.rules for line in lines[lines_known:]],
            },
            "final": final_scoring(self.game, self.names) if self.game.is_over else None,
        }

    def drawing(self, position: Any) -> Drawing:
        """Return the parts of the table's drawing.

        Legal actions are in "legal" alone, so that a part changes only with its content.
        """
        width = NARROW if self.narrow else WIDE
        return drawing(
            position,
            None if self.is_open else self.seat,
            theme=self.theme,
            agents=self.names,
            width=width,
            is_live=self.seat not in (None, PUBLIC),
        )

    def log(self) -> list[Sentence]:
        """Return the log, a line per event, without the final scoring."""
        events = (one for one in seen_by(self.game.events, self.seat) if not _is_final(one))
        return words.Narrator(self.names, self.seat).lines(events)

    def reasons(self, position: Any) -> dict[Sentence, list[int]]:
        """Return the reasons why actions are illegal, each with its actions."""
        if self.seat in (None, PUBLIC):
            return {}
        if not self.is_to_act:  # the game is over, or another seat is to act: one reason for all
            why = reason(position, OPTION_A)
            return {} if why is None else {why: list(range(NUM_ACTIONS))}
        by_reason: dict[Sentence, list[int]] = {}
        table = visible_table(position)
        for action in range(NUM_ACTIONS):
            if why := reason(table, action):
                by_reason.setdefault(why, []).append(action)
        return by_reason


def task_label(game: Game) -> str:
    """Return the heading of a bidding task; "" for whole games."""
    task = game.options.task
    return f"Task {task}: {TASK_TEXTS[task.split('/')[0]]}" if task else ""


def _is_final(event: Event) -> bool:
    """Return whether an event is a step of the final scoring."""
    return event["event"] in ("park", "end") or event.get("why") in ("final", "park")


def final_scoring(game: Game, names: Sequence[str]) -> list[Payload]:
    """Return the final scoring step by step (END-2 to END-4): text, VP of every seat, the scores
    after it, the place that is scored, if any, and at the end of a bidding task the payoffs.
    """
    payload: list[Payload] = []
    scores = np.array(game.scores)
    for event in filter(_is_final, reversed(game.events)):
        vp, what, pays = event.get("vp"), words.event_text(event, names), event.get("payoff")
        if vp is not None:  # the seats' VP stand beside the place
            what = what.partition(":")[0].rpartition(" of ")[2]
        if pays:
            what = PAYS if event["reason"] == "task" else f"{what}. {PAYS_OUTCOME}"
        elif event["event"] == "end":  # the page's heading tells the winner
            what = ""
        scored = {"vp": vp, "scores": scores.tolist(), "pays": pays}
        payload.insert(0, {"text": what, "place": event.get("place"), **scored})
        scores = scores - np.array(vp or 0)
    return payload
