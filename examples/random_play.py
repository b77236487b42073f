"""A whole game with PettingZoo: every seat plays random legal actions.

Needs `pip install '.[pettingzoo]'`.
"""

from skyenv import fifth_avenue_v0


def main(seed: int = 7) -> None:
    """Play one game of three players and print how it went."""
    env = fifth_avenue_v0.env(num_players=3, side="front")
    env.reset(seed=seed)
    for agent in (
        env.possible_agents
    ):  # one generator for each seat, or the game would differ from run to run
        env.action_space(agent).seed(seed)

    returns = dict.fromkeys(env.possible_agents, 0.0)
    decisions = 0
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        returns[agent] += reward
        if termination or truncation:
            action = None  # PettingZoo's way to let an agent leave
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
            decisions += 1
        env.step(action)
    env.close()
    print(f"{decisions} decisions; returns: {returns}")


if __name__ == "__main__":
    main()
