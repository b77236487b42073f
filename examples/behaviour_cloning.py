"""Behaviour cloning in one file: a network learns from a dataset what its agents decided, and plays
against greedy.

Needs `pip install --constraint constraints.txt '.[train,dataset]'` and a dataset of Parquet files,
such as `python -m skyenv dataset greedy appraiser trained --games 3500 --formats parquet -o
runs/strong` writes in some minutes. Then `python examples/behaviour_cloning.py runs/strong
--imitate trained` leaves `runs/clone/model.npz`, an agent that is named by its path everywhere:
`python -m skyenv evaluate runs/clone --against greedy --deterministic`.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from pyarrow import parquet
from torch import Tensor, nn

from skyenv.agents import decisions_in
from skyenv.arena.evaluate import evaluate, table
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.files import write_atomically
from skyenv_agents.learned.architecture import Library, Sizes, run
from skyenv_agents.learned.layout import CODE_SCALE, INPUTS, NUM_INPUTS
from skyenv_agents.learned.networks import (
    WORST_PRIOR,
    NetworkAgent,
    Prior,
    heuristic_of,
)
from skyenv_agents.learned.networks import (
    Network as FrozenNetwork,
)

ILLEGAL = -1e9  # its logit; −∞ gives NaN where a gradient meets it
TORCH = Library(
    torch.cat, torch.relu, torch.maximum, lambda array, columns: array[:, torch.from_numpy(columns)]
)


@dataclass
class Options:
    """What can be chosen on the command line, as ``--epochs 8``."""

    imitate: str = (
        ""  # names of the agents to learn from, with commas between; nothing: all of them
    )
    # the heuristic whose scores of the actions the network sees and corrects: greedy, appraiser, or
    # nothing
    prior: str = "greedy"
    prior_weight: float = 6.0  # what its scores count in the beginning; learnt
    epochs: int = 4
    batch: int = 1024
    learning_rate: float = 2e-3  # at its highest; it rises and falls once
    trunk: int = 128
    blocks: int = 1
    thing: int = 32
    value_weight: float = (
        0.25  # of the losses of outcome and margin, which the trunk learns beside the policy
    )
    held_out: int = 50  # one game in so many only measures
    paired_seeds: int = 500  # for the evaluation at the end; 0: none
    seed: int = 1
    out: str = "runs/clone"


class Decisions:
    """The choices in a dataset's Parquet files, in memory: 1.8 KB each.

    Args:
        folder: the dataset's, of one number of players, on one side.
        imitate: the agents whose decisions are taken; none: everybody's.
        prior: the heuristic that the network starts from; "": none.
    """

    def __init__(self, folder: Path, imitate: list[str], prior: str) -> None:
        names = ["game", "seed", "players", "side", "agent", "action", "win_share", "margin"]
        files = sorted((folder / "parquet").glob("*.parquet"))
        if not files:
            raise SystemExit(f"{folder} has no Parquet files")
        read = parquet.read_table(files, columns=[*names, "observation", "mask"])
        whole = {name: read[name].to_numpy() for name in names}
        for name in ("observation", "mask"):
            flat = read[name].combine_chunks().flatten().to_numpy()
            whole[name] = flat.reshape(len(read), -1)
        if whole["observation"].dtype == np.float32:
            whole["observation"] = codes_of(whole["observation"])
        if len(np.unique(whole["players"])) > 1 or len(np.unique(whole["side"])) > 1:
            raise SystemExit(f"{folder} has games of several kinds")
        wanted = (
            whole["mask"].sum(axis=1) > 1
        )  # where there is one legal action there is nothing to learn
        if imitate:
            wanted &= np.isin(whole["agent"], imitate)
        codes = np.zeros((wanted.sum(), NUM_INPUTS), np.int16)
        codes[:, :OBSERVATION_SIZE] = whole.pop("observation")[wanted]
        if prior:
            codes[:, OBSERVATION_SIZE:] = prior_codes(whole, wanted, prior)
        whole = {name: column[wanted] for name, column in whole.items()}
        players = int(whole["players"][0])
        outcome = (whole["win_share"] - 1 / players) * players / (players - 1)
        self.game = whole["game"]
        self.codes, self.mask = torch.from_numpy(codes), torch.from_numpy(whole["mask"])
        self.action = torch.from_numpy(whole["action"].astype(np.int64))
        self.values = torch.from_numpy(
            np.stack([outcome, whole["margin"] / 50], axis=1).astype(np.float32)
        )

    def __len__(self) -> int:
        return len(self.action)

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Codes, masks, actions, and what came of it, of some rows."""
        return self.codes[rows], self.mask[rows] != 0, self.action[rows], self.values[rows]


def prior_codes(
    whole: dict[str, npt.NDArray[np.generic]], wanted: npt.NDArray[np.bool_], prior: str
) -> npt.NDArray[np.int16]:
    """What a heuristic held of the decisions that are wanted, int16 (k, NUM_INPUTS −
    OBSERVATION_SIZE).

    A dataset doesn't tell it. But a seed and the actions give a game again, and with it whatever a
    seat could know: so all games are played once more, side by side.
    """
    heuristic = heuristic_of(prior)
    assert heuristic is not None
    firsts = np.flatnonzero(np.diff(whole["game"], prepend=-1))
    lengths = np.diff(np.append(firsts, len(wanted)))
    players, side = int(whole["players"][0]), str(whole["side"][0])
    games = Games(
        len(firsts),
        players,
        side,
        whole["seed"][firsts].astype(np.int64),
        observation=None,
        autoreset=False,
    )
    codes = np.zeros((len(wanted), NUM_INPUTS - OBSERVATION_SIZE), np.int16)
    for step in range(lengths.max()):
        playing = np.flatnonzero(lengths > step)
        rows = firsts[playing] + step
        if not np.array_equal(games.mask[playing], whole["mask"][rows]):
            raise SystemExit(
                "the games can't be played again, as their chance is not that of their seeds; try "
                "--prior ''"
            )
        asked = wanted[rows]
        if asked.any():
            held = Prior.of(heuristic, decisions_in(games, heuristic, playing[asked]))
            codes[rows[asked]] = held.codes(with_outcome=True)
        games.step(whole["action"][rows], playing)
    return codes[wanted]


class Network(nn.Module):
    """What :class:`skyenv_agents.learned.networks.Network` plays with NumPy, as PyTorch
    learns it.

    In the beginning it decides as its prior does: the last layers' weights are small.
    """

    scale: Tensor
    inputs: Tensor

    def __init__(self, sizes: Sizes, prior: str, prior_weight: float) -> None:
        super().__init__()
        self.sizes, self.prior = sizes, prior
        self.weights = nn.ParameterDict()
        for name, (inputs, outputs) in sizes.layers().items():
            layer = nn.Linear(inputs, outputs)
            if name.endswith("actions") or name == "outlook":
                nn.init.normal_(layer.weight, std=0.01 / inputs**0.5)
                nn.init.zeros_(layer.bias)
            self.weights[f"{name}.weight".replace(".", "_")] = layer.weight
            self.weights[f"{name}.bias".replace(".", "_")] = layer.bias
        for name, shape in sizes.others().items():
            self.weights[name.replace(".", "_")] = nn.Parameter(0.1 * torch.randn(shape))
        nn.init.constant_(self.weights["prior_weight"], prior_weight)
        nn.init.constant_(self.weights["prior_floor"], -WORST_PRIOR).requires_grad_(False)
        self.register_buffer("scale", torch.from_numpy(CODE_SCALE))
        self.register_buffer("inputs", torch.from_numpy(INPUTS))

    def forward(self, codes: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the legal actions (k, 103), and outcome and margin expected (k,
        2).
        """
        scaled = codes.float() * self.scale
        logits, values = run(
            self.sizes,
            self._layer,
            self._weight,
            TORCH,
            scaled.index_select(1, self.inputs),
            scaled[:, OBSERVATION_SIZE:],
        )
        return torch.log_softmax(logits.masked_fill(~mask, ILLEGAL), 1), values

    def _weight(self, name: str) -> Tensor:
        weight: Tensor = self.weights[name.replace(".", "_")]
        return weight

    def _layer(self, name: str, rows: Tensor) -> Tensor:
        return nn.functional.linear(
            rows, self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        )

    def frozen(self) -> FrozenNetwork:
        """What plays without PyTorch."""
        arrays = {name: self._weight(name).detach().numpy().copy() for name in self.sizes.shapes()}
        about = {
            "reward": "outcome",
            "description": "a clone of a dataset's agents",
            "prior": self.prior,
        }
        heuristic = heuristic_of(self.prior)
        return FrozenNetwork(
            arrays, about if heuristic is None else {**about, "prior_version": heuristic.version}
        )


def losses(
    network: Network, batch: tuple[Tensor, Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Cross-entropy of the policy over legal actions, squared error of the values, and share of
    actions foreseen.
    """
    codes, mask, action, values = batch
    policy, expected = network(codes, mask)
    return (
        nn.functional.nll_loss(policy, action),
        (expected - values).square().mean(),
        (policy.argmax(1) == action).float().mean(),
    )


def batches(rows: Tensor, size: int) -> Iterator[Tensor]:
    """The rows in a new order, some at a time; those left over have no turn."""
    order = rows[torch.randperm(len(rows))]
    for first in range(0, len(rows) - size + 1, size):
        yield order[first : first + size]


def train(decisions: Decisions, options: Options) -> Network:
    """Clone; after every epoch the held-out games tell how many actions are foreseen."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    network = Network(
        Sizes(options.trunk, options.blocks, options.thing), options.prior, options.prior_weight
    )
    optimizer = torch.optim.AdamW(network.parameters(), options.learning_rate, weight_decay=1e-2)
    is_held_out = torch.from_numpy(
        decisions.game % options.held_out == 0
    )  # by games, as decisions of one game are alike
    measured, learned = torch.nonzero(is_held_out)[:, 0], torch.nonzero(~is_held_out)[:, 0]
    steps = options.epochs * (len(learned) // options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.learning_rate, total_steps=max(steps, 2), pct_start=0.1
    )
    weights = sum(weight.numel() for weight in network.parameters())
    print(
        f"{len(learned):,} decisions to learn from, {len(measured):,} held out, {weights:,} weights"
    )
    started = time.monotonic()
    for epoch in range(options.epochs):
        for rows in batches(learned, options.batch):
            policy_loss, value_loss, _ = losses(network, decisions.batch(rows))
            optimizer.zero_grad(set_to_none=True)
            (policy_loss + options.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            found = (
                torch.tensor(
                    [losses(network, decisions.batch(rows)) for rows in torch.split(measured, 4096)]
                )
                .mean(0)
                .tolist()
            )
        print(
            f"epoch {epoch + 1}: cross-entropy {found[0]:.3f}, squared error {found[1]:.3f}, "
            f"{100 * found[2]:.1f} % foreseen,"
            f" {time.monotonic() - started:,.0f} s",
            flush=True,
        )
    return network


def main() -> None:
    """Clone, keep the network, and measure it on paired seeds."""
    parser = argparse.ArgumentParser(description="Behaviour cloning of a dataset's agents.")
    parser.add_argument("dataset", type=Path, help="folder of the dataset")
    for name, default in vars(Options()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    given = vars(parser.parse_args())
    folder = given.pop("dataset")
    options = Options(**given)
    imitate = [name for name in options.imitate.split(",") if name]
    network = train(Decisions(folder, imitate, options.prior), options).frozen()
    path = Path(options.out, "model.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, network.to_bytes())
    print(
        f"the clone is {path}; python -m skyenv evaluate {options.out} --against greedy "
        "--deterministic"
    )
    if options.paired_seeds:
        clone = NetworkAgent(
            path, deterministic=True
        )  # the likeliest action: what most of the agents would do
        print(table(evaluate(clone, ["greedy"], paired_seeds=options.paired_seeds, seed=10**9)))


if __name__ == "__main__":
    main()
