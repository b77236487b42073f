// Matches of agents to watch: an ordinary game without people.
import { ask, at, el, leaveBy, send } from "./dom.js";

/** Begin a game between agents, by name, and go to its table. */
export async function watch(names, side, seed = "", pause = null) {
  const { page } = await send("/api/games", {
    players: names.length,
    side,
    seed,
    seats: names.map((name) => `agent:${name}`),
  });
  if (pause !== null)
    await send(`${page.replace("/seat/", "/api/seats/")}/pause`, { seconds: pause });
  location.href = at(page);
}

/** The agents that can be chosen, by name. */
export const offered = async () => (await ask("/api/options")).agents.map((one) => one.name);

/**
 * A form for a match: a choice for every seat, which begin as `names`; side, seed and pace.
 * `failed` is told what went wrong.
 */
export function matchForm(agents, names, side, failed) {
  const all = [...new Set([...names.filter(Boolean), ...agents])];
  const choices = names.map((name, seat) =>
    el(
      "select",
      { "data-seat": seat },
      ...all.map((one) => el("option", { selected: one === name }, one)),
    ),
  );
  const board = el(
    "select",
    {},
    ...["front", "back"].map((one) => el("option", { selected: one === side }, one)),
  );
  const seed = el("input", {
    inputmode: "numeric",
    pattern: "[0-9]{1,19}",
    placeholder: "random",
    size: 10,
  });
  const pace = el(
    "select",
    {},
    ...[
      [0.8, "0.8 s a move"],
      [0, "as fast as they can"],
      [2, "2 s a move"],
      [5, "5 s a move"],
    ].map(([seconds, text]) => el("option", { value: seconds }, text)),
  );
  return el(
    "form",
    {
      class: "match",
      onsubmit: async (event) => {
        event.preventDefault();
        const button = event.target.querySelector("button");
        leaveBy(button);
        try {
          await watch(
            choices.map((choice) => choice.value),
            board.value,
            seed.value.trim(),
            Number(pace.value),
          );
        } catch (error) {
          button.disabled = false;
          failed(error.message);
        }
      },
    },
    el(
      "div",
      { class: "filters" },
      ...choices.map((choice, seat) => el("label", {}, `seat ${seat + 1}`, choice)),
      el("label", {}, "side", board),
      el("label", {}, "seed", seed),
      el("label", {}, "pace", pace),
      el("button", { class: "primary" }, "watch them play"),
    ),
  );
}
