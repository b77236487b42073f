// Replays stored on the server: the games of a record, drawings, and the URL of the position shown.
import { tools } from "./analysis.js";
import { ask } from "./api.js";
import { digestsOf } from "./board.js";
import { $, el, table, the } from "./dom.js";
import { seatNames } from "./format.js";
import { setUpHeader } from "./rules.js";
import { view } from "./viewer.js";

const path = location.pathname.split("/"); // …/replay/KEY, or …/library/FILE/GAME
const inLibrary = path.at(-2) !== "replay";
const key = path.at(inLibrary ? -2 : -1);
const api = `/api/replays/${key}`;
const main = the("main");
let redraw = () => {};
/** @type {ReturnType<typeof view> | null} */
let viewer = null;
let opened = null; // the number of the game that is shown
setUpHeader(() => redraw());

// ---- addresses: /replay/KEY?game=2&step=87&seat=1&agent=trained ----

/** What an address says; numbers that are none are left out. */
function place() {
  const said = new URLSearchParams(location.search);
  const whole = (name) => (/^\d{1,9}$/.test(said.get(name) ?? "") ? Number(said.get(name)) : null);
  return {
    game: whole("game"),
    step: whole("step") ?? 0,
    seat: whole("seat"),
    agent: said.get("agent"),
  };
}

/** Make the address say something else; `jumped`: as a place that the back button leads to. */
function note(changes, jumped = false) {
  const said = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") said.delete(name);
    else said.set(name, value);
  }
  const address = `${location.pathname}${said.size ? `?${said}` : ""}`;
  if (address !== location.pathname + location.search)
    history[jumped ? "pushState" : "replaceState"](null, "", address);
}

let late = 0; // browsers refuse many changes of the address in a second: the last one will do
function moved(where, jumped) {
  clearTimeout(late);
  if (jumped) note(where, true);
  else late = setTimeout(note, 300, where);
}

// ---- one game ----

async function open(number, agents) {
  const game = await ask(`${api}/${number}`);
  const kept = new Map();
  let last = {}; // the drawing that came last: only what differs from it is sent
  const fetchDrawing = (step, seat, theme, narrow) => {
    const whose = seat === null ? "" : `&seat=${seat}`;
    const key = `${step}?theme=${theme}${whose}${narrow ? "&narrow=1" : ""}`;
    if (!kept.has(key)) {
      if (kept.size > 200) kept.clear();
      const known = last;
      const position = ask(`${api}/${number}/${key}&drawn=${digestsOf(known)}`);
      const drawn = position.then(({ drawing }) => (last = { ...known, ...drawing }));
      kept.set(key, drawn);
    }
    return kept.get(key);
  };
  const draw = (step, seat, theme, narrow) => {
    const wanted = fetchDrawing(step, seat, theme, narrow);
    const fetchNext = () => {
      if (step < game.steps) fetchDrawing(step + 1, seat, theme, narrow).catch(() => {});
    };
    wanted.then(fetchNext, () => kept.clear());
    return wanted;
  };
  const { step, seat, agent } = place();
  const where = {
    api: `${api}/${number}`,
    record: inLibrary ? `/api/library/${key}/${number}` : `${api}/record`,
    agents,
    agent,
    noted: note,
  };
  $("task").textContent = game.task;
  main.className = "wide";
  opened = number;
  const made = (viewer = view(main, game, draw, {
    step,
    seat: seat !== null && seat < game.players ? seat : null,
    moved,
    tools: (made) => tools(made, where),
  }));
  redraw = () => made.show(false, true);
}

// ---- the games of a record ----

function choose(games, agents) {
  const enter = (game) => {
    note({ game: game.number, step: null, seat: null }, true);
    return open(game.number, agents);
  };
  const row = (game) =>
    el(
      "tr",
      el("td", el("button", { onclick: () => enter(game) }, `game ${game.number}`)),
      el("td", seatNames(game.names).join(", ")),
      el("td", game.side),
      el("td", `${game.actions}`),
      el("td", game.scores.join(" : ") + (game.is_over ? "" : " (not over)")),
    );
  const heads = ["game", "seats", "side", "actions", "VP"];
  opened = viewer = null;
  redraw = () => {};
  main.className = "";
  const listed = table("table", heads, games.map(row));
  main.replaceChildren(el("section.card", el("h1", `${games.length} games`), listed));
}

/** What the address names: one game, or which there are. */
async function showPlace(record) {
  clearTimeout(late);
  const agents = record.agents.map((one) => one.name);
  const wanted = record.games.length === 1 ? record.games[0].number : place().game;
  if (!record.games.some((game) => game.number === wanted)) choose(record.games, agents);
  else if (wanted === opened) viewer?.put(place());
  else await open(wanted, agents);
}

try {
  const record = inLibrary
    ? { games: [{ number: Number(path.at(-1)) }], agents: (await ask("/api/options")).agents }
    : await ask(api);
  await showPlace(record);
  addEventListener("popstate", () => showPlace(record));
} catch (error) {
  main.replaceChildren(el("p.note", { role: "alert" }, error.message));
}
