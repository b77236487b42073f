"""Learning algorithms for bidding tasks, as generators of policies.

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
from skyenv.tasks.tree import CHANCE, MOST_CHOICES, Beginning
from skyenv_agents.learned.layout import used_inputs
from skyenv_agents.learned.networks import masked_softmax
from skyenv_agents.learned.policy import PolicyAgent

ROWS: Final = 2048
"""Decisions that a network is asked at once."""
GAMES: Final = 64
"""Games that PPO plays side by side."""


Probabilities = Callable[[Array, Array, Array], Array]
"""A policy: the probabilities of all actions, float64 (k, 103), by observations in units of their
scale, int16 (k, OBSERVATION_SIZE), legal actions, int8 (k, 103), and seats to act, int8 (k,).
"""


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
        self.tree = beginning.tree
        self.judge = Judge(self.tree)
        self.uniform = Solver(self.tree).solution().policy
        self.choices = int((self.tree.legal & (self.tree.legal - 1) != 0).sum())
        deciding = np.flatnonzero(self.tree.kind < CHANCE)
        self._asked = questions(beginning, deciding, np.ones_like(self.judge.reach))
        size = len(self._asked.node)
        self._games = Games(size, task=name, seed=0, autoreset=False, observation="codes")
        self._games.state[:] = self._asked.states
        self._games.refresh()

    def policy(self, probabilities: Probabilities) -> Policy:
        """The policy of a network, exactly: asked once in every decision with a choice."""
        policy, tree, games = self.uniform.copy(), self.tree, self._games
        for first in range(0, len(self._asked.node), ROWS):
            rows = slice(first, first + ROWS)
            node, hand = self._asked.node[rows], self._asked.hand[rows]
            seat = tree.kind[node]
            found = probabilities(games.observation[rows], games.mask[rows], seat)
            edges = tree.first[node + 1] - tree.first[node]
            row, edge = np.nonzero(np.arange(MOST_CHOICES) < edges[:, None])
            action = tree.action[tree.first[node[row]] + edge]
            hands = tree.numbers[seat[row]]
            policy[tree.block[node[row]] + edge * hands + hand[row]] = found[row, action]
        return policy


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


# ---- tabular ----


def cfr_plus(problem: Problem) -> Learner:
    """CFR+ on the whole tree; it visits every decision of every hand twice in an iteration."""
    Solver(problem.exams[0].tree).run(1)  # compiles
    solvers = [Solver(exam.tree) for exam in problem.exams]
    size = sum(2 * exam.choices for exam in problem.exams)
    return _tabular(problem, solvers, lambda: size * solvers[0].iterations, 0)


def mccfr(problem: Problem) -> Learner:
    """MCCFR by external sampling; regrets and averages without weights."""
    samplers = [Sampler(exam.tree, problem.seed) for exam in problem.exams]
    for sampler in samplers:
        sampler.run(0)
    return _tabular(problem, samplers, lambda: sum(int(one.made[0]) for one in samplers), 4)


def _tabular(
    problem: Problem, solvers: Sequence[Solver], decisions: Callable[[], int], more: int
) -> Learner:
    """As many iterations again as are done and `more`; 1 at first."""
    of_exam = dict(zip(problem.exams, solvers, strict=True))
    while True:
        yield decisions(), lambda exam: of_exam[exam].solution().policy
        iterations = max(solvers[0].iterations + more, 1)
        for solver in solvers:
            solver.run(iterations)


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
    answer = partial(Exam.policy, probabilities=partial(_of_trainer, training.mean))
    while True:
        yield training.decisions, answer
        training.update()


@torch.no_grad()
def _of_trainer(network: torch.nn.Module, codes: Array, mask: Array, _: Array) -> Array:
    found = network(arranged(codes, used_inputs(2, False)), torch.from_numpy(mask != 0))
    return found[0].double().exp().numpy()  # type: ignore[no-any-return]


def maskable_ppo(problem: Problem) -> Learner:
    """MaskablePPO of sb3-contrib against its own latest policy, seats changing."""
    from sb3_contrib import MaskablePPO

    from skyenv.envs.sb3 import SkyenvVecEnv

    decisions = 0

    def count(local: Mapping[str, Any], _: Any) -> bool:
        nonlocal decisions
        decisions += int((local["action_masks"].sum(axis=1) > 1).sum())
        return True

    env = SkyenvVecEnv(GAMES, task=problem.task, seed=problem.seed * 10**9)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=16,
        batch_size=256,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]},
        seed=problem.seed,
        device="cpu",
    )
    while True:
        agent = PolicyAgent(model.policy)
        yield decisions, partial(Exam.policy, probabilities=partial(_of_agent, agent))
        env.set_opponents(agent)
        model.learn(GAMES * 16, callback=count, reset_num_timesteps=False)


def _of_agent(agent: PolicyAgent, codes: Array, mask: Array, _: Array) -> Array:
    return agent.probabilities(codes * SCALE, mask)


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
    answer = partial(Exam.policy, probabilities=partial(_of_seats, networks))
    decisions, step = 0, env.reset()
    while True:
        yield decisions, answer
        while not step.last():
            seat = step.observations["current_player"]
            decisions += len(step.observations["legal_actions"][seat]) > 1
            step = env.step([agents[seat].step(step).action])
        for agent in agents:
            agent.step(step)
        step = env.reset()


@torch.no_grad()
def _of_seats(networks: Sequence[Any], codes: Array, mask: Array, seat: Array) -> Array:
    observation = torch.from_numpy(codes * SCALE)
    logits = torch.stack([network(observation) for network in networks]).double().numpy()
    return masked_softmax(logits[seat, np.arange(len(seat))], mask)


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
