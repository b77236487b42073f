// Trainings: which there are, their curves as the trainer drew them, their networks as opponents.
import { $, ask, at, el, leaveBy, note, send, when } from "./dom.js";
import { offered, watch } from "./match.js";
import { setUpHeader } from "./rules.js";

/** A choice of a run's networks, to be played against or watched. */
function match({ key, networks, players, side }, agents) {
  const failed = el("p.note", { role: "alert", hidden: true });
  const which = el(
    "select",
    networks.map((one, at) => el("option", { value: at }, one.age)),
  );
  const option = (name) => el("option", { selected: name === "greedy" }, name);
  const whom = el("select", agents.map(option));
  const others = (name) => Array(players - 1).fill(name);
  const begin = (go) => (event) =>
    leaveBy(
      event.target,
      async () => {
        note("", failed);
        const { seconds } = networks[Number(which.value)];
        return go((await send(`/api/runs/${key}/networks`, { seconds })).name);
      },
      (text) => note(text, failed),
    );
  const play = begin((name) =>
    send("/api/games", { players, side, seats: ["me", ...others(`agent:${name}`)] }),
  );
  const look = begin((name) => watch([name, ...others(whom.value)], side));
  return el(
    "div",
    el(
      "div.filters.match",
      el("label", "network", which),
      el("button.primary", { onclick: play }, "play against it"),
      el("label", "opponent", whom),
      el("button", { onclick: look }, "watch them play"),
    ),
    failed,
  );
}

function entry(run, agents, open) {
  const games = { href: `/library?${new URLSearchParams({ text: `${run.name}/` })}` };
  const curves = {
    loading: "lazy",
    src: at(`/api/runs/${run.key}/curves.png`),
    alt: "The curves of this training, as its curves.png has them",
  };
  return el(
    "details.card",
    { id: run.key, open },
    el("summary", el("h2", run.name), el("span.small", ` · changed ${when(run.changed)}`)),
    match(run, agents),
    el("p", el("a", games, "Look through its games")),
    run.picture && el("img.curves", curves),
  );
}

setUpHeader();
try {
  const [{ runs }, agents] = await Promise.all([ask("/api/runs"), offered()]);
  const wanted = location.hash.slice(1) || runs[0]?.key;
  $("runs").replaceChildren(...runs.map((run) => entry(run, agents, run.key === wanted)));
  if (!runs.length) throw new Error("No training in the folders has kept a network yet.");
} catch (error) {
  note(error.message);
}
