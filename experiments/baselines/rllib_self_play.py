"""PPO by self-play in RLlib (new API stack, action masking), vectorized or with PettingZoo.

``python -m experiments.baselines.rllib_self_play`` trains one policy. In the vector environment
(the default) the policy plays one seat of each game and past policies play the others; all games of
an env runner are one batch. With ``--environment pettingzoo`` it plays all seats and learns from
all decisions, one game at a time. :class:`experiments.baselines.rllib_agent.RllibAgent` plays the
checkpoint RUN/model. The last line of output is the steps per
second of RLlib's env runner. Needs ``pip install -r experiments/baselines/rllib_self_play.txt``.
"""

import argparse
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from experiments.baselines.rllib_agent import RllibAgent
from skyenv import fifth_avenue_v0
from skyenv.work.on_ray import LOCAL, connect

# ---- environments ----


def log_win_share(*, episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Log the learner's win share at the end of an episode; results have its mean per iteration."""
    metrics_logger.log_value(
        "win_share", episode.get_infos(-1)["win_share"], reduce="mean", window=1000
    )


def vector_config(num_games: int, **options: Any) -> Any:
    """Return a PPOConfig whose env runners play `num_games` games each.

    Options are those of Gymnasium's vector environment. RLlib expects the autoreset mode NEXT_STEP,
    the default, and omits the step that resets a row. With `noop` the mask of this step is not
    empty.
    """
    return (
        PPOConfig()
        .environment(
            "skyenv:skyenv/FifthAvenue-v0", env_config={"mask": "rllib", "noop": True, **options}
        )
        .env_runners(num_envs_per_env_runner=num_games, gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .callbacks(on_episode_end=log_win_share)
    )


def pettingzoo_config(num_games: int, **options: Any) -> Any:
    """Return a PPOConfig whose env runners play `num_games` games each, all seats by one policy.

    Options are those of PettingZoo's env().
    """
    register_env(
        "fifth_avenue",
        lambda config: PettingZooEnv(fifth_avenue_v0.env(mask="rllib", noop=True, **config)),
    )
    return (
        PPOConfig()
        # RLlib's check of environments ignores the mask
        .environment("fifth_avenue", env_config=options, disable_env_checking=True)
        .env_runners(num_envs_per_env_runner=num_games)
        .multi_agent(
            policies={"all_seats"}, policy_mapping_fn=lambda agent, episode, **_: "all_seats"
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )


def set_opponents(algorithm: Any, agents: list[Any]) -> None:
    """Set the vector environment's opponent pool in all env runners; each episode samples one."""
    algorithm.env_runner_group.foreach_env_runner(
        lambda runner: runner.env.unwrapped.set_opponents(agents, pool=True)
    )


# ---- training ----

# Options: default, and help text.
OPTIONS: Final = {
    "players": (2, "number of players"),
    "games": (64, "concurrent games"),
    "steps": (128, "steps per game and iteration"),
    "iterations": (3, "updates of the policy"),
    "past": (4, "past policies in the pool, one per iteration"),
    "run": (Path("runs/rllib"), "folder for the checkpoint"),
    "seed": (1, "random seed"),
}


def main(arguments: list[str] | None = None) -> None:
    """Train, save the policy, and print the steps per second of sampling."""
    parser = argparse.ArgumentParser(description="PPO by self-play in RLlib.")
    parser.add_argument("--environment", choices=("vector", "pettingzoo"), default="vector")
    for name, (default, text) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=text)
    options = parser.parse_args(arguments)
    connect(LOCAL, 1)  # a local Ray, even if a cluster is running
    make_config = vector_config if options.environment == "vector" else pettingzoo_config
    # no env runners as separate processes
    config = make_config(options.games, num_players=options.players).env_runners(num_env_runners=0)
    steps = options.games * options.steps
    config = config.training(
        train_batch_size_per_learner=steps, minibatch_size=min(steps, 512), num_epochs=4, gamma=1.0
    )
    algorithm = config.debugging(seed=options.seed).build_algo()
    past: deque[RllibAgent] = deque(maxlen=options.past)
    for iteration in range(options.iterations):
        if options.environment == "vector":
            past.append(RllibAgent(algorithm.get_module(), name=f"self-{iteration}"))
            set_opponents(algorithm, list(past))
        results = algorithm.train()["env_runners"]
        share = f", win share {results['win_share']:.3f}" if "win_share" in results else ""
        print(f"{results.get('num_episodes', 0)} episodes ended{share}")
    model = algorithm.save_to_path(options.run.resolve() / "model")
    started = time.perf_counter()
    episodes = algorithm.env_runner.sample(num_timesteps=steps)
    seconds = time.perf_counter() - started
    algorithm.stop()
    print(f"the agent is RllibAgent({model!r})")
    print(f"{sum(len(episode) for episode in episodes) / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
