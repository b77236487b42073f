// Games to look through: filters, a table, pages. What is asked for stands in the address.
import { ask, at, el, leaveBy, themeButton } from "./dom.js";
import { offered, watch } from "./match.js";
import { rulesButton } from "./rules.js";

const $ = (name) => document.getElementById(name);
const form = $("filters");
/** @type {Control[]} */
const fields = [...form.elements].filter((field) => field.name);
const ENDINGS = { businesses: "12th business", stops: "second stop", truncated: "truncated", unfinished: "not over", "by the rules": "by the rules" };
const COLUMNS = [
  ["agents by seat", null], ["VP", null], ["margin", "margin"], ["players", "players"], ["actions", "length"], ["turns", "turns"],
  ["ended", null], ["swing", "swing"], ["date", "date"], ["file", null], ["", null]];
let agents = new Set();  // those that can be chosen here
let asked = 0;  // tells late answers apart
let known = "";  // how far the folders were read when the table was filled
let label = "";  // the name of the file to which the table keeps

const note = (text) => { $("note").textContent = text; $("note").hidden = !text; };
const address = () => new URLSearchParams(location.search);
const here = (changes) => {
  const next = address();
  for (const [name, value] of Object.entries(changes)) if (value === null || value === "") next.delete(name); else next.set(name, value);
  return `/library${next.size ? "?" : ""}${next}`;
};

/** What the form says, as an address; the first page. */
function wanted() {
  const next = new URLSearchParams();
  for (const field of fields) {
    const value = field.value.trim();
    if (value && !(field.name === "sort" && value === "date") && !(field.name === "order" && value === "falling")) next.append(field.name, value);
  }
  const file = address().get("file");
  if (file) next.set("file", file);
  return `/library${next.size ? "?" : ""}${next}`;
}

/** Fill the form from the address. */
function fill() {
  const given = address();
  const agent = given.getAll("agent");
  for (const field of fields) {
    const value = field.name === "agent" ? agent.shift() ?? "" : given.get(field.name) ?? (field.name === "sort" ? "date" : field.name === "order" ? "falling" : "");
    if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) field.append(el("option", {}, value));
    field.value = value;
  }
  if ([...$("more").querySelectorAll("input, select")].some((field) => field.value)) $("more").open = true;
}

function offerAgents(list) {
  for (const field of form.querySelectorAll("[data-agents]")) {
    if (field === document.activeElement) continue;
    const value = field.value;
    field.replaceChildren(el("option", { value: "" }, "any"), ...list.map((one) => el("option", { value: one.name }, one.name)));
    if (value && !list.some((one) => one.name === value)) field.append(el("option", {}, value));
    field.value = value;
  }
}

function showHead() {
  const sort = address().get("sort") ?? "date";
  const rising = address().get("order") === "rising";
  $("games").tHead.replaceChildren(el("tr", {}, ...COLUMNS.map(([text, by]) => {
    if (!text) return el("td", {});
    if (!by) return el("th", { scope: "col" }, text);
    const current = by === sort;
    const turned = current && !rising ? "rising" : null;
    return el("th", { scope: "col", "aria-sort": current ? (rising ? "ascending" : "descending") : null },
      el("button", { type: "button", class: "sort", onclick: () => go(here({ sort: by === "date" ? null : by, order: turned, page: null })) },
        `${text}${current ? (rising ? " ▴" : " ▾") : ""}`));
  })));
}

function row(game) {
  const page = `/library/${game.file}/${game.number}`;
  const names = game.names.map((name, seat) => el("span", { class: game.winners.includes(seat) ? "won" : null },
    name || `seat ${seat + 1}`, game.winners.includes(seat) ? el("span", { class: "unseen" }, " (won)") : null));
  const cell = (name, value, kind = null) => el("td", { "data-name": name, class: kind }, value);
  const again = game.names.every((name) => agents.has(name)) ? el("button", {
    type: "button", class: "quiet", title: "A new game of these agents, to be watched", onclick: async (event) => {
      event.stopPropagation();
      leaveBy(event.target);
      try {
        await watch(game.names, game.side);
      } catch (error) {
        event.target.disabled = false;
        note(error.message);
      }
    },
  }, "new game") : "";
  return el("tr", { class: "opens", onclick: (event) => { if (!event.target.closest("a, button")) location.href = at(page); } },
    el("td", { class: "wrap" }, el("a", { href: page }, el("span", { class: "agents" }, ...names))),
    cell("VP", game.scores.join(" : ")), cell("margin", `${game.margin}`, "number"), cell("players", `${game.players}, ${game.side}`),
    cell("actions", `${game.actions}`, "number"), cell("turns", `${game.turns}`, "number"), cell("ended", ENDINGS[game.ending] ?? game.ending),
    cell("swing", game.swing_step === null ? game.swing ?? "" : el("a", { href: `${page}?step=${game.swing_step}`, title: "Look at it" }, `${game.swing}`), "number"),
    cell("", new Date(1000 * game.date).toLocaleString([], { dateStyle: "short", timeStyle: "short" })),
    el("td", { class: "path", title: `${game.label}, game ${game.number}` }, el("bdi", {}, game.label), ` · ${game.number}`),
    el("td", {}, again));
}

function pager(place, { page, pages }) {
  const link = (text, to) => (to ? el("a", { href: here({ page: to === 1 ? null : to }), onclick: follow }, text) : null);
  place.replaceChildren(...[link("‹ back", page > 1 ? page - 1 : 0), el("span", {}, `page ${page.toLocaleString()} of ${pages.toLocaleString()}`),
    link("next ›", page < pages ? page + 1 : 0)].filter(Boolean));
}

function follow(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(event.currentTarget.getAttribute("href"));
  scrollTo({ top: 0 });
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
    pager($("pager"), found);
    pager($("pager-below"), found);
    label = found.games[0]?.label ?? label;
    const file = address().get("file");
    $("within").hidden = !file;
    if (file) $("within").replaceChildren(`Only games of ${label || "one file"}. `, el("a", { href: here({ file: null, page: null }), onclick: follow }, "all files"));
  } catch (error) {
    if (mine === asked) note(error.message);
  }
}

function go(to, replace = false) {
  const { search } = new URL(to, location.href);
  if (search !== location.search) history[replace ? "replaceState" : "pushState"](null, "", search || location.pathname);
  fill();
  load();
}

/** How far the folders have been read; the table is filled again as they are. */
async function follow_reading() {
  let state;
  try {
    state = await ask("/api/library/state");
  } catch (error) {
    note(error.message);
    return setTimeout(follow_reading, 5000);
  }
  if (!state.folders.length) {
    note(state.trouble);
    for (const part of [form, $("count"), document.querySelector(".scroll")]) part.hidden = true;
    return null;
  }
  note(state.trouble);
  $("reading").hidden = state.done;
  $("progress").max = state.size || 1;
  $("progress").value = state.seen;
  $("reading-text").textContent = `reading the folders: ${(state.seen / 1e6).toFixed(0)} of ${(state.size / 1e6).toFixed(0)} MB of ${state.files} files`;
  $("complaints").hidden = !state.complaints.length;
  $("complaints").querySelector("summary").textContent = `${state.complaints.length + state.more_complaints} files have damaged parts, which are left out`;
  $("complaints").querySelector("ul").replaceChildren(...state.complaints.map((one) => el("li", {}, `${one.file}: ${one.complaint}${one.skipped > 1 ? ` (and ${one.skipped - 1} more)` : ""}`)));
  const read = `${state.files} ${state.seen}`;
  if (read !== known && !$("games").tBodies[0].contains(document.activeElement)) {
    known = read;
    offerAgents(state.agents);
    fill();
    await load();
  }
  return setTimeout(follow_reading, state.done ? 5000 : 1000);
}

let typing = null;
form.addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => { if (form.checkValidity()) go(wanted(), event.target.tagName === "INPUT"); }, event.target.tagName === "INPUT" ? 300 : 0);
});
form.addEventListener("submit", (event) => { event.preventDefault(); go(wanted()); });
$("clear").onclick = () => go("/library");
addEventListener("popstate", () => { fill(); load(); });
document.querySelector("header").append(rulesButton(), themeButton(() => {}));
fill();
try {
  agents = new Set(await offered());
} catch (error) {
  note(error.message);
}
follow_reading();
