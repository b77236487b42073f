// Games to look through: filters, a table, pages. What is asked for stands in the address.
import { ask, at, el, themeButton } from "./dom.js";
import { rulesButton } from "./rules.js";

const $ = (name) => document.getElementById(name);
const form = $("filters");
const fields = [...form.elements].filter((field) => field.name);
const ENDINGS = { businesses: "12th business", stops: "second stop", unfinished: "not over" };
const COLUMNS = [
  ["agents by seat"],
  ["VP"],
  ["margin", "margin"],
  ["players", "players"],
  ["actions", "length"],
  ["ended"],
  ["swing", "swing"],
  ["date", "date"],
  ["file"],
];
let asked = 0; // tells late answers apart
let known = -1; // how many games there were when the table was filled

const note = (text) => {
  $("note").textContent = text;
  $("note").hidden = !text;
};
const address = () => new URLSearchParams(location.search);

/** The address with something else in it. */
function here(changes) {
  const next = address();
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return `/library${next.size ? "?" : ""}${next}`;
}

/** What the form says, as an address; the first page. */
function wanted() {
  const kept = [...address()].filter(([name]) => ["file", "sort", "order"].includes(name));
  const said = fields.map((field) => [field.name, field.value.trim()]).filter(([, value]) => value);
  const next = new URLSearchParams([...said, ...kept]);
  return `/library${next.size ? "?" : ""}${next}`;
}

/** Fill the form from the address. */
function fill() {
  const given = address();
  const agents = given.getAll("agent");
  for (const field of fields) {
    field.value = (field.name === "agent" ? agents.shift() : given.get(field.name)) ?? "";
  }
  if ([...$("more").querySelectorAll("input")].some((field) => field.value)) $("more").open = true;
}

function showHead() {
  const sort = address().get("sort") ?? "date";
  const rising = address().get("order") === "rising";
  const head = ([text, by]) => {
    const current = by === sort;
    const to = here({ sort: by, order: current && !rising ? "rising" : null, page: null });
    const sign = rising ? " ▴" : " ▾";
    return el(
      "th",
      { scope: "col", "aria-sort": current && (rising ? "ascending" : "descending") },
      by ? el("a", { href: to, onclick: follow }, text + (current ? sign : "")) : text,
    );
  };
  $("games").tHead.replaceChildren(el("tr", {}, ...COLUMNS.map(head)));
}

function row(game) {
  const page = `/library/${game.file}/${game.number}`;
  const name = (text, seat) => {
    const won = game.winners.includes(seat);
    return el(
      "span",
      { class: won && "won" },
      text || `seat ${seat + 1}`,
      won ? el("span", { class: "unseen" }, " (won)") : null,
    );
  };
  const cell = (label, value, kind = null) => el("td", { "data-name": label, class: kind }, value);
  const swing =
    game.swing_step === null
      ? ""
      : el("a", { href: `${page}?step=${game.swing_step}`, title: "Look at it" }, `${game.swing}`);
  const date = new Date(1000 * game.date).toLocaleString([], {
    dateStyle: "short",
    timeStyle: "short",
  });
  return el(
    "tr",
    {},
    el(
      "td",
      { class: "wrap" },
      el("a", { href: page }, el("span", { class: "agents" }, ...game.names.map(name))),
    ),
    cell("VP", game.scores.join(" : ")),
    cell("margin", `${game.margin}`, "number"),
    cell("players", `${game.players}, ${game.side}`),
    cell("actions", `${game.actions}`, "number"),
    cell("ended", ENDINGS[game.ending] ?? game.ending),
    cell("swing", swing, "number"),
    cell("", date),
    el(
      "td",
      { class: "path", title: `${game.label}, game ${game.number}` },
      el("bdi", {}, game.label),
      ` · ${game.number}`,
    ),
  );
}

function pager({ page, pages }) {
  const link = (text, to) =>
    el("a", { href: here({ page: to > 1 ? to : null }), onclick: follow }, text);
  const shown = [
    page > 1 ? link("‹ back", page - 1) : "",
    el("span", {}, `page ${page.toLocaleString()} of ${pages.toLocaleString()}`),
    page < pages ? link("next ›", page + 1) : "",
  ];
  $("pager").replaceChildren(...shown);
}

/** Go where a link of this page leads, without loading it anew. */
function follow(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(event.currentTarget.href);
}

/** Ask for what the address says, and show it. */
async function load() {
  const mine = ++asked;
  showHead();
  try {
    const found = await ask(`/api/library${location.search}`);
    if (mine !== asked) return;
    note("");
    $("games").tBodies[0].replaceChildren(...found.games.map(row));
    $("count").textContent = found.total === 1 ? "1 game" : `${found.total.toLocaleString()} games`;
    pager(found);
    $("within").hidden = !address().get("file");
    $("all-files").href = at(here({ file: null, page: null }));
  } catch (error) {
    if (mine === asked) note(error.message);
  }
}

function go(to) {
  const { search } = new URL(to, location.href);
  if (search !== location.search) history.pushState(null, "", search || location.pathname);
  fill();
  load();
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
    $("complaints")
      .querySelector("ul")
      .replaceChildren(...state.complaints.map((one) => el("li", {}, one)));
    $("agents").replaceChildren(...state.agents.map((name) => el("option", { value: name })));
    if (state.games !== known) await load();
    known = state.games;
    if (state.trouble) note(state.trouble);
    if (!state.done) setTimeout(look, 1000);
  } catch (error) {
    note(error.message);
  }
}

form.addEventListener("change", () => {
  if (form.checkValidity()) go(wanted());
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  go(wanted());
});
for (const link of [$("clear"), $("all-files")]) link.onclick = follow;
addEventListener("popstate", () => {
  fill();
  load();
});
document.querySelector("header").append(
  rulesButton(),
  themeButton(() => {}),
);
fill();
look();
