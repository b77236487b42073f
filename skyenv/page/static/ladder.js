// The published ladders: ratings, who wins against whom, and matches of a pair to look at or to
// watch.
import { ask, el, themeButton } from "./dom.js";
import { matchForm, offered } from "./match.js";
import { rulesButton } from "./rules.js";

const $ = (name) => document.getElementById(name);
const note = (text) => {
  $("note").textContent = text;
  $("note").hidden = !text;
};
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const points = (number) => number.toFixed(0).replace("-", "−");
const interval = (one) => `[${points(one.low)}, ${points(one.high)}]`;
const shares = (one) =>
  `${percent(one.mean)} [${(100 * one.low).toFixed(1)}, ${(100 * one.high).toFixed(1)}]`;
let ladders = [];
let agents = [];

const given = () => {
  const asked = new URLSearchParams(location.search);
  const players = Number(asked.get("players") ?? 2);
  const side = asked.get("side") ?? "front";
  const ladder = ladders.find((one) => one.players === players && one.side === side) ?? ladders[0];
  const place = (name, usual) => {
    const at = ladder.agents.findIndex((one) => one.name === asked.get(name));
    return at < 0 ? usual : at;
  };
  const one = place("one", 0);
  return { ladder, one, other: place("other", one === 1 ? 0 : 1) };
};
const here = ({ players, side }, one = null, other = null) =>
  `/ladder?${new URLSearchParams({ players, side, ...(one && { one }), ...(other && { other }) })}`;

function go(address) {
  history.pushState(null, "", new URL(address, location.href).search || location.pathname);
  show();
}

const follow = (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(event.currentTarget.getAttribute("href"));
};

function showWhich(ladder) {
  $("which").replaceChildren(
    ...ladders.map((one) =>
      el(
        "a",
        {
          href: here(one),
          onclick: follow,
          "aria-current": one === ladder ? "page" : null,
        },
        `${one.players} players, ${one.side}`,
      ),
    ),
  );
}

/** Ratings, with their intervals on one scale. */
function ratings(ladder) {
  const low = Math.min(...ladder.agents.map((one) => one.rating.low));
  const high = Math.max(...ladder.agents.map((one) => one.rating.high));
  const place = (points) => (100 * (points - low)) / Math.max(1, high - low);
  const row = (one, rank) =>
    el(
      "tr",
      {},
      el("td", { class: "number" }, `${rank + 1}`),
      el(
        "th",
        { scope: "row", class: "wrap" },
        one.name,
        el("div", { class: "small", style: "font-weight:400" }, one.description),
      ),
      el(
        "td",
        { class: "number" },
        el("b", {}, points(one.rating.mean)),
        ` ${interval(one.rating)}`,
      ),
      el(
        "td",
        {},
        el(
          "span",
          { class: "scale", "aria-hidden": "true" },
          el("i", {
            style: `left:${place(one.rating.low)}%;width:${place(one.rating.high) - place(one.rating.low)}%`,
          }),
          el("b", { style: `left:${place(one.rating.mean)}%` }),
        ),
      ),
      el("td", { class: "number" }, percent(one.wins.mean)),
      el("td", { class: "number" }, one.vp.mean.toFixed(1)),
      el("td", { class: "number" }, one.margin.mean.toFixed(1).replace("-", "−")),
      el("td", { class: "number" }, one.paired_seeds.toLocaleString()),
    );
  const heads = ["", "agent", "rating", "", "wins", "VP", "margin", "paired seeds"];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ratings" },
    el(
      "table",
      { class: "rows", id: "ratings" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...heads.map((text) => (text ? el("th", { scope: "col" }, text) : el("td", {}))),
        ),
      ),
      el("tbody", {}, ...ladder.agents.map(row)),
    ),
  );
}

/** Who wins how often against whom. A cell chooses its pair. */
function matrix(ladder, one, other) {
  const cell = (row, column) => {
    if (row === column) return el("td", { "aria-hidden": "true" }, "·");
    const played = ladder.pairs[row][column];
    const share = played?.mean ?? ladder.predicted[row][column];
    const text = `${(100 * share).toFixed(0)}${played ? "" : "*"}`;
    const names = [ladder.agents[row].name, ladder.agents[column].name];
    const hue = share >= 0.5 ? "--line-2" : "--line-1";
    return el(
      "td",
      {},
      el(
        "button",
        {
          type: "button",
          "aria-pressed": row === one && column === other ? "true" : "false",
          "aria-label": `${names[0]} wins ${text.replace("*", "")} % against ${names[1]}${played ? "" : ", as predicted"}`,
          style: `background:color-mix(in srgb, var(${hue}) ${Math.round(60 * Math.abs(share - 0.5))}%, var(--card))`,
          onclick: () => go(here(ladder, ...names)),
        },
        text,
      ),
    );
  };
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Wins against each other" },
    el(
      "table",
      { class: "rows matrix", id: "matrix" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td", {}),
          ...ladder.agents.map((each) => el("th", { scope: "col" }, each.name)),
        ),
      ),
      el(
        "tbody",
        {},
        ...ladder.agents.map((each, row) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, each.name),
            ...ladder.agents.map((_, column) => cell(row, column)),
          ),
        ),
      ),
    ),
  );
}

function pair(ladder, one, other) {
  const [first, second] = [ladder.agents[one], ladder.agents[other]];
  const played = ladder.pairs[one][other];
  const duel = ladder.duels.find(
    (each) =>
      [each.one, each.other].includes(first.name) && [each.one, each.other].includes(second.name),
  );
  const turned = duel && duel.one !== first.name;
  const choose = (label, at, chosen) =>
    el(
      "label",
      {},
      label,
      el(
        "select",
        { onchange: (event) => chosen(event.target.value) },
        ...ladder.agents.map((each, place) => el("option", { selected: place === at }, each.name)),
      ),
    );
  const games = el("p", { id: "pair-games" }, "…");
  countGames(ladder, first, second, games);
  const seats = [first.name, ...Array.from({ length: ladder.players - 1 }, () => second.name)];
  const failed = el("p", { class: "note", role: "alert", hidden: true });
  const missing = [first, second]
    .filter((each) => !agents.includes(each.name))
    .map((each) => each.name);
  return el(
    "div",
    { class: "two" },
    el(
      "section",
      { class: "card", "aria-label": "The pair" },
      el(
        "div",
        { class: "filters" },
        choose("agent", one, (name) => go(here(ladder, name, second.name))),
        choose("against", other, (name) => go(here(ladder, first.name, name))),
      ),
      one === other
        ? el("p", {}, "Choose two different agents.")
        : el(
            "div",
            {},
            played
              ? el(
                  "p",
                  {},
                  el("span", { class: "big" }, percent(played.mean)),
                  ` of the wins of the two went to ${first.name} `,
                  el(
                    "span",
                    { class: "small" },
                    `[${(100 * played.low).toFixed(1)}, ${(100 * played.high).toFixed(1)}], played${ladder.players > 2 ? " at tables with others, too" : ""}`,
                  ),
                )
              : el("p", {}, "They didn't meet at one table."),
            el(
              "p",
              {},
              `${percent(ladder.predicted[one][other])} is what their ratings predict. ${first.name} is the better one with a probability of ${percent(ladder.better[one][other])}.`,
            ),
            duel
              ? el(
                  "p",
                  {},
                  `Alone against copies of the other, ${first.name} wins ${shares(turned ? duel.other_alone : duel.one_alone)}, ` +
                    `${second.name} wins ${shares(turned ? duel.one_alone : duel.other_alone)}; equals would win ${percent(duel.par.mean)}.`,
                )
              : null,
            games,
          ),
    ),
    one === other
      ? null
      : el(
          "section",
          { class: "card" },
          el("h2", {}, "Watch them play"),
          missing.length
            ? el("p", {}, `${missing.join(" and ")} can't be chosen here.`)
            : matchForm(agents, seats, ladder.side, (text) => {
                failed.textContent = text;
                failed.hidden = false;
              }),
          failed,
        ),
  );
}

/** How many games of a pair the folders have. */
async function countGames(ladder, first, second, place) {
  const wanted = new URLSearchParams([
    ["agent", first.name],
    ["agent", second.name],
    ["players", ladder.players],
    ["side", ladder.side],
  ]);
  try {
    const { total } = await ask(`/api/library?${wanted}`);
    place.replaceChildren(
      total
        ? el(
            "a",
            { href: `/library?${wanted}` },
            `Look through ${total.toLocaleString()} games of them`,
          )
        : "There are no games of them in the folders that this page was started with.",
    );
  } catch {
    place.replaceChildren(
      "Recorded games can be looked through here when the page is started with their folders: ",
      el("code", {}, "--games FOLDER"),
      ".",
    );
  }
}

function show() {
  const { ladder, one, other } = given();
  const focused =
    document.activeElement?.closest?.("#matrix button") !== null &&
    document.activeElement !== document.body;
  showWhich(ladder);
  $("ladder").replaceChildren(
    el(
      "p",
      { class: "small" },
      `${ladder.games.toLocaleString()} games of ${ladder.paired_seeds} paired seeds, ${ladder.date}. ` +
        `The mean rating of ${ladder.anchors.names.join(", ")} is ${ladder.anchors.points}; 400 more are odds of 10 to 1. Intervals are 95 %.`,
    ),
    ratings(ladder),
    pair(ladder, one, other),
    el("h2", {}, "Wins against each other, %"),
    el(
      "p",
      { class: "small" },
      "Of the wins of two agents, so many went to the one at the left. * : predicted by their ratings, as they didn't meet.",
    ),
    matrix(ladder, one, other),
  );
  if (focused)
    document.querySelector('#matrix button[aria-pressed="true"]')?.focus({ preventScroll: true });
}

document.querySelector("header").append(
  rulesButton(),
  themeButton(() => {}),
);
addEventListener("popstate", show);
try {
  [{ ladders }, agents] = await Promise.all([ask("/api/ladders"), offered()]);
  show();
} catch (error) {
  note(error.message);
}
