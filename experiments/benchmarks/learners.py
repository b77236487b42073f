"""Learning algorithms for bidding tasks, as generators of policies.

Each generator yields the number of decisions so far and an *answer*, a function from an
:class:`Exam` to the current policy. Only decisions with a choice count, by all learning seats. The
first answer is the initial policy, after compilation.

Tabular algorithms (CFR+, MCCFR) learn every exam's opening separately, and count the decisions in
all of them. The others learn the whole task with a network, from training openings sampled by the
seed. Hyperparameters are in the calls below and in ALGORITHMS.
"""

import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from experiments.baselines import reinforce, sb3_maskable_ppo
from experiments.benchmarks.mccfr import Sampler
from experiments.training.config import Config
from experiments.training.rollouts import arranged
from experiments.training.train import Training
from skyenv.engine.games import Games
from skyenv.engine.observation import codes_of
from skyenv.engine.options import GameOptions
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError, shown
from skyenv.rules.record import Array
from skyenv.solving.best_response import Evaluator, Policy
from skyenv.solving.equilibrium import Solver
from skyenv.solving.responses import queries
from skyenv.solving.tree import CHANCE, MAX_CHOICES, Opening
from skyenv_agents.learned.layout import used_inputs
from skyenv_agents.learned.networks import masked_softmax
from skyenv_agents.learned.policy import PolicyAgent

# Decisions in one forward pass.
ROWS: Final = 2048
# Concurrent games of PPO.
GAMES: Final = 64
# Size of each buffer of NFSP and Deep CFR, in decisions: 1 GB at most.
REMEMBERED: Final = 100_000

# A policy: returns the probabilities of all actions, float64 (k, 103).
#
# Its arguments are observations, float32 (k, OBSERVATION_SIZE), the masks of legal actions, int8
# (k, 103), and the seats to act, int8 (k,).
Probabilities = Callable[[Array, Array, Array], Array]


class Exam:
    """An opening for the evaluation of policies, with all its possible decisions.

    Args:
        name: name of the opening, such as "alea-4/0".

    Attributes:
        opening: the opening. tree: its tree.
        evaluator: computes NashConv in the tree.
        choices: number of decisions with a choice, for all hands.
        uniform: the uniform policy over the legal actions.
    """

    def __init__(self, name: str) -> None:
        self.opening = opening = Opening(name)
        self.tree = opening.tree
        self.evaluator = Evaluator(self.tree)
        self.uniform = Solver(self.tree).solution().policy
        self.choices = int((self.tree.legal & (self.tree.legal - 1) != 0).sum())
        deciding = np.flatnonzero(self.tree.kind < CHANCE)
        self._queries = queries(opening, deciding, np.ones_like(self.evaluator.reach))
        task = GameOptions(task=name)
        self._games = Games.of(self._queries.states, task, observation=True)

    def policy(self, probabilities: Probabilities) -> Policy:
        """Return the exact policy of a network, queried once in every decision with a choice."""
        policy, tree, games = self.uniform.copy(), self.tree, self._games
        for first in range(0, len(self._queries.node), ROWS):
            rows = slice(first, first + ROWS)
            node, hand = self._queries.node[rows], self._queries.hand[rows]
            seat = tree.kind[node]
            by_action = probabilities(games.observation[rows], games.mask[rows], seat)
            edges = tree.first[node + 1] - tree.first[node]
            row, edge = np.nonzero(np.arange(MAX_CHOICES) < edges[:, None])
            action = tree.action[tree.first[node[row]] + edge]
            hands = tree.numbers[seat[row]]
            policy[tree.block[node[row]] + edge * hands + hand[row]] = by_action[row, action]
        return policy


Answer = Callable[[Exam], Policy]
Learner = Iterator[tuple[int, Answer]]


class Problem(NamedTuple):
    """A task for a learner, and its budget.

    Attributes:
        task: name of the task.
        seed: seed of the learner.
        decisions: budget of decisions.
        exams: the openings for evaluation.
    """

    task: str
    seed: int
    decisions: int
    exams: Sequence[Exam]


# ---- tabular ----


def cfr_plus(problem: Problem) -> Learner:
    """Return CFR+ on the whole tree; an iteration visits every decision of every hand twice."""
    Solver(problem.exams[0].tree).run(1)  # compiles
    solvers = [Solver(exam.tree) for exam in problem.exams]
    size = sum(2 * exam.choices for exam in problem.exams)
    return _tabular(problem, solvers, lambda: size * solvers[0].iterations, 0)


def mccfr(problem: Problem) -> Learner:
    """Return MCCFR with external sampling and unweighted regrets and averages."""
    samplers = [Sampler(exam.tree, problem.seed) for exam in problem.exams]
    for sampler in samplers:
        sampler.run(0)
    return _tabular(problem, samplers, lambda: sum(int(one.made[0]) for one in samplers), 4)


def _tabular(
    problem: Problem, solvers: Sequence[Solver], decisions: Callable[[], int], more: int
) -> Learner:
    """Yield results after runs of as many iterations as so far plus `more`, at least 1."""
    of_exam = dict(zip(problem.exams, solvers, strict=True))
    while True:
        yield decisions(), lambda exam: of_exam[exam].solution().policy
        iterations = max(solvers[0].iterations + more, 1)
        for solver in solvers:
            solver.run(iterations)


# ---- policy gradients ----


def vanilla_gradient(problem: Problem, **options: Any) -> Learner:
    """Return REINFORCE, :mod:`experiments.baselines.reinforce`."""
    for decisions, network in reinforce.train(problem.task, problem.seed, **options):
        networks = [network] * 2
        yield decisions, partial(Exam.policy, probabilities=partial(_seat_probabilities, networks))


def ppo(problem: Problem, **options: Any) -> Learner:
    """Return the project's trainer in self-play, with smaller batches than by default.

    Its policy is the network with averaged weights, as for its agents.
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
    answer = partial(Exam.policy, probabilities=partial(_trainer_probabilities, training.mean))
    while True:
        yield training.decisions, answer
        training.update()


@torch.no_grad()
def _trainer_probabilities(
    network: torch.nn.Module, observation: Array, mask: Array, _: Array
) -> Array:
    codes = arranged(codes_of(observation), used_inputs(2, False))
    outputs = network(codes, torch.from_numpy(mask != 0))
    return outputs[0].double().exp().numpy()  # type: ignore[no-any-return]


def mmd(problem: Problem, **options: Any) -> Learner:
    """Return magnetic mirror descent (Sokota et al. 2023) by the project's trainer.

    Its loss is that of the policy gradient plus two KL divergences. The one from a uniform magnet
    is `entropy`, up to a constant. The one from the rollout's policy is `mean_kl`, as without
    averaging the mean of the weights is the latest network. PPO's clipping is as wide as possible,
    and no update stops early.
    """
    return ppo(problem, averaging=0.0, clip=1.0, target_kl=1e9, **options)


def maskable_ppo(problem: Problem, **changes: Any) -> Learner:
    """Return sb3-contrib's MaskablePPO against its own latest policy, in changing seats."""
    words = "--steps 16 --batch 256 --gamma 1 --hidden 128 128 --activation Tanh --seed"
    options = sb3_maskable_ppo.parser().parse_args([*words.split(), str(problem.seed)])
    vars(options).update(changes)
    decisions = 0

    def count(local: Mapping[str, Any], _: Any) -> bool:
        nonlocal decisions
        decisions += int((local["action_masks"].sum(axis=1) > 1).sum())
        return True

    env = SkyenvVecEnv(GAMES, task=problem.task, seed=problem.seed * 10**9)
    model = sb3_maskable_ppo.make_model(env, options)
    while True:
        agent = PolicyAgent(model.policy)
        yield decisions, partial(Exam.policy, probabilities=partial(_agent_probabilities, agent))
        env.set_opponents(agent)
        model.learn(GAMES * options.steps, callback=count, reset_num_timesteps=False)


def _agent_probabilities(agent: PolicyAgent, observation: Array, mask: Array, _: Array) -> Array:
    return agent.probabilities(observation, mask)


# ---- OpenSpiel ----


def open_spiel_gradient(problem: Problem, **changes: Any) -> Learner:
    """Return OpenSpiel's `pytorch.policy_gradient` with a loss, `loss_str`; one agent per seat."""
    from open_spiel.python.pytorch.policy_gradient import PolicyGradient

    options = {
        "hidden_layers_sizes": (128,),
        "batch_size": 32,
        "critic_learning_rate": 5e-3,
        "pi_learning_rate": 2e-3,
        "entropy_cost": 0.05,
        "num_critic_before_pi": 1,
        "optimizer_str": "adam",
    }

    torch.manual_seed(problem.seed)
    np.random.seed(problem.seed)
    return _self_play(
        problem,
        lambda *sizes: PolicyGradient(*sizes, **{**options, **changes}),
        lambda agent: agent.policy_logits_network,
    )


def nfsp(problem: Problem, learning_rate: float = 1e-3, anticipatory: float = 0.1) -> Learner:
    """Return NFSP of OpenSpiel's `pytorch.nfsp`, whose policy is the average policy.

    The options are those of its example for Leduc poker, with smaller buffers and more frequent
    updates.
    """
    from open_spiel.python.pytorch.nfsp import NFSP

    return _self_play(
        problem,
        lambda seat, size, actions: NFSP(
            seat,
            size,
            actions,
            hidden_layers_sizes=[128],
            reservoir_buffer_capacity=REMEMBERED,
            replay_buffer_capacity=REMEMBERED,
            anticipatory_param=anticipatory,
            batch_size=128,
            rl_learning_rate=learning_rate,
            sl_learning_rate=learning_rate,
            optimizer_str="adam",
            learn_every=16,
            min_buffer_size_to_learn=128,
            update_target_network_every=1000,
            epsilon_start=0.06,
            epsilon_end=0.001,
            epsilon_decay_duration=problem.decisions,
            seed=2 * problem.seed + seat,
        ),
        lambda agent: agent._avg_network,  # noqa: SLF001  (its public method takes one row)
    )


class Observed:
    """A game or state of OpenSpiel, with observations in place of information states."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def new_initial_state(self) -> "Observed":
        """Return the state before the deal."""
        return Observed(self._of.new_initial_state())

    def child(self, action: int) -> "Observed":
        """Return the state after an action."""
        return Observed(self._of.child(action))

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Return a seat's observation; None: of the seat to act."""
        seat = self._of.current_player() if player is None else player
        return list(self._of.observation_tensor(seat))


def deep_cfr(problem: Problem, learning_rate: float = 1e-3, steps: int = 100) -> Learner:
    """Return Deep CFR of OpenSpiel's `pytorch.deep_cfr`, on observations.

    An iteration has 100 walks and `steps` gradient steps for each seat's advantages, from new
    weights, and as many for the average policy, which go on from the last iteration's.
    """
    from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

    solver = DeepCFRSolver(
        Observed(load_game(problem.task)),
        num_iterations=1,
        num_traversals=100,
        policy_network_layers=(128,),
        advantage_network_layers=(128,),
        learning_rate=learning_rate,
        batch_size_advantage=256,
        batch_size_strategy=256,
        memory_capacity=REMEMBERED,
        policy_network_train_steps=steps,
        advantage_network_train_steps=steps,
        seed=problem.seed,
    )
    sample, decisions = solver._sample_action_from_advantage, 0  # noqa: SLF001

    def counted(state: Any, seat: int) -> Any:
        nonlocal decisions
        decisions += len(state.legal_actions(seat)) > 1
        return sample(state, seat)

    solver._sample_action_from_advantage = counted  # noqa: SLF001
    networks = [lambda inputs: solver._policy_network(inputs).log()] * 2  # noqa: SLF001
    while True:
        yield decisions, partial(Exam.policy, probabilities=partial(_seat_probabilities, networks))
        solver.solve()


def load_game(task: str) -> Any:
    """Return OpenSpiel's game of a task, with observations."""
    import pyspiel

    import skyenv.envs.open_spiel  # noqa: F401  (registers the game)

    return pyspiel.load_game(f"fifth_avenue(task={task},information_state=false)")


def _self_play(
    problem: Problem, make: Callable[[int, int, int], Any], network_of: Callable[[Any], Any]
) -> Learner:
    """Run OpenSpiel's loop with one agent per seat.

    Args:
        problem: the task to learn.
        make: creates an agent by seat, observation size and number of actions.
        network_of: returns an agent's network, whose outputs are the logits of its policy.
    """
    from open_spiel.python.rl_environment import ChanceEventSampler, Environment

    game, chance = load_game(problem.task), ChanceEventSampler(seed=problem.seed)
    env = Environment(game, chance_event_sampler=chance)
    (size,), actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [make(seat, size, actions) for seat in range(2)]
    networks = [network_of(agent) for agent in agents]
    answer = partial(Exam.policy, probabilities=partial(_seat_probabilities, networks))
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
def _seat_probabilities(
    networks: Sequence[Any], observation: Array, mask: Array, seat: Array
) -> Array:
    inputs = torch.from_numpy(observation)
    logits = torch.stack([network(inputs) for network in networks]).double().numpy()
    return masked_softmax(logits[seat, np.arange(len(seat))], mask)


# ---- table ----


class Algorithm(NamedTuple):
    """An algorithm of the comparison.

    Attributes:
        label: name in tables and plots.
        start: creates the learner of a problem.
        share: multiple of the budget of decisions.
        seeds: most runs.
        grid: values of options to choose from, by name; --sweep tries all combinations.
    """

    label: str
    start: Callable[..., Learner]
    share: int = 1
    seeds: int = 1000
    grid: Mapping[str, Sequence[float]] = {}

    def variants(self) -> "dict[str, Algorithm]":
        """Return the algorithm with each combination of the grid, by its text."""
        found: dict[str, Algorithm] = {}
        if not self.grid:
            return found
        for values in itertools.product(*self.grid.values()):
            options = dict(zip(self.grid, values, strict=True))
            text = ",".join(f"{name}={value:g}" for name, value in options.items())
            found[text] = Algorithm(f"{self.label}, {text}", partial(self.start, **options))
        return found


# Multiple of the budget for tabular algorithms, whose decisions cost much less.
TABULAR: Final = 100
RATES: Final = {"learning_rate": (5e-4, 1e-3, 2e-3)}
ENTROPIES: Final = {"entropy": (0.1, 0.3, 1.0), "final_entropy": (0.03, 0.3)}
GRADIENTS: Final = {"pi_learning_rate": (5e-4, 2e-3), "entropy_cost": (0.05, 0.3)}
ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "cfr+": Algorithm("CFR+", cfr_plus, TABULAR, seeds=1),
    "mccfr": Algorithm("MCCFR, external sampling", mccfr, TABULAR),
    "reinforce": Algorithm("REINFORCE", vanilla_gradient, grid=RATES),
    "ppo": Algorithm("PPO (skyenv)", partial(ppo, entropy=0.0), grid=RATES),
    "ppo-kl": Algorithm(
        "PPO (skyenv), entropy and KL",
        partial(ppo, entropy=0.3, final_entropy=0.03, mean_kl=0.1),
        grid=ENTROPIES,
    ),
    "mmd": Algorithm(
        "MMD (skyenv)",
        partial(mmd, entropy=0.3, final_entropy=0.3, mean_kl=0.5),
        grid=ENTROPIES,
    ),
    "maskable-ppo": Algorithm("MaskablePPO", partial(maskable_ppo, learning_rate=1e-3), grid=RATES),
    "nfsp": Algorithm("NFSP (OpenSpiel)", nfsp, grid=RATES),
    "deep-cfr": Algorithm("Deep CFR (OpenSpiel)", deep_cfr, grid=RATES),
    **{
        loss: Algorithm(
            f"{loss.upper()} (OpenSpiel)",
            partial(open_spiel_gradient, loss_str=loss),
            grid=GRADIENTS,
        )
        for loss in ("qpg", "rpg", "a2c")
    },
}


def algorithm_of(name: str) -> Algorithm:
    """Return an algorithm of the table, or the caller's own as "MODULE:LEARNER".

    LEARNER is a function from a :class:`Problem` to a learner, such as those above.

    Raises:
        OptionError: there is no such algorithm or learner.
    """
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        known = ", ".join(ALGORITHMS)
        raise OptionError(f"algorithms must be MODULE:LEARNER or of {known}, not {shown(name)}")
    try:
        start = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"algorithm {shown(name)} can't be imported: {error}") from error
    return Algorithm(name, start)
