"""Many similar drawings in little space: every part of them that is alike is stored once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

_TOKEN: Final = re.compile(r'<(?:[^>"]|"[^"]*")*>|[^<]+')


class Frames:
    """Drawings (well-formed XML) as a graph of shared parts.

    A *part* is a text, or a list of numbers of earlier parts whose texts follow one another;
    element by element, equal parts are stored once. The text of a frame is that of its part.

    Attributes:
        parts: all parts; lists name only parts that stand before them.
        frames: the number of the part of each drawing added, in their order.
    """

    def __init__(self) -> None:
        self.parts: list[str | list[int]] = []
        self.frames: list[int] = []
        self._numbers: dict[Any, int] = {}

    def add(self, drawing: str) -> None:
        """Add a drawing.

        Raises:
            ValueError: its elements aren't closed.
        """
        open_elements: list[list[int]] = [[]]
        for token in _TOKEN.findall(drawing):
            if token.startswith("</"):
                children = open_elements.pop()
                children.append(self._part(token))
                if not open_elements:
                    raise ValueError(f"{token} closes nothing")
                open_elements[-1].append(self._part(self._joined(children)))
            elif token.startswith("<") and not token.endswith("/>") and token[1] not in "?!":
                open_elements.append([self._part(token)])
            else:
                open_elements[-1].append(self._part(token))
        if len(open_elements) != 1:
            raise ValueError("the drawing has elements that aren't closed")
        self.frames.append(self._part(self._joined(open_elements[0])))

    def _joined(self, children: list[int]) -> str | list[int]:
        """A small element is one text; a large one names its parts."""
        texts = [self.parts[child] for child in children]
        if all(isinstance(part, str) for part in texts) and sum(map(len, texts)) < 200:
            return "".join(str(part) for part in texts)
        return children

    def _part(self, part: str | list[int]) -> int:
        key = part if isinstance(part, str) else tuple(part)
        if key not in self._numbers:
            self._numbers[key] = len(self.parts)
            self.parts.append(part)
        return self._numbers[key]

    def payload(self) -> dict[str, Any]:
        """Parts that are used, and the frames, as JSON can hold them."""
        used: set[int] = set()
        pending = list(self.frames)
        while pending:
            number = pending.pop()
            if number not in used:
                used.add(number)
                part = self.parts[number]
                pending += [] if isinstance(part, str) else part
        order = {number: position for position, number in enumerate(sorted(used))}
        parts = [self.parts[number] for number in sorted(used)]
        return {
            "parts": [
                part if isinstance(part, str) else [order[child] for child in part]
                for part in parts
            ],
            "frames": [order[number] for number in self.frames],
        }


def text(parts: Sequence[str | Sequence[int]], number: int) -> str:
    """The text of a part; what the script of an exported page does."""
    part = parts[number]
    return part if isinstance(part, str) else "".join(text(parts, child) for child in part)
