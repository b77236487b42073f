// The lobby: start or continue a game, open a record.
import { ask, at, keys, send } from "./api.js";
import { $, $$, el, leaveBy, note, onReturn, the } from "./dom.js";
import { called, many, seatNames, signed, when } from "./format.js";
import { ESTIMATOR, USUAL } from "./game.js";
import { follow, readiness } from "./preparing.js";
import { setUpHeader } from "./rules.js";
import {
  confirmed,
  forgetPlayed,
  keep,
  kept,
  recordOf,
  storeName,
  storedName,
} from "./settings.js";

const canPlay = (name) => agents.find((one) => one.name === name)?.state !== "failed";
let agents = [];
let tasks = [];

// ---- new games ----

$("name").value = storedName();
$("name").oninput = () => storeName($("name").value);

const keyFor = keys();

function begin(form, game) {
  note("");
  const wanted = { ...game, idempotency_key: keyFor(game) };
  leaveBy(form.querySelector("button:not([type])"), () => send("/api/games", wanted));
}

onReturn(() => location.reload()); // from a table: games have changed

// ---- agents ----

function showStrengths(strengths) {
  const able = strengths.map(({ agent }) => agent).filter(canPlay);
  const usual = able.find((agent) => agent === kept("rival")) ?? able[0];
  const offer = ({ agent, word, rating, style }) => {
    const input = {
      type: "radio",
      name: "strength",
      value: agent,
      checked: agent === usual,
      disabled: !canPlay(agent),
    };
    const record = recordOf(agent);
    return el(
      "label.strength",
      { title: agent },
      el("input", input),
      el("b", word),
      el("span.rating", `${signed(Math.round(rating))} points`),
      el(
        "span.style",
        style,
        record && el("b", ` You: ${record}.`),
        el("span", { "data-readiness": agent }),
      ),
    );
  };
  for (const place of ["strengths", "others"])
    $(place).replaceChildren(
      ...strengths.filter(({ first }) => first === (place === "strengths")).map(offer),
    );
  $("more").open = $$("#others :checked").length > 0;
  $("points").hidden = !strengths.length;
  $("results").hidden = !strengths.some(({ agent }) => recordOf(agent));
  $("forget").onclick = () => {
    forgetPlayed();
    showStrengths(strengths);
  };
}

const options = () =>
  agents.map((one) => el("option", { value: `agent:${one.name}` }, called(one.name)));

/** Show whether each agent is ready; a game waits for that. */
function showReadiness() {
  for (const one of agents) {
    const words = readiness(one);
    const name = CSS.escape(one.name);
    for (const option of $$(`option[value="agent:${name}"]`)) {
      option.textContent = called(one.name) + (words && ` (${words})`);
      option.title = `${one.name}: ${one.description}`;
      option.disabled = one.state === "failed";
    }
    for (const place of $$(`[data-readiness="${name}"]`)) {
      place.textContent = words && ` (${words})`;
      place.closest("label").querySelector("input").disabled = one.state === "failed";
    }
  }
}

function showSeats() {
  const before = $$("select", $("seats")).map((select) => select.value);
  const usual = (agents.find((one) => one.name === USUAL) ?? agents[0]).name;
  const seats = Array.from({ length: Number($("players").value) }, (_, seat) => {
    const select = el(
      "select",
      { id: `seat-${seat}`, onchange: showHot },
      el("option", { value: "me" }, seat === 0 ? "me" : "a player at this screen"),
      el("option", { value: "human" }, "a player with a link"),
      el("optgroup", { label: "agents" }, options()),
    );
    select.value = before[seat] ?? (seat === 0 ? "me" : `agent:${usual}`);
    const name = el("input", {
      id: `name-${seat}`,
      maxlength: 24,
      placeholder: `Player ${seat + 1}`,
      size: 14,
      "aria-label": `name of the player in seat ${seat + 1}`,
      value: seat === 0 ? $("name").value : "",
    });
    return el(
      "p.row",
      el("label", `seat ${seat + 1} `, select),
      name,
      seat === 0 && !$("task").value && el("span.small", "begins"),
    );
  });
  $("seats").replaceChildren(the("legend", $("seats")), ...seats);
  showHot();
}

/** Show name fields for players at this screen, and a note where several share it. */
function showHot() {
  const selects = $$("select", $("seats"));
  const here = selects.filter((select) => select.value === "me");
  for (const select of selects)
    select.closest("p").querySelector("input").hidden = !here.includes(select);
  $("hot").hidden = here.length < 2;
}

// ---- games under way ----

/** A button that deletes a page's game or replay. */
function deleting(page, what, question, showRest) {
  const remove = async () => {
    if (!(await confirmed(question, "delete"))) return;
    try {
      await ask(page.replace(/^\/(seat|replay)\//, "/api/$1s/"), { method: "DELETE" });
      await showRest();
    } catch (error) {
      note(error.message);
    }
  };
  return el("button.quiet", { "aria-label": `delete this ${what}`, onclick: remove }, "delete");
}

function describe(game) {
  const { page, error, state, taken_back } = game;
  const question = "Delete this game for all its players?";
  const button = game.owner && deleting(page, "game", question, showGames);
  if (error) return el("li", el("span.what.bad", error), button);
  const name = (text, seat) => [
    seat ? ", " : "",
    text,
    ...(game.agents[seat] ? [" ", el("span.mark", "agent")] : []),
  ];
  const back = taken_back ? ` · ${many(taken_back, "decision")} taken back` : "";
  const watched = game.seat === null ? " · spectator" : "";
  const kind = game.task ? `task ${game.task}` : `${game.side} side`;
  const isOver = state === "over";
  return el(
    "li",
    el(
      "span.what",
      el("a", { href: page }, game.names.flatMap(name)),
      el("span.small", `${kind} · begun ${when(game.created)}${back}${watched}`),
    ),
    el("span.small", isOver ? "" : `turn ${game.turn + 1}`),
    el(state === "your turn" ? "span.yours" : "span", state),
    el("span.score", { title: "points" }, game.scores.join(" : ")),
    button,
  );
}

async function showGames() {
  const { games } = await ask("/api/games");
  $("mine").hidden = games.length === 0;
  $("learn").hidden = games.length > 0;
  $("games").replaceChildren(...games.map(describe));
}

function describeReplay({ page, names, games, created }) {
  const more = games > 1 ? ` · ${games} games` : "";
  const question = "Delete this replay? The original file stays.";
  return el(
    "li",
    el(
      "span.what",
      el("a", { href: page }, seatNames(names).join(", ") || "a record"),
      el("span.small", `opened ${when(created)}${more}`),
    ),
    deleting(page, "replay", question, showReplays),
  );
}

async function showReplays() {
  const { replays } = await ask("/api/replays");
  $("kept").hidden = replays.length === 0;
  $("replays").replaceChildren(...replays.map(describeReplay));
}

async function open(file) {
  note(`reading ${file.name} …`);
  const headers = { "Content-Type": "application/jsonl" };
  try {
    location.href = at((await ask("/api/replays", { method: "POST", headers, body: file })).page);
  } catch (error) {
    note(`${file.name}: ${error.message}`);
  }
}

// ---- setup ----

/** Show as many seats as there are players; a task decides the table. */
$("new").onchange = ({ target }) => {
  const task = tasks.find((one) => one.name === $("task").value);
  $("players").disabled = $("side").disabled = Boolean(task);
  if (task) [$("players").value, $("side").value] = [task.players, "front"];
  if (target !== $("task") && target !== $("players")) return;
  showSeats();
  showReadiness();
};
const chosen = (form) => $$("select", form).map((select) => select.value);
const games = {
  play: (form) => {
    const rival = form.elements.strength.value;
    keep("rival", rival);
    return { seats: ["me", `agent:${rival}`], names: [$("name").value.trim(), ""] };
  },
  watch: (form) => ({ seats: chosen(form) }),
  new: () => {
    const seats = chosen($("seats"));
    const names = seats.map((kind, seat) => (kind === "me" ? $(`name-${seat}`).value.trim() : ""));
    return {
      task: $("task").value,
      side: $("side").value,
      seed: $("seed").value.trim(),
      seats,
      names,
    };
  },
};
for (const [id, gameOf] of Object.entries(games)) {
  $(id).onsubmit = (event) => {
    event.preventDefault();
    const game = gameOf($(id));
    begin($(id), { players: game.seats.length, side: "front", ...game });
  };
}
// files can be dropped on the field, too
$("file").onchange = () => {
  const [file] = $("file").files ?? [];
  if (file) open(file);
};
setUpHeader();

async function load() {
  try {
    const offer = await ask("/api/options");
    ({ agents, tasks } = offer);
    const taskOption = ({ name, text }) => el("option", { value: name }, `${name}: ${text}`);
    $("task").append(...tasks.map(taskOption));
    showStrengths(offer.strengths);
    $("to-library").hidden = !offer.library;
    showSeats();
    for (const [seat, name] of [ESTIMATOR, USUAL].entries()) {
      $(`watch-${seat}`).replaceChildren(...options());
      const isThere = agents.some((one) => one.name === name && canPlay(name));
      if (isThere) $(`watch-${seat}`).value = `agent:${name}`;
    }
    showReadiness();
    $("waiting").textContent = "";
    $("play").removeAttribute("aria-busy");
    for (const button of $$("form button")) button.disabled = false;
    $("play-now").disabled =
      $("play").elements.strength === undefined || !$("play").querySelector(":checked");
    await showGames();
    await showReplays();
  } catch (error) {
    $("waiting").replaceChildren(`${error.message} `, el("button", { onclick: load }, "try again"));
  }
}
follow((told) => {
  if (!agents.length) return; // nothing to show yet
  ({ agents } = told);
  showReadiness();
});
await load();
