// The published ladders: ratings, and the results of each pair.
import { ask, at } from "./api.js";
import { $, $$, el, note, the } from "./dom.js";
import { called, many, percent, signed } from "./format.js";
import { setUpHeader } from "./rules.js";

const fixed = (number, digits = 1) => signed(number.toFixed(digits));
/** An estimate is never certain. */
const estimated = (share) => percent(Math.min(Math.max(share, 0.0005), 0.9995));
const shares = ({ mean, low, high }) =>
  `${fixed(100 * mean)} % [${fixed(100 * low)}, ${fixed(100 * high)}]`;
let ladders = [];

/** The ladder and the two agents that the URL names. */
function given() {
  const asked = new URLSearchParams(location.search);
  const isAsked = ({ players, side }) =>
    players === Number(asked.get("players") ?? 2) && side === (asked.get("side") ?? "front");
  const ladder = ladders.find(isAsked) ?? ladders[0];
  const place = (name, usual) => {
    const found = ladder.agents.findIndex((one) => one.name === asked.get(name));
    return found < 0 ? usual : found;
  };
  const one = place("one", 0);
  return { ladder, one, other: place("other", one === 1 ? 0 : 1) };
}

const here = ({ players, side }, pair = {}) =>
  `/ladder?${new URLSearchParams({ players, side, ...pair })}`;

function go(address) {
  history.pushState(null, "", new URL(address, location.href).search || location.pathname);
  show();
}

function showWhich(ladder) {
  const link = (one) => {
    const current = one === ladder ? "page" : null;
    return el(
      "a",
      { href: here(one), "aria-current": current },
      `${one.players} players, ${one.side}`,
    );
  };
  $("which").replaceChildren(...ladders.map(link));
}

function showRatings({ agents }) {
  const low = Math.min(...agents.map(({ rating }) => rating.low));
  const high = Math.max(...agents.map(({ rating }) => rating.high));
  const place = (points) => (100 * (points - low)) / Math.max(1, high - low);
  const scale = ({ mean, low, high }) => {
    const [left, width] = [place(low), place(high) - place(low)];
    const line = el("i", { style: `left:${left}%;width:${width}%` });
    return el(
      "span.scale",
      { "aria-hidden": "true" },
      line,
      el("b", { style: `left:${place(mean)}%` }),
    );
  };
  const number = (...content) => el("td.number", ...content);
  const row = ({ name, description, rating, wins, vp, margin, paired_seeds }, rank) =>
    el(
      "tr",
      number(`${rank + 1}`),
      el(
        "th.wrap",
        { scope: "row" },
        called(name),
        el("div.small.what", `${name}: ${description}`),
      ),
      number(
        el("b", fixed(rating.mean, 0)),
        ` [${fixed(rating.low, 0)}, ${fixed(rating.high, 0)}]`,
      ),
      el("td", scale(rating)),
      number(`${fixed(100 * wins.mean)} %`),
      number(fixed(vp.mean)),
      number(fixed(margin.mean)),
      number(paired_seeds.toLocaleString()),
    );
  $("ratings").tBodies[0].replaceChildren(...agents.map(row));
}

/** The matrix of win shares. A cell chooses its pair. */
function showMatrix(ladder, one, other) {
  const names = ladder.agents.map((each) => each.name);
  const cell = (row, column) => {
    if (row === column) return el("td", { "aria-hidden": "true" }, "·");
    const played = ladder.pairs[row][column];
    const share = played?.mean ?? ladder.predicted[row][column];
    const text = (100 * share).toFixed(0);
    const [first, second] = [names[row], names[column]];
    const [winner, loser] = [first, second].map(called);
    const predicted = played ? "" : ", as predicted";
    const hue = share >= 0.5 ? "--seat-3" : "--seat-0";
    const depth = Math.round(60 * Math.abs(share - 0.5));
    const attributes = {
      "aria-pressed": `${row === one && column === other}`,
      "aria-label": `${winner} wins ${text} % against ${loser}${predicted}`,
      style: `background:color-mix(in srgb, var(${hue}) ${depth}%, var(--card))`,
      onclick: () => go(here(ladder, { one: first, other: second })),
    };
    return el("td", el("button", attributes, played ? text : `${text}*`));
  };
  const row = (name, number) =>
    el(
      "tr",
      el("th", { scope: "row" }, called(name)),
      names.map((_, column) => cell(number, column)),
    );
  const heads = names.map((name) => el("th", { scope: "col" }, called(name)));
  the("thead", $("matrix")).replaceChildren(el("tr", el("td"), heads));
  $("matrix").tBodies[0].replaceChildren(...names.map(row));
}

/** The results of a pair, in sentences. */
function told(ladder, one, other) {
  const first = called(ladder.agents[one].name);
  const played = ladder.pairs[one][other];
  const among = ladder.players > 2 ? ", including tables with other agents" : "";
  return [
    played
      ? el("p", el("span.big", shares(played)), ` of the wins of the two went to ${first}${among}.`)
      : el("p", "The pair has no games."),
    el(
      "p",
      `${estimated(ladder.predicted[one][other])} is what the ratings predict. ${first} is the `,
      `stronger agent with probability  ${estimated(ladder.better[one][other])}.`,
    ),
  ];
}

function showPair(ladder, one, other) {
  const names = ladder.agents.map((each) => each.name);
  for (const [id, chosen] of Object.entries({ one, other })) {
    $(id).replaceChildren(
      ...names.map((name, place) =>
        el("option", { value: name, selected: place === chosen }, called(name)),
      ),
    );
    $(id).onchange = () => go(here(ladder, { one: $("one").value, other: $("other").value }));
  }
  const isPair = one !== other;
  $("pair").replaceChildren(
    ...(isPair ? told(ladder, one, other) : ["Choose two different agents."]),
  );
  const { players, side } = ladder;
  const wanted = new URLSearchParams({ players, side });
  for (const place of [one, other]) wanted.append("agent", names[place]);
  $("pair-games").href = at(`/library?${wanted}`);
}

function show() {
  const { ladder, one, other } = given();
  const { games, paired_seeds, date, anchors } = ladder;
  const isFocused = document.activeElement?.closest("#matrix button");
  $("about").textContent =
    `${many(games, "game")} of ${paired_seeds} paired seeds, ${date}. The mean rating of ` +
    `${anchors.names.map(called).join(", ")} is ${anchors.points}; 400 more are odds of 10 to 1. ` +
    "Intervals are 95 %.";
  showWhich(ladder);
  showRatings(ladder);
  showPair(ladder, one, other);
  showMatrix(ladder, one, other);
  $("ladder").hidden = false;
  if (isFocused) $("matrix").querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
}

setUpHeader();
addEventListener("popstate", show);
try {
  const answer = await ask("/api/ladders");
  ({ ladders } = answer);
  for (const link of $$(".in-library")) link.hidden = !answer.library;
  show();
} catch (error) {
  note(error.message);
}
