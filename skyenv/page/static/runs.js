// Training runs: a list, with curves and networks as opponents.
import { $, ask, at, el, leaveBy, note, send, when } from "./dom.js";
import { offered, watch } from "./match.js";
import { setUpHeader } from "./rules.js";

const choice = (label, values, first) => {
  const select = el(
    "select",
    values.map((value) => el("option", { selected: value === first }, value)),
  );
  return [select, el("label", label, select)];
};

/** A choice of a run's networks, to play against or to watch. */
function match({ networks }, agents) {
  const failed = el("p.note", { role: "alert", hidden: true });
  const names = networks.map((one) => one.name);
  const [network, networkChoice] = choice("network", names, "model");
  const [players, playersChoice] = choice("players", [2, 3, 4]);
  const [side, sideChoice] = choice("side", ["front", "back"]);
  const [opponent, opponentChoice] = choice("opponent", agents, "greedy");
  const others = (name) => Array(players.value - 1).fill(name);
  const begin = (go) => (event) =>
    leaveBy(
      event.target,
      async () => {
        note("", failed);
        const { key } = networks[network.selectedIndex];
        return go((await send(`/api/runs/networks/${key}`, {})).name);
      },
      (text) => note(text, failed),
    );
  const play = begin((name) => {
    const seats = ["me", ...others(`agent:${name}`)];
    return send("/api/games", { players: seats.length, side: side.value, seats });
  });
  const look = begin((name) => watch([name, ...others(opponent.value)], side.value));
  return el(
    "div",
    el(
      "div.filters.match",
      ...[networkChoice, playersChoice, sideChoice],
      el("button.primary", { onclick: play }, "play against it"),
      opponentChoice,
      el("button", { onclick: look }, "watch them play"),
    ),
    failed,
  );
}

function entry(run, agents, open) {
  const games = { href: `/library?${new URLSearchParams({ text: `${run.name}/` })}` };
  const curves = {
    loading: "lazy",
    src: at(`/api/runs/pictures/${run.picture}`),
    alt: "The training curves (curves.png)",
  };
  return el(
    "details.card",
    { open },
    el("summary", el("h2", run.name), el("span.small", ` · changed ${when(run.changed)}`)),
    match(run, agents),
    el("p", el("a", games, "Browse its games")),
    run.picture && el("img.curves", curves),
  );
}

setUpHeader();
try {
  const [{ runs }, agents] = await Promise.all([ask("/api/runs"), offered()]);
  $("runs").replaceChildren(...runs.map((run, at) => entry(run, agents, at === 0)));
  if (!runs.length) throw new Error("No run in these folders has saved a network yet.");
} catch (error) {
  note(error.message);
}
