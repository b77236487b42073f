"""A training's games, opponents and decisions in the memory of one device (``--engine cuda``):
nothing is copied here meanwhile.

The engine is :class:`skyenv.cuda.Games`, whose arrays PyTorch takes as they are; the network
decides for all games at once, and so do the opponents: past policies and other networks without a
prior, heuristic agents and ``random``. What a collector keeps of a decision is what
:class:`experiments.training.rollouts.Collector` keeps. To ordinary memory come, once for every
rollout, the last positions of the games that have ended (to tell how they came out) and a few
figures; in every step the number of rows that an opponent is asked about.

All of it runs wherever the engine's arrays lie: with Numba's simulator of CUDA they are in ordinary
memory, and so is this.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from experiments.training.network import PolicyNetwork, entropy, in_precision
from experiments.training.rollouts import SURE, Batch, Rollout, drawn
from experiments.training.seating import LEARNER, Ended, ended_games, learners_at_mixed_tables
from skyenv.agents import Agent, RandomAgent
from skyenv.cuda import DeviceArray, Games
from skyenv.cuda.arrays import SIMULATED
from skyenv.engine.kernels import MARGIN_SCALE
from skyenv.engine.observation import SCALE
from skyenv.engine.options import table_label
from skyenv.rules.actions import NUM_ACTIONS, PASS
from skyenv.rules.state import GAME_DTYPE
from skyenv_agents.heuristic.device import DevicePlayer
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.learned.architecture import VALUES
from skyenv_agents.learned.layout import used_inputs
from skyenv_agents.learned.networks import NetworkAgent, ThingsNetwork
from skyenv_agents.learned.pool import OpponentPool

Tensor = torch.Tensor


def engine_device() -> torch.device:
    """Where the engine's arrays lie, as PyTorch calls it."""
    return torch.device("cpu" if SIMULATED else "cuda")


def plays_there(agent: Agent) -> bool:
    """Whether an agent can decide on the device: `random`, heuristic agents, and networks without a
    prior.
    """
    if isinstance(agent, NetworkAgent):
        return isinstance(agent.network, ThingsNetwork) and not agent.network.about.get("prior")
    return type(agent) is RandomAgent or isinstance(agent, HeuristicAgent)


def shared(array: DeviceArray) -> Tensor:
    """An array of the engine's as PyTorch's, the same memory."""
    tensor: Tensor = torch.utils.dlpack.from_dlpack(array)
    return tensor


class DeviceTables:
    """Games of one kind, side by side, and who sits where:
    :class:`experiments.training.seating.Tables` on a device.

    Args:
        games: the games, with codes as observations.

    Attributes:
        seats: int64 (number, players), who has each seat: the number of a guest, or LEARNER.
        margin: float32 (number, players), by how much each seat is ahead of the best other one, in
            the unit of rewards.
    """

    def __init__(self, games: Games) -> None:
        self.games = games
        self._share()
        self.seats = torch.full(
            (games.num_games, games.num_players), LEARNER, device=self.mask.device
        )
        self.margin = self._margins(self._positions)

    def _share(self) -> None:
        games = self.games
        self.mask, self.seat, self.codes = (
            shared(games.mask),
            shared(games.seat),
            shared(games.observation),
        )
        self.reward, self.done, self.truncated = (
            shared(games.reward),
            shared(games.done),
            shared(games.truncated),
        )
        self._positions, self.finished = shared(games.state.bytes), shared(games.finished.bytes)

    @property
    def label(self) -> str:
        """What kind of tables they are."""
        return table_label(self.games.num_players, self.games.side)

    def take_seats(
        self,
        over: Tensor,
        guests: Tensor,
        weights: Tensor,
        share: float,
        mixed_share: float,
        generator: torch.Generator,
    ) -> None:
        """Decide who sits where in the games that begin; see
        :meth:`experiments.training.seating.Tables.seat`.

        Args:
            over: bool (number,), which games begin.
            guests: int64 (k,), numbers of the pool's agents. weights: float64 (k,), how often each
                is drawn.
            share, mixed_share: of the games. generator: decides.
        """
        number, players = self.seats.shape
        device = self.seats.device
        seated = torch.full_like(self.seats, LEARNER)
        if len(guests) and share:
            has_guests = torch.rand((number, 1), generator=generator, device=device) < share
            mixed = torch.rand((number, 1), generator=generator, device=device) < mixed_share
            chosen = guests[
                torch.multinomial(weights, number * players, True, generator=generator)
            ].view(number, players)
            chosen = torch.where(mixed, chosen, chosen[:, :1])
            numbers = torch.from_numpy(learners_at_mixed_tables(players)).to(device)
            several = 1 + torch.multinomial(numbers, number, True, generator=generator)
            learners = torch.where(mixed, several[:, None], 1)
            order = torch.rand((number, players), generator=generator, device=device).argsort(dim=1)
            seated = torch.where(has_guests & (order >= learners), chosen, LEARNER)
        self.seats = torch.where(over[:, None], seated, self.seats)

    def to_act(self) -> Tensor:
        """Who is to act, as in `seats`, int64 (number,)."""
        return self.seats.gather(1, self.seat[:, None])[:, 0]

    def chooses(self) -> Tensor:
        """Where more than one action is legal, bool (number,)."""
        return self.mask.sum(dim=1) > 1

    def step(self, actions: Tensor) -> Tensor:
        """Play one action everywhere; by how much every seat got ahead, float32 (number,
        players).
        """
        self.games.step(actions)
        before, self.margin = self.margin, self._margins(self._positions)
        return torch.where(self.done[:, None], self._margins(self.finished), self.margin) - before

    def _margins(self, positions: Tensor) -> Tensor:
        """As :func:`experiments.training.seating.margins`, of positions as bytes (n, bytes of a
        game).
        """
        assert GAME_DTYPE.fields is not None
        start = GAME_DTYPE.fields["score"][1]
        players = self.games.num_players
        scores = positions[:, start : start + 4 * players].contiguous().view(torch.int32)
        own = torch.eye(players, dtype=torch.bool, device=scores.device)
        best_other = scores[:, None].masked_fill(own, torch.iinfo(torch.int32).min).amax(dim=2)
        return ((scores - best_other).double() / MARGIN_SCALE).float()

    def seen_at_end(self, rows: Tensor) -> Tensor:
        """What every seat saw of the last positions of games that have ended: codes, int16 (k ·
        players, OBSERVATION_SIZE).
        """
        players = self.games.num_players
        where = rows.repeat_interleave(players).cpu().numpy()
        seen = shared(
            self.games.observe(np.tile(np.arange(players), len(rows)), where, self.games.finished)
        )
        return (seen / torch.from_numpy(SCALE).to(seen.device)).round().to(torch.int16)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "games": self.games.on_host(),
            "seats": self.seats.cpu(),
            "margin": self.margin.cpu(),
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.games = Games.from_host(state["games"], check=False)
        self._share()
        self.seats, self.margin = (state[name].to(self.mask.device) for name in ("seats", "margin"))


@dataclass
class _Buffers:
    """What is kept of T decisions in each of n games; names as in
    :class:`experiments.training.rollouts.Collector`.
    """

    codes: Tensor
    masks: Tensor
    action: Tensor
    owner: Tensor
    chooses: Tensor
    mine: Tensor
    log_probability: Tensor
    entropy: Tensor
    value: Tensor

    def at(self, rows: Tensor, columns: Tensor) -> dict[str, Tensor]:
        """What is kept of some decisions."""
        return {name: array[rows, columns] for name, array in vars(self).items()}

    @classmethod
    def empty(cls, shape: tuple[int, int], inputs: int, device: torch.device) -> _Buffers:
        def zeros(kind: torch.dtype, *more: int) -> Tensor:
            return torch.zeros((*shape, *more), dtype=kind, device=device)

        return cls(
            zeros(torch.int16, inputs),
            zeros(torch.bool, NUM_ACTIONS),
            zeros(torch.int64),
            zeros(torch.int64),
            zeros(torch.bool),
            zeros(torch.bool),
            zeros(torch.float32),
            zeros(torch.float32),
            zeros(torch.float32, VALUES),
        )


@dataclass
class _Track:
    """What happened at tables of one kind: what seats were rewarded and got ahead, which games
    ended, what ends were worth.
    """

    reward: Tensor
    done: Tensor
    ending: Tensor

    @classmethod
    def empty(cls, rows: int, tables: DeviceTables) -> _Track:
        shape, device = (rows, *tables.seats.shape, VALUES), tables.seats.device
        done = torch.zeros(shape[:2], dtype=torch.bool, device=device)
        return cls(torch.zeros(shape, device=device), done, torch.zeros(shape, device=device))

    def since(self, rows: Tensor, columns: Tensor, seats: Tensor, first: int) -> Tensor:
        """As of the processor's: float32 (k, VALUES)."""
        totals = self.reward.roll(first, dims=0).flip(0).cumsum(dim=0).flip(0)
        return totals[(rows + first) % len(totals), columns, seats]


@dataclass
class Open:
    """Decisions that nothing can be estimated from yet; see
    :class:`experiments.training.rollouts.Open`.
    """

    columns: Tensor
    since: Tensor
    kept: dict[str, Tensor]

    def to(self, device: torch.device) -> Open:
        """The same on a device."""
        return Open(
            self.columns.to(device),
            self.since.to(device),
            {name: array.to(device) for name, array in self.kept.items()},
        )


class DeviceCollector:
    """Plays games, and collects decisions, on the device.

    Args:
        tables: where. pool: the opponents, all of whom :func:`plays_there`. Others: as for
            :class:`experiments.training.rollouts.Collector`.
    """

    def __init__(
        self,
        tables: Sequence[DeviceTables],
        pool: OpponentPool,
        steps: int,
        opponent_share: float,
        gamma: float,
        gae_lambda: float,
        seed: int,
        sure_share: float = 1.0,
        bfloat16: bool = False,
        mixed_share: float = 0.0,
    ) -> None:
        self.tables, self.pool = list(tables), pool
        self.steps, self.opponent_share, self.gamma, self.gae_lambda = (
            steps,
            opponent_share,
            gamma,
            gae_lambda,
        )
        self.sure_share, self.bfloat16, self.mixed_share = sure_share, bfloat16, mixed_share
        self.generator = torch.Generator(engine_device()).manual_seed(seed)
        self.open: Open | None = None
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._prepare()
        for each in self.tables:
            self._seat(each, torch.ones_like(each.done))

    def _prepare(self) -> None:
        """What follows from the rest: opponents as PyTorch's networks, and where each table's
        columns are.
        """
        self.device = engine_device()
        self._guests: dict[int, PolicyNetwork | HeuristicAgent | None] = {}
        self._players: dict[int, list[tuple[DevicePlayer, Tensor]]] = {}
        for agent in self.pool.agents:
            self._invite(agent)
        ends = np.cumsum([each.games.num_games for each in self.tables]).tolist()
        self.places = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        used = used_inputs(self._seats, with_prior=False)
        self._inputs = torch.from_numpy(used.codes).to(self.device)

    def _invite(self, agent: Agent) -> None:
        """Give an opponent its number, and its network a place on the device."""
        if agent.name not in self._numbers:
            self._numbers[agent.name] = len(self._names)
            self._names.append(agent.name)
        if isinstance(agent, HeuristicAgent):
            self._seat_heuristic(self._numbers[agent.name], agent)
            return
        network: PolicyNetwork | None = None
        if isinstance(agent, NetworkAgent):
            assert isinstance(agent.network, ThingsNetwork)
            network = PolicyNetwork(agent.network.sizes, 0.0)
            network.take(agent.network)
            network = network.to(self.device).requires_grad_(False)
        self._guests[self._numbers[agent.name]] = network

    def _seat_heuristic(self, number: int, agent: HeuristicAgent) -> None:
        """Keep a heuristic opponent, and with what it decides at each kind of tables."""
        self._guests[number] = agent
        players = [DevicePlayer(agent, tables.games) for tables in self.tables]
        self._players[number] = [(player, shared(player.actions)) for player in players]

    def add_opponent(self, agent: Agent) -> None:
        """Take a past policy in among the opponents; who has left the pool stays until no game has
        him any more.
        """
        self.pool.add(agent)
        self._invite(agent)
        used = {
            number
            for number in self._guests
            if any(bool((each.seats == number).any()) for each in self.tables)
        }
        used |= {self._numbers[one.name] for one in self.pool.agents}
        self._guests = {
            number: network for number, network in self._guests.items() if number in used
        }

    def snapshot(self) -> DeviceCollector:
        """A copy as it is now."""
        twin: DeviceCollector = pickle.loads(pickle.dumps(self))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("generator", "open", "device", "places", "_inputs", "_guests", "_players")
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        on_host = {
            number: (guest.sizes, {name: array.cpu() for name, array in guest.state_dict().items()})
            if isinstance(guest, PolicyNetwork)
            else guest
            for number, guest in self._guests.items()
        }
        left_open = None if self.open is None else self.open.to(torch.device("cpu"))
        return state | {
            "generator": self.generator.get_state(),
            "guests": on_host,
            "open": left_open,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        generator, guests = state.pop("generator"), state.pop("guests")
        vars(self).update(state)
        self._prepare()
        self.open = None if self.open is None else self.open.to(self.device)
        for number, kept in guests.items():  # some may still play who have left the pool
            if isinstance(kept, tuple):
                network = PolicyNetwork(kept[0], 0.0)
                network.load_state_dict(kept[1])
                self._guests[number] = network.to(self.device).requires_grad_(False)
            elif isinstance(kept, HeuristicAgent):
                self._seat_heuristic(number, kept)
            else:
                self._guests[number] = None
        self.generator = torch.Generator(self.device)
        self.generator.set_state(generator)

    def _seat(self, tables: DeviceTables, over: Tensor) -> None:
        agents = self.pool.agents
        guests = torch.tensor(
            [self._numbers[agent.name] for agent in agents], dtype=torch.int64, device=self.device
        )
        weights = torch.from_numpy(self.pool.weights()).to(self.device) if agents else guests
        tables.take_seats(
            over, guests, weights, self.opponent_share, self.mixed_share, self.generator
        )

    @torch.no_grad()
    def collect(self, network: PolicyNetwork) -> Rollout:
        """Play `steps` decisions in every game."""
        kept = _Buffers.empty(
            (self.steps + self._seats, self.places[-1].stop), len(self._inputs), self.device
        )
        tracks = [_Track.empty(len(kept.mine), each) for each in self.tables]
        self._take_up(kept, tracks)
        lasts: list[list[tuple[Tensor, Tensor]]] = [[] for _ in self.tables]
        for t in range(self.steps):
            acting = self._look(kept, t)
            self._choose(kept, t, acting, network)
            for tables, place, track, last in zip(
                self.tables, self.places, tracks, lasts, strict=True
            ):
                ahead = tables.step(kept.action[t, place])
                track.reward[t] = torch.stack([tables.reward, ahead], dim=2)
                track.done[t] = tables.done
                self._note_ends(tables, track, t, network, last)
        for tables in self.tables:
            tables.games.check()
        ended = [
            game
            for tables, last in zip(self.tables, lasts, strict=True)
            for game in self._ended(tables, last)
        ]
        batch, decisions = self._batch(kept, tracks)
        return Rollout(batch, decisions, ended, _figures(kept, self.steps))

    @property
    def _seats(self) -> int:
        """At the largest table."""
        return max(each.games.num_players for each in self.tables)

    def _take_up(self, kept: _Buffers, tracks: Sequence[_Track]) -> None:
        """Write what was left open behind the steps, each decision into its seat's row."""
        if self.open is None:
            return
        seats, columns = self.open.kept["owner"], self.open.columns
        for name, values in self.open.kept.items():
            getattr(kept, name)[self.steps + seats, columns] = values
        for place, track in zip(self.places, tracks, strict=True):
            here = (columns >= place.start) & (columns < place.stop)
            at = self.steps + seats[here], columns[here] - place.start, seats[here]
            track.reward[at] = self.open.since[here]

    def _leave_open(self, kept: _Buffers, left: Tensor, tracks: Sequence[_Track]) -> None:
        """Keep the decisions from which nothing can be estimated yet, bool (T, n)."""
        rows, columns = left.nonzero(as_tuple=True)
        since = torch.zeros((len(rows), VALUES), device=self.device)
        for place, track in zip(self.places, tracks, strict=True):
            here = (columns >= place.start) & (columns < place.stop)
            at = rows[here], columns[here] - place.start, kept.owner[rows[here], columns[here]]
            since[here] = track.since(*at, self._seats)
        self.open = Open(columns, since, kept.at(rows, columns))

    def _look(self, kept: _Buffers, t: int) -> Tensor:
        """Write who is to act, and what he sees, into step t; returns who has the seats, int64
        (n,).
        """
        acting = torch.cat([tables.to_act() for tables in self.tables])
        for tables, place in zip(self.tables, self.places, strict=True):
            kept.owner[t, place], kept.chooses[t, place] = tables.seat, tables.chooses()
            kept.masks[t, place] = tables.mask != 0
            kept.action[t, place] = tables.mask.argmax(dim=1)  # what is forced, where it is
            kept.codes[t, place] = self._arranged(tables.codes)
        kept.mine[t] = (acting == LEARNER) & kept.chooses[t]
        return acting

    def _arranged(self, codes: Tensor) -> Tensor:
        """Codes, int16 (k, OBSERVATION_SIZE), as the network takes them; without a prior nothing
        else is told.
        """
        return codes.index_select(1, self._inputs)

    def _choose(self, kept: _Buffers, t: int, acting: Tensor, network: PolicyNetwork) -> None:
        """Draw an action for every seat that has a choice: the learner's, and the opponents'."""
        uniform = torch.rand(acting.shape, generator=self.generator, device=self.device)
        rows = kept.mine[t].nonzero()[:, 0]
        if len(rows):
            log_probabilities, values = self._answers(kept, t, rows, network)
            action = drawn(log_probabilities, kept.masks[t, rows], uniform[rows])
            kept.action[t, rows], kept.value[t, rows] = action, values
            kept.log_probability[t, rows] = log_probabilities.gather(1, action[:, None])[:, 0]
            kept.entropy[t, rows] = entropy(log_probabilities)
        for number, guest in self._guests.items():
            chosen = (acting == number) & kept.chooses[t]
            if isinstance(guest, HeuristicAgent):
                self._judge(kept.action[t], number, chosen, uniform)
                continue
            rows = chosen.nonzero()[:, 0]
            if len(rows):
                masks = kept.masks[t, rows]
                like = (
                    torch.zeros(masks.shape, device=self.device)
                    if guest is None
                    else self._answers(kept, t, rows, guest)[0]
                )
                kept.action[t, rows] = drawn(like, masks, uniform[rows])

    def _judge(self, action: Tensor, number: int, chosen: Tensor, uniform: Tensor) -> None:
        """Write what a heuristic opponent decides in the chosen columns, bool (n,), into `action`,
        int64 (n,).
        """
        for place, (player, decided) in zip(self.places, self._players[number], strict=True):
            rows = chosen[place].nonzero()[:, 0].contiguous()
            if len(rows):
                player.decide(rows, uniform[place][rows].double())
                action[place][rows] = decided[rows]

    def _answers(
        self, kept: _Buffers, t: int, rows: Tensor, network: PolicyNetwork
    ) -> tuple[Tensor, Tensor]:
        """Log-probabilities (k, 103) and values (k, VALUES) of the decisions in some columns of
        step t.
        """
        with in_precision(self.device.type, self.bfloat16):
            answers: tuple[Tensor, Tensor] = network(
                kept.codes[t].index_select(0, rows), kept.masks[t].index_select(0, rows)
            )
        return answers

    def _note_ends(
        self,
        tables: DeviceTables,
        track: _Track,
        t: int,
        network: PolicyNetwork,
        last: list[tuple[Tensor, Tensor]],
    ) -> None:
        """Keep how games ended, and seat the next ones."""
        over = tables.done.nonzero()[:, 0]
        if not len(over):
            return
        last.append((tables.finished[over], tables.seats[over]))
        cut = over[tables.truncated[over]]
        if len(cut):
            codes = self._arranged(tables.seen_at_end(cut))
            with in_precision(self.device.type, self.bfloat16):
                values = network(
                    codes,
                    torch.ones((len(codes), NUM_ACTIONS), dtype=torch.bool, device=self.device),
                )[1]
            track.ending[t, cut] = values.view(len(cut), -1, VALUES)
        self._seat(tables, tables.done)

    def _ended(self, tables: DeviceTables, last: Sequence[tuple[Tensor, Tensor]]) -> list[Ended]:
        """The games that have ended, in the order of steps; the pool takes them in."""
        if not last:
            return []
        positions, seats = (torch.cat(parts).cpu().numpy() for parts in zip(*last, strict=True))
        games = ended_games(
            tables.label, positions.reshape(-1).view(GAME_DTYPE), seats, self._names.__getitem__
        )
        for each in games:
            if each.opponent is not None:
                self.pool.note(each.opponent, each.share)
        return games

    def _batch(self, kept: _Buffers, tracks: Sequence[_Track]) -> tuple[Batch, int]:
        """What is to be learned from, with its advantages, and how many decisions it stands for."""
        learnable, estimates = torch.zeros_like(kept.mine), torch.zeros_like(kept.value)
        ordered = partial(torch.roll, shifts=self._seats, dims=0)  # what was left open comes first
        for place, track in zip(self.places, tracks, strict=True):
            found = device_advantages(
                ordered(kept.value[:, place]),
                ordered(kept.owner[:, place]),
                ordered(kept.chooses[:, place]),
                ordered(track.reward),
                ordered(track.done),
                ordered(track.ending),
                self.gamma,
                self.gae_lambda,
            )
            estimates[:, place], learnable[:, place] = (
                array.roll(-self._seats, dims=0) for array in found
            )
        learnable &= kept.mine
        self._leave_open(kept, kept.mine & ~learnable, tracks)
        sure = kept.log_probability > SURE
        chosen = torch.ones_like(sure)
        if self.sure_share < 1:
            chosen = (
                torch.rand(sure.shape, generator=self.generator, device=self.device)
                < self.sure_share
            )
        taken, sure = learnable & (~sure | chosen), learnable & sure
        often = sure.sum() / (sure & taken).sum().clamp(min=1)
        rows = taken.reshape(-1).nonzero()[:, 0]
        target = estimates + kept.value
        batch = Batch(
            codes=kept.codes.flatten(0, 1)[rows],
            masks=kept.masks.flatten(0, 1)[rows],
            action=kept.action.reshape(-1)[rows],
            log_probability=kept.log_probability.reshape(-1)[rows],
            advantage=estimates[..., 0].reshape(-1)[rows],
            target=target.flatten(0, 1)[rows],
            weight=torch.where(sure, often, 1.0).float().reshape(-1)[rows],
        )
        return batch, int(learnable.sum())


def device_advantages(
    value: Tensor,
    seat: Tensor,
    chooses: Tensor,
    reward: Tensor,
    done: Tensor,
    ending: Tensor,
    gamma: float,
    gae_lambda: float,
) -> tuple[Tensor, Tensor]:
    """:func:`experiments.training.rollouts.advantages` in PyTorch, for all values at once.

    Args:
        value: float32 (T, n, VALUES). reward, ending: float32 (T, n, players, VALUES). Others: as
            there.

    Returns:
        The advantages, float32 (T, n, VALUES), and bool (T, n): where there is something to
        estimate from.
    """
    steps, number, players, kinds = reward.shape
    advantage, whole = torch.zeros_like(value), torch.zeros_like(chooses)
    rewarded, next_value, next_advantage = (
        reward.new_zeros((number, players, kinds), dtype=torch.float64) for _ in range(3)
    )
    known = torch.zeros((number, players), dtype=torch.bool, device=value.device)
    each_seat = torch.arange(players, device=value.device)
    for t in reversed(range(steps)):
        over = done[t][:, None, None]
        next_value = torch.where(over, ending[t].double(), next_value)
        next_advantage, rewarded = (
            next_advantage.masked_fill(over, 0.0),
            rewarded.masked_fill(over, 0.0) + reward[t],
        )
        known = known | done[t][:, None]
        here = (seat[t][:, None] == each_seat) & chooses[t][:, None]
        td_error = rewarded + gamma * next_value - value[t][:, None]
        estimate = torch.where(
            known[..., None], td_error + gamma * gae_lambda * next_advantage, 0.0
        )
        advantage[t] = (estimate * here[..., None]).sum(dim=1).float()
        whole[t] = (known & here).any(dim=1)
        next_value = torch.where(here[..., None], value[t][:, None].double(), next_value)
        next_advantage = torch.where(here[..., None], estimate, next_advantage)
        rewarded, known = rewarded.masked_fill(here[..., None], 0.0), known | here
    return advantage, whole


def _figures(kept: _Buffers, steps: int) -> dict[str, float]:
    """What the curve shall tell of a rollout; see
    :class:`experiments.training.rollouts.Collector`.
    """
    now = kept.mine[:steps]
    legal, action = kept.masks[:steps][now], kept.action[:steps][now]
    if not len(action):
        return {"entropy": 0.0, "passes": 0.0, "illegal": 0.0}
    bidding = legal[:, PASS]
    passed = (bidding & (action == PASS)).sum() / bidding.sum().clamp(min=1)
    illegal = (~legal.gather(1, action[:, None])).sum()
    told = torch.stack([kept.entropy[:steps][now].mean(), passed, illegal]).tolist()
    return dict(zip(("entropy", "passes", "illegal"), told, strict=True))
