"""Learning algorithms for bidding tasks, as generators of policies.

Each generator yields the number of decisions so far and an *answer*, a function from an opening to
the current policy there. Only decisions with a choice count, by all learning seats. The first
answer is the initial policy, after compilation.

Tabular algorithms (CFR+, MCCFR) learn every measured opening separately, and count the decisions in
all of them. The others learn the whole task with a network, from training openings sampled by the
seed. Hyperparameters are in the calls below and in ALGORITHMS.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from experiments.baselines import reinforce, sb3_maskable_ppo
from experiments.benchmarks.mccfr import Sampler
from experiments.benchmarks.tasks import answers
from experiments.training.config import FOR_TASKS, Config
from experiments.training.train import Training
from skyenv.agents import Decisions, Evaluations
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError, shown
from skyenv.solving.best_response import Policy
from skyenv.solving.equilibrium import Solver
from skyenv.solving.mixing import information_sets
from skyenv.solving.tree import Opening
from skyenv_agents.learned.networks import NetworkAgent, PolicyPlayer, masked_softmax
from skyenv_agents.learned.policy import PolicyAgent

# Concurrent games of PPO.
GAMES: Final = 64
# Size of each buffer of NFSP, in decisions.
REMEMBERED: Final = 100_000

Answer = Callable[[Opening], Policy]
Learner = Iterator[tuple[int, Answer]]


class Problem(NamedTuple):
    """A task for a learner, and its budget.

    Attributes:
        task: name of the task.
        seed: seed of the learner.
        decisions: budget of decisions.
        openings: those to be measured on.
    """

    task: str
    seed: int
    decisions: int
    openings: Sequence[Opening]


# ---- tabular ----


def cfr_plus(problem: Problem) -> Learner:
    """Return CFR+ on the whole tree; an iteration visits every decision of every hand twice."""
    Solver(problem.openings[0].tree).run(1)  # compiles
    solvers = [Solver(opening.tree) for opening in problem.openings]
    size = sum(2 * information_sets(solver.tree).choices for solver in solvers)
    return _tabular(problem, solvers, lambda: size * solvers[0].iterations, 0)


def mccfr(problem: Problem) -> Learner:
    """Return MCCFR with external sampling and unweighted regrets and averages."""
    samplers = [Sampler(opening.tree, problem.seed) for opening in problem.openings]
    for sampler in samplers:
        sampler.run(0)
    return _tabular(problem, samplers, lambda: sum(int(one.made[0]) for one in samplers), 4)


def _tabular(
    problem: Problem, solvers: Sequence[Solver], decisions: Callable[[], int], more: int
) -> Learner:
    """Yield results after runs of as many iterations as so far plus `more`, at least 1."""
    solver_of = dict(zip(problem.openings, solvers, strict=True))
    while True:
        yield decisions(), lambda opening: solver_of[opening].solution().policy
        iterations = max(solvers[0].iterations + more, 1)
        for solver in solvers:
            solver.run(iterations)


# ---- policy gradients ----


def vanilla_gradient(problem: Problem) -> Learner:
    """Return REINFORCE, :mod:`experiments.baselines.reinforce`."""
    for decisions, network in reinforce.train(problem.task, problem.seed):
        yield decisions, partial(answers, reinforce.NetworkAgent(network))


def ppo(problem: Problem, **options: Any) -> Learner:
    """Return the project's trainer in self-play, with smaller batches than by default.

    Its policy is the network with averaged weights, as for its agents.
    """
    config = Config(
        task=problem.task,
        seed=problem.seed,
        decisions=problem.decisions,
        opponent_share=0.0,
        **FOR_TASKS,
        **options,
    )
    training = Training(config)
    training.begin()
    while True:
        yield training.decisions, lambda opening: answers(NetworkAgent(training.frozen()), opening)
        training.update()


def maskable_ppo(problem: Problem) -> Learner:
    """Return sb3-contrib's MaskablePPO against its own latest policy, in changing seats."""
    words = (
        "--steps 16 --batch 256 --gamma 1 --hidden 128 128 --activation Tanh --learning-rate 0.001"
    )
    given = [*words.split(), "--seed", str(problem.seed)]
    options = sb3_maskable_ppo.parser().parse_args(given)
    decisions = 0

    def count(local: Mapping[str, Any], _: Any) -> bool:
        nonlocal decisions
        decisions += int((local["action_masks"].sum(axis=1) > 1).sum())
        return True

    env = SkyenvVecEnv(GAMES, task=problem.task, seed=problem.seed * 10**9)
    model = sb3_maskable_ppo.make_model(env, options)
    while True:
        agent = PolicyAgent(model.policy)
        yield decisions, partial(answers, agent)
        env.set_opponents(agent)
        model.learn(GAMES * options.steps, callback=count, reset_num_timesteps=False)


# ---- OpenSpiel ----


def open_spiel_gradient(problem: Problem, loss: str) -> Learner:
    """Return OpenSpiel's `pytorch.policy_gradient` with a loss; one agent per seat."""
    from open_spiel.python.pytorch.policy_gradient import PolicyGradient

    torch.manual_seed(problem.seed)
    np.random.seed(problem.seed)
    return _self_play(
        problem,
        lambda seat, size, actions: PolicyGradient(
            seat,
            size,
            actions,
            loss_str=loss,
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
        lambda agent: agent._avg_network,  # noqa: SLF001  (its public method takes one row)
    )


def _self_play(
    problem: Problem, make: Callable[[int, int, int], Any], network_of: Callable[[Any], Any]
) -> Learner:
    """Run OpenSpiel's loop with one agent per seat.

    Args:
        problem: the task to learn.
        make: creates an agent by seat, observation size and number of actions.
        network_of: returns an agent's network, whose outputs are the logits of its policy.
    """
    import pyspiel
    from open_spiel.python.rl_environment import ChanceEventSampler, Environment

    import skyenv.envs.open_spiel  # noqa: F401  (registers the game)

    game = pyspiel.load_game(f"fifth_avenue(task={problem.task},information_state=false)")
    env = Environment(game, chance_event_sampler=ChanceEventSampler(seed=problem.seed))
    (size,), actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [make(seat, size, actions) for seat in range(2)]
    answer = partial(answers, SeatsAgent([network_of(agent) for agent in agents]))
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


class SeatsAgent(PolicyPlayer):
    """An agent that samples from a network for each seat, whose outputs are logits."""

    deterministic = False

    def __init__(self, networks: Sequence[Any]) -> None:
        self.networks = networks

    @torch.no_grad()
    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`."""
        inputs, rows = torch.from_numpy(decisions.observation), np.arange(len(decisions))
        logits = np.stack([network(inputs).double().numpy() for network in self.networks])
        return masked_softmax(logits[decisions.seat, rows], decisions.mask), None


# ---- table ----


class Algorithm(NamedTuple):
    """An algorithm of the comparison.

    Attributes:
        label: name in tables and plots.
        start: creates the learner of a problem.
        share: multiple of the budget of decisions.
        seeds: most runs.
        modules: modules that it imports and that not all of them need.
    """

    label: str
    start: Callable[..., Learner]
    share: int = 1
    seeds: int = 1000
    modules: tuple[str, ...] = ()


# Multiple of the budget for tabular algorithms, whose decisions cost much less.
TABULAR: Final = 100
# Close to magnetic mirror descent (Sokota et al. 2023), by the project's trainer: the loss of the
# policy gradient plus two KL divergences. The one from a uniform magnet is `entropy`, up to a
# constant. The one from the rollout's policy is `mean_kl`, as without averaging the mean of the
# weights is the latest network. No update stops early. What differs: PPO's clip, as wide as
# possible, normalised advantages, and near-certain decisions, which are subsampled.
MMD: Final = partial(ppo, averaging=0.0, clip=1.0, target_kl=1e9, mean_kl=0.5)
ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "cfr+": Algorithm("CFR+", cfr_plus, TABULAR, seeds=1),
    "mccfr": Algorithm("MCCFR, external sampling", mccfr, TABULAR),
    "reinforce": Algorithm("REINFORCE", vanilla_gradient),
    "ppo": Algorithm("PPO (skyenv)", partial(ppo, entropy=0.0)),
    "ppo-kl": Algorithm(
        "PPO (skyenv), entropy and KL", partial(ppo, entropy=0.3, final_entropy=0.03, mean_kl=0.1)
    ),
    "mmd": Algorithm("MMD (skyenv)", partial(MMD, entropy=0.3, final_entropy=0.3)),
    "maskable-ppo": Algorithm("MaskablePPO", maskable_ppo),
    "nfsp": Algorithm("NFSP (OpenSpiel)", nfsp, modules=("pyspiel", "tree")),
    **{
        loss: Algorithm(
            f"{loss.upper()} (OpenSpiel)",
            partial(open_spiel_gradient, loss=loss),
            modules=("pyspiel",),
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
