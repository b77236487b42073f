"""The file of a training's state: a version, a checksum, and a body that is read without code."""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from skyenv import OBSERVATION_SIZE
from skyenv.errors import CheckpointError, cause
from skyenv.files import write_atomically

CHECKPOINT: Final = "checkpoint.bin"
# Its number grows with every change of the format.
MAGIC: Final = b"skyenv-training-checkpoint-9\n"
DIGEST: Final = hashlib.sha256().digest_size


def packed(data: Any) -> bytes:
    """Return tensors, numbers and text in dicts and lists as bytes; reading them runs no code."""
    file = io.BytesIO()
    torch.save(data, file)
    return file.getvalue()


def unpacked(content: bytes) -> Any:
    """Return the data that :func:`packed` was given."""
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write tensors, numbers, text and bytes atomically."""
    body = packed({**state, "observation_size": OBSERVATION_SIZE})
    write_atomically(path, MAGIC + hashlib.sha256(body).digest() + body)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the content of a checkpoint; reading it runs no code.

    Raises:
        CheckpointError: the file is damaged, or of another version. OSError: it can't be read.
    """
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is not a training checkpoint of this version")
    digest, body = data[len(MAGIC) : len(MAGIC) + DIGEST], data[len(MAGIC) + DIGEST :]
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not match")
    try:
        state: dict[str, Any] = dict(unpacked(body))
        if state["observation_size"] == OBSERVATION_SIZE:
            return state
    except Exception as error:  # many kinds, from PyTorch and from what isn't a checkpoint
        raise CheckpointError(f"{path} is not a training checkpoint ({cause(error)})") from error
    raise CheckpointError(
        f"{path} has observations of length {state['observation_size']}, not {OBSERVATION_SIZE}"
    )
