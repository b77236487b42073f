"""Checkpoints of trainings: pickled, with a checksum.

They can run code when they are read: use only those that you trust.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any, Final

from skyenv import OBSERVATION_SIZE
from skyenv.errors import CheckpointError, OptionError, shown
from skyenv.files import write_atomically

MAGIC: Final = b"skyenv-training-checkpoint-6\n"
"""Has a new number whenever what a learner packs means something else, although it would unpack."""
DIGEST: Final = hashlib.sha256().digest_size
CONTENT: Final[dict[str, type]] = {
    "program": str,
    "version": str,
    "observation_size": int,
    "config": dict,
    "updates": int,
    "decisions": int,
    "seconds": float,
    "curve": list,
    "on_board": int,
    "episodes": object,
    "learner": dict,
}
"""What a checkpoint tells, and of which type it is."""


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint, atomically.

    Args:
        path: of the file. state: what :data:`CONTENT` lists, less the length of the observation.

    Raises:
        OptionError: something in it can't be pickled. OSError: the file can't be written.
    """
    try:
        body = pickle.dumps({**state, "observation_size": OBSERVATION_SIZE})
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise OptionError(
            f"fixed_opponents: one of them can't be kept in a checkpoint ({error!s:.100})"
        ) from error
    write_atomically(path, MAGIC + hashlib.sha256(body).digest() + body)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint.

    Raises:
        CheckpointError: the file is missing, damaged, something else, or made for other
            observations.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"no checkpoint to go on from: {path}: {error.strerror}") from error
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is no training checkpoint of this version")
    digest, body = data[len(MAGIC) : len(MAGIC) + DIGEST], data[len(MAGIC) + DIGEST :]
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError(
            f"{path} is damaged: its content doesn't have the checksum that it was written with"
        )
    try:
        state = pickle.loads(body)
    except Exception as error:  # it is whole; what it refers to isn't here
        raise CheckpointError(
            f"{path} can't be read by this version ({type(error).__name__}: {error!s:.100})"
        ) from error
    if not isinstance(state, dict):
        raise CheckpointError(
            f"{path} holds something else than a training's checkpoint: a {type(state).__name__}"
        )
    for name, kind in CONTENT.items():
        if not isinstance(state.get(name), kind):
            raise CheckpointError(
                f"{path} holds something else than a training's checkpoint: its {name} is "
                f"{shown(state.get(name))}"
            )
    if state["observation_size"] != OBSERVATION_SIZE:
        raise CheckpointError(
            f"{path} was trained for observations of length {state['observation_size']}; they have "
            f"{OBSERVATION_SIZE} now"
        )
    return state
