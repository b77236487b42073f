// Matches of agents to watch: an ordinary game without people.
import { ask, send } from "./dom.js";

/** Begin a game between agents, by name; the server's answer names its page. */
export const watch = (names, side) =>
  send("/api/games", { players: names.length, side, seats: names.map((name) => `agent:${name}`) });

/** The agents that can be chosen, by name. */
export const offered = async () => (await ask("/api/options")).agents.map((one) => one.name);
