// Trainings: which there are, their curves as the trainer drew them, their networks as opponents.
import { ask, at, el, leaveBy, send, themeButton } from "./dom.js";
import { offered, watch } from "./match.js";
import { rulesButton } from "./rules.js";

const $ = (name) => document.getElementById(name);

/** A choice of a run's networks, to be played against or watched. */
function match(run, agents) {
  const failed = el("p", { class: "note", role: "alert", hidden: true });
  const which = el(
    "select",
    {},
    ...run.networks.map((one, at) => el("option", { value: at }, one.age)),
  );
  const whom = el(
    "select",
    {},
    ...agents.map((name) => el("option", { selected: name === "greedy" }, name)),
  );
  const { players, side } = run;
  const others = (name) => Array.from({ length: players - 1 }, () => name);
  const begin =
    (go) =>
    async ({ target }) => {
      leaveBy(target);
      failed.hidden = true;
      try {
        const { seconds } = run.networks[Number(which.value)];
        await go((await send(`/api/runs/${run.key}/networks`, { seconds })).name);
      } catch (error) {
        target.disabled = false;
        failed.textContent = error.message;
        failed.hidden = false;
      }
    };
  const play = begin(async (name) => {
    const seats = ["me", ...others(`agent:${name}`)];
    location.href = at((await send("/api/games", { players, side, seed: "", seats })).page);
  });
  return el(
    "div",
    {},
    el(
      "div",
      { class: "filters match" },
      el("label", {}, "network", which),
      el("button", { type: "button", class: "primary", onclick: play }, "play against it"),
      el("label", {}, "opponent", whom),
      el(
        "button",
        { type: "button", onclick: begin((name) => watch([name, ...others(whom.value)], side)) },
        "watch them play",
      ),
    ),
    failed,
  );
}

function entry(run, agents, open) {
  const changed = new Date(1000 * run.changed).toLocaleString([], {
    dateStyle: "short",
    timeStyle: "short",
  });
  const games = run.games.map((file) =>
    el("a", { href: `/library?file=${file}` }, "Look through its games"),
  );
  return el(
    "details",
    { class: "card", id: run.key, open },
    el(
      "summary",
      {},
      el("h2", {}, run.name),
      el("span", { class: "small" }, ` · changed ${changed}`),
    ),
    match(run, agents),
    el("p", {}, ...games),
    run.picture
      ? el("img", {
          class: "curves",
          loading: "lazy",
          src: at(`/api/runs/${run.key}/curves.png`),
          alt: "The curves of this training, as its curves.png has them",
        })
      : null,
    run.evaluation ? el("pre", { class: "output", tabindex: 0 }, run.evaluation) : null,
  );
}

document.querySelector("header").append(
  rulesButton(),
  themeButton(() => {}),
);
try {
  const [{ runs }, agents] = await Promise.all([ask("/api/runs"), offered()]);
  const wanted = location.hash.slice(1) || runs[0]?.key;
  $("runs").replaceChildren(...runs.map((run) => entry(run, agents, run.key === wanted)));
  if (!runs.length) throw new Error("No training in the folders has kept a network yet.");
} catch (error) {
  $("note").textContent = error.message;
  $("note").hidden = false;
}
