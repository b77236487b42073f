"""Behaviour cloning in one file: train a network on a dataset's decisions and evaluate it.

Needs `pip install --constraint constraints.txt '.[train,dataset]'` and a dataset of Parquet files.
`python -m skyenv dataset greedy appraiser trained --games 3500 --formats parquet -o runs/strong`
writes one in some minutes. `python -m experiments.baselines.behaviour_cloning runs/strong --imitate
trained` writes `runs/clone/model.npz`, an agent:
`python -m skyenv evaluate runs/clone --against greedy --deterministic`.
"""

import math
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from pyarrow import parquet
from torch import Tensor, nn

from skyenv.agents import decisions_in
from skyenv.arena.evaluate import evaluate, table
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.engine.rewards import outcome_of
from skyenv.files import write_atomically
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import NUM_INPUTS, used_inputs
from skyenv_agents.learned.networks import NetworkAgent, heuristic_of
from skyenv_agents.learned.prior import prior_codes
from skyenv_agents.learned.torch_network import PolicyNetwork

# Options: default, and help text.
OPTIONS: Final = {
    "prior": ("greedy", "heuristic whose scores are corrected; '': none"),
    "prior-weight": (6.0, "initial weight of its scores; learned"),
    "epochs": (4, "passes over the decisions"),
    "batch": (1024, "decisions in a minibatch"),
    "learning-rate": (0.002, "peak of a one-cycle schedule"),
    "trunk": (128, "units of the network's trunk"),
    "blocks": (1, "residual blocks of the trunk"),
    "entity-dim": (32, "units of a district's or seat's embedding"),
    "value-weight": (0.25, "weight of the losses of the values"),
    "held-out": (50, "one in this many games is held out"),
    "paired-seeds": (500, "of the final evaluation; 0: none"),
    "seed": (1, "random seed"),
    "out": (Path("runs/clone"), "folder of the clone"),
}


def options_of(arguments: Sequence[str] | None = None) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(
        description="Clone the agents of a dataset.", formatter_class=ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("dataset", type=Path, help="folder of the dataset")
    told = "agents to learn from; none named: all"
    parser.add_argument("--imitate", nargs="*", default=[], help=told)
    for name, (default, text) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=text)
    return parser.parse_args(arguments)


class Decisions:
    """The decisions of a dataset's Parquet files in memory, 1.8 KB each.

    Args:
        folder: folder of a dataset with one number of players and one side of the board.
        imitate: the agents to imitate; empty: all.
        prior: the heuristic prior; "": none.
    """

    def __init__(self, folder: Path, imitate: list[str], prior: str) -> None:
        names = ["game", "seed", "players", "side", "agent", "action", "win_share", "margin"]
        files = sorted((folder / "parquet").glob("*.parquet"))
        if not files:
            raise SystemExit(f"{folder} has no Parquet files")
        read = parquet.read_table(files, columns=[*names, "observation", "mask"])
        columns = {name: read[name].to_numpy() for name in names}
        for name in ("observation", "mask"):
            flat = read[name].combine_chunks().flatten().to_numpy()
            columns[name] = flat.reshape(len(read), -1)
        if len(np.unique(columns["players"])) > 1 or len(np.unique(columns["side"])) > 1:
            raise SystemExit(f"{folder} mixes numbers of players or sides of the board")
        selected = columns["mask"].sum(axis=1) > 1  # a single legal action is no choice
        if imitate:
            selected &= np.isin(columns["agent"], imitate)
        codes = np.zeros((selected.sum(), NUM_INPUTS), np.int16)
        codes[:, :OBSERVATION_SIZE] = codes_of(columns.pop("observation")[selected])
        if prior:
            codes[:, OBSERVATION_SIZE:] = priors_of(columns, selected, prior)
        columns = {name: column[selected] for name, column in columns.items()}
        players = int(columns["players"][0])
        outcome = outcome_of(columns["win_share"], players)
        self.game = columns["game"]
        self.used = used_inputs(players, bool(prior)).codes
        self.codes, self.mask = torch.from_numpy(codes), torch.from_numpy(columns["mask"])
        self.action = torch.from_numpy(columns["action"].astype(np.int64))
        self.values = torch.from_numpy(
            np.stack([outcome, columns["margin"] / 50], axis=1).astype(np.float32)
        )

    def __len__(self) -> int:
        return len(self.action)

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the used inputs, masks, actions and value targets of some rows."""
        codes = self.codes[rows][:, self.used]
        return codes, self.mask[rows] != 0, self.action[rows], self.values[rows]


def priors_of(
    columns: dict[str, npt.NDArray[np.generic]], selected: npt.NDArray[np.bool_], prior: str
) -> npt.NDArray[np.int16]:
    """Return a heuristic's codes of selected decisions, int16 (k, NUM_INPUTS − OBSERVATION_SIZE).

    A dataset does not contain them, but seed and actions reproduce a game. All games are therefore
    replayed in one batch.
    """
    heuristic = heuristic_of(prior)
    assert heuristic is not None
    firsts = np.flatnonzero(np.diff(columns["game"], prepend=-1))
    lengths = np.diff(np.append(firsts, len(selected)))
    players, side = int(columns["players"][0]), str(columns["side"][0])
    games = Games(
        len(firsts),
        players,
        side,
        columns["seed"][firsts].astype(np.int64),
        observation=False,
        autoreset=False,
    )
    codes = np.zeros((len(selected), NUM_INPUTS - OBSERVATION_SIZE), np.int16)
    for step in range(lengths.max()):
        playing = np.flatnonzero(lengths > step)
        rows = firsts[playing] + step
        if not np.array_equal(games.mask[playing], columns["mask"][rows]):
            raise SystemExit(
                "the games cannot be replayed, as their seeds do not determine their chance; try "
                "--prior ''"
            )
        needed = selected[rows]
        if needed.any():
            decisions = decisions_in(games, heuristic, playing[needed])
            codes[rows[needed]] = prior_codes(heuristic, decisions, True)
        games.step(columns["action"][rows], playing)
    return codes[selected]


def losses(
    network: PolicyNetwork, batch: tuple[Tensor, Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the policy's cross-entropy over legal actions, the values' squared error, and the
    accuracy.
    """
    codes, mask, action, values = batch
    policy, expected = network(codes, mask)
    return (
        nn.functional.nll_loss(policy, action),
        (expected - values).square().mean(),
        (policy.argmax(1) == action).float().mean(),
    )


def train(decisions: Decisions, options: Namespace) -> PolicyNetwork:
    """Train a clone; print the losses and accuracy on held-out games after every epoch."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    sizes = Sizes(options.trunk, options.blocks, options.entity_dim)
    network = PolicyNetwork(sizes, options.prior_weight)
    optimizer = torch.optim.AdamW(network.parameters(), options.learning_rate, weight_decay=1e-2)
    # whole games, as decisions of one game are correlated
    is_held_out = torch.from_numpy(decisions.game % options.held_out == 0)
    validation, training = torch.nonzero(is_held_out)[:, 0], torch.nonzero(~is_held_out)[:, 0]
    steps = 1 + options.epochs * math.ceil(len(training) / options.batch)
    # PyTorch divides by pct_start · steps − 1, which is never 0 for this pct_start.
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.learning_rate, total_steps=steps, pct_start=0.11
    )
    weights = sum(weight.numel() for weight in network.parameters())
    print(
        f"{len(training):,} training decisions, {len(validation):,} held out, {weights:,} weights"
    )
    started = time.monotonic()
    for epoch in range(options.epochs):
        for rows in torch.split(training[torch.randperm(len(training))], options.batch):
            policy_loss, value_loss, _ = losses(network, decisions.batch(rows))
            optimizer.zero_grad(set_to_none=True)
            (policy_loss + options.value_weight * value_loss).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            parts = [
                losses(network, decisions.batch(rows)) for rows in torch.split(validation, 4096)
            ]
        means = torch.tensor(parts).mean(0).tolist()
        print(
            f"epoch {epoch + 1}: cross-entropy {means[0]:.3f}, squared error {means[1]:.3f}, "
            f"accuracy {100 * means[2]:.1f} %,"
            f" {time.monotonic() - started:,.0f} s",
            flush=True,
        )
    return network


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a clone, save its network and evaluate it on paired seeds."""
    options = options_of(arguments)
    network = train(Decisions(options.dataset, options.imitate, options.prior), options)
    heuristic = heuristic_of(options.prior)
    about = {
        "description": "a clone of a dataset's agents",
        "reward": "outcome",
        "prior": options.prior,
        "prior_version": heuristic.version if heuristic else "",
    }
    path = options.out / "model.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, network.frozen(about).to_bytes())
    print(
        f"the clone is {path}; python -m skyenv evaluate {options.out} --against greedy "
        "--deterministic"
    )
    if options.paired_seeds:
        clone = NetworkAgent(path, deterministic=True)  # the argmax is the most common action
        print(table(evaluate(clone, ["greedy"], paired_seeds=options.paired_seeds, seed=10**9)))


if __name__ == "__main__":
    main()
