"""Frozen agents, whose decisions never change, for papers and benchmarks.

``trained`` means the current shipped networks; a frozen agent means six that have shipped, by their
files' digests. :func:`keep_frozen` copies such a file before ``trained`` gets a new one. The
networks' inputs are frozen too: the features and the prior of ``greedy``, version 1. A changed
heuristic therefore needs a new class.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError
from skyenv.files import digest_of, write_atomically
from skyenv_agents.learned.networks import NETWORK_SUFFIX, TRAINED, TrainedAgent

# SHA-256 of the network files of `trained-2026a`, by table.
NETWORKS_2026A: Final[Mapping[str, str]] = {
    "2-players": "07865f135fe5bcf53a61ec902093e6e8c5ab5c5a83470c3699b24de318470202",
    "2-players-back": "cf130076e9b0734298d1bfcc338d2518ff093b40f71f9a9cc4e3e3096f8a2a61",
    "3-players": "92d8a6e1df6c5f2e85152d5baaa054dbf99a6d0f3bb29d3642c8166613bdb330",
    "3-players-back": "4d70106df03651c3006b4e039dd6b0984b940fa1d0a097dd166d760aae14b95b",
    "4-players": "624b2dbb5fc06d9d8ba701dd061703f338e621a822eaf028724c6f30ca3485d4",
    "4-players-back": "74e47d20c51768bab741e89241a6532598c66fcb8b55ef3e3594c56b0a5aced6",
}
# Those of `trained-2026b`.
NETWORKS_2026B: Final[Mapping[str, str]] = {
    "2-players": "ae139eb1dc6d73878bee1d2d8049533696483d69156a753fa2a1a2257cf464f1",
    "2-players-back": "dc76e99bf7f5862f307f070d740735e0d437dd13348e37c6b47604999a8982d2",
    "3-players": "dfc69e3361b2eaf52927f6a873ff1c185ce089b4ec70be54104a179ce8a702f4",
    "3-players-back": "10a48f860bdb28a74b07591097406fabbb84a1769a97541944cd62ca30b8ebe9",
    "4-players": "e0a6f641d75c7267ad19982b2389f9f308458187bcb9a4cb219b6733adc735d8",
    "4-players-back": "4f5b79a5bf7b0b1c59bfd7979198ed450b3574c2f6710d28139c37d31ac31fda",
}
# Digests of all frozen files.
FROZEN: Final = frozenset({*NETWORKS_2026A.values(), *NETWORKS_2026B.values()})


class FrozenAgent(TrainedAgent):
    """Networks that have shipped as ``trained``; its decisions never change.

    Attributes:
        networks: the SHA-256 of each table's file.
    """

    networks: ClassVar[Mapping[str, str]]

    def path(self, players: int, side: str) -> Path:
        """See :meth:`TrainedAgent.path`."""
        return frozen_path(self.networks[table_name(players, side)])


class Trained2026aAgent(FrozenAgent):
    """The first networks, whose hidden units are mostly dead."""

    name = "trained-2026a"
    version = "1"
    description = "frozen: the networks that shipped as trained in November 2026"
    networks = NETWORKS_2026A


class Trained2026bAgent(FrozenAgent):
    """The networks of living units that follow them."""

    name = "trained-2026b"
    version = "1"
    description = "frozen: the networks that have shipped as trained since 28 November 2026"
    networks = NETWORKS_2026B


def frozen_path(digest: str, folder: Path = TRAINED) -> Path:
    """Return the network file with a SHA-256, under any name.

    Args:
        digest: 64 hexadecimal digits.
        folder: of the shipped networks.

    Raises:
        CheckpointError: the folder has no such file.
    """
    for path in sorted(folder.glob(f"*{NETWORK_SUFFIX}")):
        if digest_of(path) == digest:
            return path
    raise CheckpointError(f"{folder} lacks the frozen network file with the SHA-256 {digest}")


def keep_frozen(path: Path) -> None:
    """Copy a frozen agent's network file and its JSON file, named by digest, before replacement.

    Args:
        path: the network file; ignored if it is missing or belongs to no frozen agent.

    Raises:
        OSError: the copy cannot be written.
    """
    if path.is_file() and (digest := digest_of(path)) in FROZEN:
        for suffix in (NETWORK_SUFFIX, ".json"):
            copy = path.with_name(f"{digest[:16]}{suffix}")
            write_atomically(copy, path.with_suffix(suffix).read_bytes())
