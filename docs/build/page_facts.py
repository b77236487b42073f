"""Generator of ``skyenv/page/static/game.js``: facts of the game and the page for JavaScript."""

import json
from pathlib import Path
from typing import Final

from docs.build.rules_page import STATIC
from skyenv.analysis.win_chance import ESTIMATOR
from skyenv.page.strengths import STRENGTHS, WORDS, points
from skyenv.render import panels
from skyenv.rules import actions, components

NAMES: Final = (
    (actions, ("PLOT", "TAKE", "MOVE", "PASS", "BID", "BID_DONE", "STOP")),
    (
        components,
        ("CARD_COLOURS", "BLACK", "LOWEST_CARD", "NUM_RANKS", "NUM_PLACES"),
    ),
    (panels, ("CARDS_FROM", "CARD_STEP", "CARDS_LEAVE")),
)


def written() -> dict[Path, str]:
    """Return the module, by its path in the repository."""
    facts = {name: getattr(module, name) for module, names in NAMES for name in names}
    facts |= {"USUAL": STRENGTHS["Banker"][0], "ESTIMATOR": ESTIMATOR, "STRONGEST": [*points()][:4]}
    lines = "".join(f"export const {name} = {json.dumps(fact)};\n" for name, fact in facts.items())
    words = "".join(f"  {json.dumps(pair)},\n" for pair in WORDS.items())
    lines += f"export const WORDS = new Map([\n{words}]);\n"
    return {STATIC / "game.js": f"// Facts from Python; `make docs` writes this file.\n{lines}"}
