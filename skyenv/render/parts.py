"""A drawing made of named parts: each is a pure function of what it shows, so what shows the same
isn't drawn again.

A part's text is SVG that may name other parts by a :func:`slot`. What a part shows of a position is
read with :class:`Fields`: as bytes, which make up a key at next to no cost; they become numbers
only where the part has to be drawn.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import operator
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Final, ParamSpec

import numpy as np

from skyenv.rules.state import GAME_DTYPE

ROOT: Final = "table"
"""The part that holds all others."""
_SLOT: Final = re.compile(r'<g data-part="([^"]*)"/>')
_DIGEST: Final = 6
"""Letters of a digest: 36 bits.

It tells a hundred parts of one browser apart, and isn't meant to withstand anybody.
"""
_Arguments = ParamSpec("_Arguments")


def slot(name: str) -> str:
    """The place of another part in a part's text."""
    return f'<g data-part="{name}"/>'


@dataclass(frozen=True)
class Part:
    """A part of a drawing.

    Attributes:
        name: what it is of: letters, digits, dots, spaces; one part of a drawing has it.
        text: SVG, with slots for the parts in it.
    """

    name: str
    text: str

    @cached_property
    def pieces(self) -> list[str]:
        """Its text, in turns with the names of the parts in it: text, name, text, …, text."""
        return _SLOT.split(self.text)

    @cached_property
    def digest(self) -> str:
        """Six letters of A-Z a-z 0-9 - _ that tell it from others by its name and its text."""
        content = hashlib.blake2b(
            f"{self.name}\0{self.text}".encode("utf-8", "replace"), digest_size=6
        ).digest()
        return base64.urlsafe_b64encode(content).decode()[:_DIGEST]


class Drawing:
    """All parts of a drawing.

    Attributes:
        parts: by their names, ROOT among them.
    """

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    def add(self, part: Part) -> str:
        """Add a part; its slot, for the text in which it stands."""
        self.parts[part.name] = part
        return slot(part.name)

    def text(self) -> str:
        """The whole drawing."""
        texts: list[str] = []
        self._write(ROOT, texts)
        return "".join(texts)

    def _write(self, name: str, texts: list[str]) -> None:
        for i, piece in enumerate(self.parts[name].pieces):
            if i % 2:
                self._write(piece, texts)
            else:
                texts.append(piece)

    def changes(self, known: Container[str] = ()) -> dict[str, list[str]]:
        """The parts that somebody lacks who has those with the digests `known`: by name their
        digest and their text.
        """
        return {
            part.name: [part.digest, part.text]
            for part in self.parts.values()
            if part.digest not in known
        }


def digests(text: str) -> frozenset[str]:
    """Digests that were written one behind the other."""
    return frozenset(text[i : i + _DIGEST] for i in range(0, len(text), _DIGEST))


# ---- what isn't drawn again ----

_memories: Final[list[Any]] = []


def remembered(most: int) -> Callable[[Callable[_Arguments, Part]], Callable[_Arguments, Part]]:
    """For functions that draw a part: the last so many drawings are kept, by all arguments.

    Threads may share them.
    """

    def decorate(draw: Callable[_Arguments, Part]) -> Callable[_Arguments, Part]:
        memory = functools.lru_cache(maxsize=most)(draw)
        _memories.append(memory)
        return memory  # type: ignore[return-value]  # typeshed doesn't keep the arguments' types

    return decorate


def forget() -> None:
    """Forget all drawings that were kept, to measure what drawing costs."""
    for memory in _memories:
        memory.cache_clear()


# ---- what a part shows ----


class Fields:
    """Some fields of a game's record, or of all of them the row with some index.

    Args:
        names: fields of GAME_DTYPE.
        depth: how many indices lead to the row.
    """

    def __init__(self, *names: str, depth: int = 0) -> None:
        self._fields: list[tuple[str, int, list[int], int, Any, tuple[int, ...]]] = []
        self._spans: dict[tuple[int, ...], list[tuple[int, int]]] = {}  # as many as there are rows
        of_record = GAME_DTYPE.fields
        assert of_record is not None
        for name in names:
            dtype, offset = of_record[name][:2]
            shape, base = dtype.shape, dtype.base
            strides = [
                int(np.prod(shape[i + 1 :], dtype=int)) * base.itemsize for i in range(depth)
            ]
            size = int(np.prod(shape[depth:], dtype=int)) * base.itemsize
            self._fields.append((name, offset, strides, size, base, shape[depth:]))

    def read(self, raw: bytes, *index: int) -> bytes:
        """What the fields hold in a record (its bytes), as a key."""
        spans = self._spans.get(index) or self._spans.setdefault(index, self._spans_of(index))
        return b"".join([raw[start:end] for start, end in spans])

    def _spans_of(self, index: tuple[int, ...]) -> list[tuple[int, int]]:
        """Where the fields begin and end in a record's bytes."""
        starts = [
            offset + sum(map(operator.mul, strides, index))
            for _, offset, strides, *_ in self._fields
        ]
        return [
            (start, start + field[3]) for start, field in zip(starts, self._fields, strict=True)
        ]

    def numbers(self, key: bytes) -> Any:
        """The same as numbers and lists of numbers, by the fields' names."""
        found, start = SimpleNamespace(), 0
        for name, _, _, size, base, shape in self._fields:
            setattr(
                found,
                name,
                np.frombuffer(key, base, size // base.itemsize, start).reshape(shape).tolist(),
            )
            start += size
        return found
