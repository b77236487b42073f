"""What teaches the game: the rules, and the lesson."""

from __future__ import annotations

from typing import Final

from starlette.routing import BaseRoute, Route

from skyenv.page.requests import page

ROUTES: Final[list[BaseRoute]] = [Route("/rules", page("rules.html"), methods=["GET"])]
