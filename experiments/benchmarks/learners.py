"""Algorithms that learn to bid, each as a generator of what it has learned so far.

Each yields the number of decisions taken (those with a choice, of all seats that learn) and an
*answer*, a function that tells its policy in an :class:`Exam`; first what it begins with, once
everything is compiled and loaded. Tabular ones (CFR+, MCCFR) learn each exam's beginning for
itself, and count the decisions in all of them together; the others learn the whole task with a
network, all beginnings drawn by the seed. Hyperparameters stand in the calls here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from experiments.benchmarks.mccfr import Sampler
from experiments.training.config import Config
from experiments.training.rollouts import arranged
from experiments.training.train import Training
from skyenv.engine.games import Games
from skyenv.engine.observation import SCALE
from skyenv.rules.state import Array
from skyenv.tasks.best_response import Judge, Policy
from skyenv.tasks.equilibrium import Solver
from skyenv.tasks.responses import questions
from skyenv.tasks.tree import CHANCE, Beginning
from skyenv_agents.learned.layout import used_inputs
from skyenv_agents.learned.networks import masked_softmax

ROWS: Final = 2048
"""Decisions that a network is asked at once."""
GAMES: Final = 64
"""Games that PPO plays side by side."""


class Asked(NamedTuple):
    """Decisions that a network is asked.

    Attributes:
        codes: int16 (k, OBSERVATION_SIZE), observations in units of their scale.
        mask: int8 (k, 103), legal actions. seat: int8 (k,), who is to act.
    """

    codes: npt.NDArray[np.int16]
    mask: npt.NDArray[np.int8]
    seat: npt.NDArray[np.int8]

    def observation(self) -> torch.Tensor:
        """The observations, float32 (k, OBSERVATION_SIZE)."""
        return torch.from_numpy(self.codes * SCALE)


Probabilities = Callable[[Asked], Array]
"""A policy: the probabilities of all actions, float64 (k, 103)."""


class Exam:
    """A beginning for which policies are judged, with all decisions that there can be.

    Args:
        name: of the beginning, such as "alea-4/0".

    Attributes:
        judge: of its tree. tree: its tree.
        choices: decisions with a choice, of all hands.
        uniform: the policy that takes all legal actions alike.
    """

    def __init__(self, name: str) -> None:
        beginning = Beginning(name)
        self.name, self.tree = name, beginning.tree
        self.judge = Judge(self.tree)
        self.uniform = Solver(self.tree).solution().policy
        self.choices = int((self.tree.legal & (self.tree.legal - 1) != 0).sum())
        deciding = np.flatnonzero(self.tree.kind < CHANCE)
        asked = questions(beginning, deciding, np.ones_like(self.judge.reach))
        games = Games(len(asked.node), task=name, seed=0, autoreset=False, observation="codes")
        games.state[:] = asked.states
        games.refresh()
        self._node, self._hand = asked.node, asked.hand
        self._asked = Asked(games.observation, games.mask, self.tree.kind[asked.node])

    def policy(self, probabilities: Probabilities) -> Policy:
        """The policy of a network, exactly: asked once in every decision with a choice."""
        policy = self.uniform.copy()
        for first in range(0, len(self._node), ROWS):
            rows = slice(first, first + ROWS)
            codes, mask, seat = self._asked
            found = probabilities(Asked(codes[rows], mask[rows], seat[rows]))
            self._note(self._node[rows], self._hand[rows], found, policy)
        return policy

    def _note(self, node: Array, hand: Array, found: Array, policy: Policy) -> None:
        tree = self.tree
        hands = np.array([len(own) for own in tree.hands])[tree.kind[node]]
        edges = tree.first[node + 1] - tree.first[node]
        for edge in range(int(edges.max(initial=0))):
            there = np.flatnonzero(edge < edges)
            action = tree.action[tree.first[node[there]] + edge]
            place = tree.block[node[there]] + edge * hands[there] + hand[there]
            policy[place] = found[there, action]


Answer = Callable[[Exam], Policy]
Learner = Iterator[tuple[int, Answer]]


class Problem(NamedTuple):
    """What is to be learned.

    Attributes:
        task: its name. seed: of the learner. decisions: after how many learning ends.
        exams: the beginnings for which it will be judged.
    """

    task: str
    seed: int
    decisions: int
    exams: Sequence[Exam]


def by_network(probabilities: Probabilities) -> Answer:
    """The answer of one network for all beginnings."""
    return lambda exam: exam.policy(probabilities)


# ---- tabular ----


def cfr_plus(problem: Problem) -> Learner:
    """CFR+ on the whole tree; it visits every decision of every hand twice in an iteration."""
    solvers = {exam.name: Solver(exam.tree) for exam in problem.exams}
    size = sum(2 * exam.choices for exam in problem.exams)
    Solver(problem.exams[0].tree).run(1)  # compiles
    iterations = 0
    while True:
        yield iterations * size, lambda exam: solvers[exam.name].solution().policy
        more = max(iterations, 1)
        for solver in solvers.values():
            solver.run(more)
        iterations += more


def mccfr(problem: Problem) -> Learner:
    """MCCFR by external sampling; regrets and averages without weights."""
    samplers = {exam.name: Sampler(exam.tree, problem.seed) for exam in problem.exams}
    for sampler in samplers.values():
        sampler.run(0)
    walks = 4
    while True:
        decisions = sum(sampler.decisions for sampler in samplers.values())
        yield decisions, lambda exam: samplers[exam.name].policy()
        for sampler in samplers.values():
            sampler.run(walks)
        walks *= 2


# ---- PPO ----


def ppo(problem: Problem, **options: Any) -> Learner:
    """The project's own trainer in self-play, with its default options but for smaller batches;
    judged is the network of averaged weights, which is its agent.
    """
    config = Config(
        task=problem.task,
        seed=problem.seed,
        decisions=problem.decisions,
        minutes=0.0,
        games=GAMES,
        steps=16,
        batch=256,
        opponent_share=0.0,
        precision="float32",
        device="cpu",
        **options,
    )
    training = Training(config)
    training.begin()
    while True:
        yield training.decisions, by_network(partial(_of_trainer, training.mean))
        training.update()


@torch.no_grad()
def _of_trainer(network: torch.nn.Module, asked: Asked) -> Array:
    codes = arranged(asked.codes, used_inputs(2, False))
    logarithms, _ = network(codes, torch.from_numpy(asked.mask != 0))
    found: Array = logarithms.double().exp().numpy()
    return found


def maskable_ppo(problem: Problem) -> Learner:
    """MaskablePPO of sb3-contrib against its own latest policy, seats changing."""
    from sb3_contrib import MaskablePPO

    from skyenv.envs.sb3 import SkyenvVecEnv
    from skyenv_agents.learned.policy import PolicyAgent

    decisions = 0

    def count(local: Mapping[str, Any], _: Any) -> bool:
        nonlocal decisions
        decisions += int((local["action_masks"].sum(axis=1) > 1).sum())
        return True

    env = SkyenvVecEnv(GAMES, task=problem.task, seed=problem.seed * 10**9)
    sizes = {"net_arch": [128, 128]}
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=16,
        batch_size=256,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs=sizes,
        seed=problem.seed,
        device="cpu",
    )
    while True:
        agent = PolicyAgent(model.policy)
        yield decisions, by_network(partial(_of_agent, agent))
        env.set_opponents(agent)
        model.learn(GAMES * 16, callback=count, reset_num_timesteps=False)


def _of_agent(agent: Any, asked: Asked) -> Array:
    found: Array = agent.probabilities(asked.observation().numpy(), asked.mask)
    return found


# ---- OpenSpiel ----


def policy_gradient(problem: Problem) -> Learner:
    """A2C as OpenSpiel's `pytorch.policy_gradient` has it, an agent for each seat."""
    from open_spiel.python.pytorch.policy_gradient import PolicyGradient

    torch.manual_seed(problem.seed)
    np.random.seed(problem.seed)
    return _self_play(
        problem,
        lambda seat, size, actions: PolicyGradient(
            seat,
            size,
            actions,
            loss_str="a2c",
            hidden_layers_sizes=(128,),
            batch_size=32,
            critic_learning_rate=5e-3,
            pi_learning_rate=2e-3,
            entropy_cost=0.05,
            num_critic_before_pi=1,
            optimizer_str="adam",
        ),
        lambda agent: agent.policy_logits_network,
    )


def nfsp(problem: Problem) -> Learner:
    """NFSP as OpenSpiel's `pytorch.nfsp` has it, with the options of its example for Leduc poker
    but for smaller memories and more learning; judged is the average policy.
    """
    from open_spiel.python.pytorch.nfsp import NFSP

    return _self_play(
        problem,
        lambda seat, size, actions: NFSP(
            seat,
            size,
            actions,
            hidden_layers_sizes=[128],
            reservoir_buffer_capacity=problem.decisions,
            replay_buffer_capacity=problem.decisions,
            anticipatory_param=0.1,
            batch_size=128,
            rl_learning_rate=1e-3,
            sl_learning_rate=1e-3,
            optimizer_str="adam",
            learn_every=16,
            min_buffer_size_to_learn=128,
            update_target_network_every=1000,
            epsilon_start=0.06,
            epsilon_end=0.001,
            epsilon_decay_duration=problem.decisions,
            seed=2 * problem.seed + seat,
        ),
        lambda agent: agent._avg_network,  # noqa: SLF001  (its only other way takes a row at a time)
    )


def _self_play(
    problem: Problem, make: Callable[[int, int, int], Any], network_of: Callable[[Any], Any]
) -> Learner:
    """OpenSpiel's loop, with an agent of its own for each seat.

    Args:
        problem: to learn.
        make: an agent by its seat, the size of observations and the number of actions.
        network_of: an agent's network, whose outputs are the logits of its policy.
    """
    import pyspiel
    from open_spiel.python.rl_environment import ChanceEventSampler, Environment

    import skyenv.envs.open_spiel  # noqa: F401  (registers the game)

    game = pyspiel.load_game(f"fifth_avenue(task={problem.task},information_state=false)")
    env = Environment(game, chance_event_sampler=ChanceEventSampler(seed=problem.seed))
    (size,), actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [make(seat, size, actions) for seat in range(2)]
    networks = [network_of(agent) for agent in agents]
    decisions, step = 0, env.reset()
    while True:
        yield decisions, by_network(partial(_of_seats, networks))
        while not step.last():
            seat = step.observations["current_player"]
            decisions += len(step.observations["legal_actions"][seat]) > 1
            step = env.step([agents[seat].step(step).action])
        for agent in agents:
            agent.step(step)
        step = env.reset()


@torch.no_grad()
def _of_seats(networks: Sequence[Any], asked: Asked) -> Array:
    logits = torch.stack([network(asked.observation()) for network in networks]).double().numpy()
    return masked_softmax(logits[asked.seat, np.arange(len(asked.seat))], asked.mask)


class Algorithm(NamedTuple):
    """An algorithm of the comparison.

    Attributes:
        label: its name in tables and pictures. start: begins to learn a problem.
        share: how many times the budget of decisions it takes. seeds: at most so many runs.
    """

    label: str
    start: Callable[[Problem], Learner]
    share: int = 1
    seeds: int = 1000


TABULAR: Final = 1000
"""Tabular algorithms take so many times the decisions, as they cost so much less."""
ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "cfr+": Algorithm("CFR+", cfr_plus, TABULAR, seeds=1),
    "mccfr": Algorithm("MCCFR, external sampling", mccfr, TABULAR),
    "nfsp": Algorithm("NFSP (OpenSpiel)", nfsp),
    "a2c": Algorithm("A2C (OpenSpiel)", policy_gradient),
    "maskable-ppo": Algorithm("MaskablePPO", maskable_ppo),
    "ppo": Algorithm("PPO (skyenv)", ppo),
    "ppo-kl": Algorithm("PPO (skyenv), entropy and KL", partial(ppo, entropy=0.02, mean_kl=0.1)),
}
