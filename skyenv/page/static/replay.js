// Replays that the server keeps: which game of the record, and its drawings.
import { ask, el, seatNames, themeButton } from "./dom.js";
import { view } from "./viewer.js";

const api = `/api/replays/${location.pathname.split("/").pop()}`;
const main = document.querySelector("main");
let redraw = () => {};
document.querySelector("header").append(themeButton(() => redraw()));

async function open(number, agents) {
  const game = await ask(`${api}/${number}`);
  const kept = new Map();
  const fetchDrawing = (step, seat, theme, narrow) => {
    const key = `${step}?theme=${theme}${seat === null ? "" : `&seat=${seat}`}${narrow ? "&narrow=1" : ""}`;
    if (!kept.has(key)) {
      if (kept.size > 200) kept.clear();
      kept.set(key, ask(`${api}/${number}/${key}`).then((position) => position.svg));
    }
    return kept.get(key);
  };
  const draw = (step, seat, theme, narrow) => {
    const wanted = fetchDrawing(step, seat, theme, narrow);
    wanted.then(() => { if (step < game.steps) fetchDrawing(step + 1, seat, theme, narrow).catch(() => {}); }, () => kept.clear());
    return wanted;
  };
  main.className = "wide";
  redraw = view(main, game, draw, agents, (step, agent) => ask(`${api}/${number}/${step}/hint?agent=${encodeURIComponent(agent)}`));
}

function choose(games, agents) {
  const row = (game) => el("tr", {}, el("td", {}, el("button", { type: "button", onclick: () => open(game.number, agents) }, `game ${game.number}`)),
    el("td", {}, seatNames(game.names).join(", ")), el("td", {}, game.side), el("td", {}, `${game.actions}`),
    el("td", {}, game.scores.join(" : ") + (game.is_over ? "" : " (not over)")));
  const heads = ["", "seats", "side", "actions", "VP"].map((text) => el("th", { scope: "col" }, text));
  main.replaceChildren(el("section", { class: "card" }, el("h1", {}, `${games.length} games`),
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...games.map(row)))));
}

try {
  const record = await ask(api);
  const agents = record.agents.map((one) => one.name);
  if (record.games.length === 1) await open(1, agents);
  else choose(record.games, agents);
} catch (error) {
  main.replaceChildren(el("p", { class: "note", role: "alert" }, error.message));
}
