// The library of recorded games: filters, a table, pages. The URL holds the query: the form and all
// links lead to another.
import { ask } from "./api.js";
import { $, $$, el, note, the } from "./dom.js";
import { called, many, when } from "./format.js";
import { setUpHeader } from "./rules.js";

const form = $("filters");
const fields = [...form.elements].filter((field) => field.name);
const ENDINGS = {
  businesses: "12th business",
  stops: "second stop",
  unfinished: "not over",
  task: "auction over",
};
let known = -1; // how many games there were when the table was filled
const given = new URLSearchParams(location.search);

/** The address of the query with other values. */
function here(changes) {
  const next = new URLSearchParams(given);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return `?${next}`;
}

function fill() {
  const agents = given.getAll("agent");
  for (const field of fields)
    field.value = (field.name === "agent" ? agents.shift() : given.get(field.name)) ?? "";
}

/** Show the sort order; another click on the column reverses it. */
function showHead() {
  const sort = given.get("sort") || "date";
  const isRising = given.get("order") === "rising";
  for (const head of $$("[data-by]", $("games"))) {
    const { by } = head.dataset;
    const isSorted = by === sort;
    head.ariaSort = isSorted ? (isRising ? "ascending" : "descending") : null;
    const order = isSorted && !isRising ? "rising" : null;
    head.querySelector("a").href = here({ sort: by, order, page: null });
  }
}

function row(game) {
  const page = `/library/${game.file}/${game.number}`;
  const name = (text, seat) => {
    const won = game.winners.includes(seat);
    const words = [called(text) || `seat ${seat + 1}`, won && el("span.unseen", " (won)")];
    return el(won ? "span.won" : "span", { title: text }, words);
  };
  const cell = (label, value) => el("td", { "data-name": label }, value);
  const number = (label, value) => el("td.number", { "data-name": label }, value);
  const path = { title: `${game.label}, game ${game.number}` };
  return el(
    "tr",
    el("td.wrap", el("a", { href: page }, el("span.agents", game.names.map(name)))),
    cell("VP", game.scores.join(" : ")),
    number("margin", `${game.margin}`),
    cell("players", `${game.players}, ${game.task || game.side}`),
    number("actions", `${game.actions}`),
    cell("ended", ENDINGS[game.ending] ?? game.ending),
    cell("", when(game.date)),
    el("td.path", path, el("bdi", game.label), ` · ${game.number}`),
  );
}

function pager({ page, pages }) {
  const link = (text, to) => el("a", { href: here({ page: to }) }, text);
  const where = `page ${page.toLocaleString()} of ${pages.toLocaleString()}`;
  $("pager").replaceChildren(
    page > 1 ? link("‹ back", page - 1) : "",
    el("span", where),
    page < pages ? link("next ›", page + 1) : "",
  );
}

async function load() {
  const found = await ask(`/api/library${location.search}`);
  $("games").tBodies[0].replaceChildren(...found.games.map(row));
  $("count").textContent = many(found.total, "game");
  pager(found);
}

/** How far the folders have been read; the table is filled again as they are. */
async function look() {
  try {
    const state = await ask("/api/library/state");
    $("content").hidden = false;
    $("reading").hidden = state.done || !state.left;
    $("reading").textContent =
      `reading the folders, ${(state.left / 1e6).toFixed(0)} MB are left …`;
    $("complaints").hidden = !state.damaged;
    $("damaged").textContent = `Files with damaged parts, which are left out: ${state.damaged}`;
    the("ul", $("complaints")).replaceChildren(...state.complaints.map((one) => el("li", one)));
    $("agents").replaceChildren(
      ...state.agents.map((name) => el("option", { value: name }, called(name))),
    );
    if (state.games !== known) await load();
    known = state.games;
    if (state.trouble) note(state.trouble);
    if (!state.done) setTimeout(look, 1000);
  } catch (error) {
    note(error.message);
  }
}

form.onchange = () => form.requestSubmit();
setUpHeader();
fill();
showHead();
look();
