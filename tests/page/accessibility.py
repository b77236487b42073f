"""Checks of accessibility by axe-core, run in the page that a browser shows.

axe-core lies beside this module (``axe/``, version 4.14.1 of the npm package, with its license).
The driver runs it, so the page's own content security policy stays in force.

Drawings are exempt from one rule, label-content-name-mismatch (a label contains the visible text):
the digits on a drawn card are no label.
"""

from functools import cache
from pathlib import Path
from typing import Final

from chromium import Browser

_RUN: Final = """
    const done = arguments[1];
    const isDrawn = (node) => document.querySelector(node.target[0])?.closest("svg");
    const drawn = (rule, node) => rule.id === "label-content-name-mismatch" && isDrawn(node);
    axe.run(arguments[0] ?? document, {resultTypes: ["violations"]}).then(
      ({violations}) => done(violations.flatMap((rule) => rule.nodes.filter((node) => !drawn(rule, node)).map((node) =>
        `${rule.id} (${rule.impact}): ${node.html.slice(0, 300)} — ${node.failureSummary}`))),
      (error) => done([`axe-core failed: ${error}`]));
"""


@cache
def _axe() -> str:
    return (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Browser, selector: str | None = None) -> list[str]:
    """Return axe-core's violations in the current page or in a part of it, a text each."""
    page.run(_axe())
    page.driver.set_script_timeout(300)
    return list(page.driver.execute_async_script(_RUN, selector))


def check_accessible(page: Browser, selector: str | None = None) -> None:
    """Fail with all of axe-core's violations in the current page."""
    found = violations(page, selector)
    assert not found, "\n\n".join(found)
