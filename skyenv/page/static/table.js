// A seat at a table: what the server tells is shown, clicks are sent.
import { actionOf, explainBoard, isNarrow, showBoard } from "./board.js";
import { ask, el, hintList, send, theme, themeButton } from "./dom.js";

const api = `/api/seats/${location.pathname.split("/").pop()}`;
const $ = (name) => document.getElementById(name);
let state = null;     // what the server told last
let lines = 0;        // lines of the log that are shown
let chosen = null;    // the commissioner that was clicked
let busy = null;      // the load under way
let wait = 500;       // milliseconds until the next try to connect
let socket = null;    // tells of changes
let again = false;    // whether something has changed meanwhile
let gone = false;     // whether there is nothing to wait for: no such seat, or a game that can't be played any more
let trouble = null;   // what the server told of troubles last
let holding = false;  // whether the keyboard was among the choices when they went
let worded = null;    // the drawing whose text was fetched
let asking = false;   // whether an agent is thinking of a hint

// ---- telling ----

const note = (text) => { $("note").textContent = text; $("note").hidden = !text; };
const isLegal = (part) => {
  if (!state?.yours) return false;
  if (part.dataset.commissioner !== undefined) return movesOf(part.dataset.commissioner).length > 0;
  return state.legal.some((choice) => choice.action === actionOf(part, state.seat));
};
const movesOf = (who) => state.legal.map((choice) => choice.action).filter((a) => Math.floor((a - 60) / 9) === Number(who) && a >= 60 && a < 78);

function whyNot(part) {
  if (!state || state.seat === null || isLegal(part)) return "";
  if (state.over) return "the game is over";
  const who = part.dataset.commissioner;
  const action = who === undefined ? actionOf(part, state.seat) : 60 + 9 * Number(who);  // its moves have one reason
  if (action === null) {
    if (!state.yours) return Object.keys(state.why)[0] ?? "";
    if (part.dataset.stack) return "black cards come with options C and D; they can't be chosen";
    return "";
  }
  return Object.entries(state.why).find(([, actions]) => actions.includes(action))?.[0] ?? "";
}

function say(part) {
  const what = part.getAttribute("aria-label") ?? "";
  const choice = state?.legal.find((one) => one.action === actionOf(part, state.seat));
  const why = choice ? `click: ${choice.text}` : whyNot(part);
  return [what, why].filter(Boolean).join(" — ");
}

// ---- showing ----

function show() {
  document.title = `${state.yours ? "● " : ""}Fifth Avenue`;
  $("situation").textContent = state.situation;
  document.body.classList.toggle("yours", state.yours);
  if (state.trouble !== trouble) note(state.trouble ?? "");  // other messages stay until somebody does something
  trouble = state.trouble;
  showBoard($("board"), state.svg, click, isLegal);
  chosen = null;
  showChoices();
  showLog();
  showInvitations();
  $("pause").value = state.pause;
  $("pause-seconds").textContent = `${state.pause} s`;
  showHints();
  $("finished").hidden = !state.over;
  $("release").hidden = state.watching || state.over;
  if (state.over) showFinal();
  if ($("words").open) showWords();
}

async function showWords() {
  if (worded === state.svg) return;
  const wanted = worded = state.svg;
  try {
    const words = await ask(`${api}/words`);
    if (worded === wanted) $("words-text").textContent = words.text;
  } catch (error) {
    worded = null;
    note(error.message);
  }
}

function showChoices() {
  const button = (choice) => el("button", {
    type: "button", class: choice.place ? null : "primary", "data-choice": choice.action, onclick: () => act(choice.action),
  }, choice.text);
  const shown = JSON.stringify([state.legal, state.undo, state.step]);
  if ($("choices").dataset.shown === shown) return;
  $("choices").dataset.shown = shown;
  const active = document.activeElement;
  const focused = $("choices").contains(active) && active.matches(":focus-visible") ? active : null;  // not for clicks
  const others = state.legal.filter((choice) => choice.place);
  $("buttons").replaceChildren(...state.legal.filter((choice) => !choice.place).map(button));
  if (state.undo) {
    $("buttons").append(el("button", { type: "button", id: "undo", onclick: undo }, "take back the last card"));
  }
  $("all").hidden = others.length === 0;
  $("all-title").textContent = `The ${others.length} choices on the table as a list`;
  $("places").replaceChildren(...others.map((choice) => el("li", {}, button(choice))));
  $("choices").hidden = state.legal.length === 0;
  keepFocus(focused);
}

/** The keyboard stays among the choices, also over the moves of others: who has chosen by key goes on where it was. */
function keepFocus(focused) {
  if (focused) holding = true;
  else if (document.activeElement !== document.body) holding = false;
  if (!holding || $("choices").hidden) return;
  const same = focused?.dataset.choice ? `[data-choice="${focused.dataset.choice}"]` : focused?.id ? `[id="${focused.id}"]` : null;
  const kept = (same && $("choices").querySelector(same)) ?? null;
  const visible = (part) => part && part.getClientRects().length > 0;
  const next = [kept, $("buttons").querySelector("button"), $("places").querySelector("button"), $("all-title")].find(visible);
  next?.focus({ preventScroll: true });
  holding = !next;
}

function showLog() {
  const list = $("log");
  for (const line of list.querySelectorAll(".new")) line.classList.remove("new");
  if (state.log.from < lines) list.replaceChildren();
  list.append(...state.log.lines.map((line) => el("li", { class: lines ? "new" : null }, line)));
  if (state.log.lines.length) list.scrollTop = list.scrollHeight;
  lines = state.log.from + state.log.lines.length;
}

function showInvitations() {
  const address = (one) => new URL(one.page, location.href).href;
  const shown = JSON.stringify(state.invitations);
  if ($("invitations").dataset.shown === shown) return;  // lest a link is made anew while somebody clicks it
  $("invitations").dataset.shown = shown;
  $("invitations").hidden = state.invitations.length === 0;
  $("invitation-list").replaceChildren(...state.invitations.map((one) => el("li", {},
    `seat ${one.seat}: `, el("a", { href: one.page }, address(one)), " ",
    el("button", { type: "button", class: "quiet", onclick: (event) => copy(address(one), event.target) }, "copy"))));
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    note("This browser doesn't let pages copy; mark the address instead.");
  }
}

function showFinal() {
  if ($("final").dataset.shown) return;
  $("final").dataset.shown = "yes";
  const head = el("tr", {}, el("th", { scope: "col" }, "step"), ...state.names.map((name, seat) => el("th", { scope: "col" }, `${seat} ${name}`)));
  const body = el("tbody", { "aria-live": "polite" });
  let next = 0;
  const step = () => {
    const one = state.final[next++];
    body.append(el("tr", {}, el("td", {}, one.text), ...one.scores.map((score, seat) => el("td", {},
      one.vp?.[seat] ? el("b", {}, `+${one.vp[seat]} `) : null, `${score}`))));
    more.hidden = rest.hidden = next >= state.final.length;
  };
  const more = el("button", { type: "button", class: "primary", id: "final-next", onclick: step }, "next step");
  const rest = el("button", { type: "button", id: "final-all", onclick: () => { while (next < state.final.length) step(); } }, "all of it");
  $("final").replaceChildren(el("table", {}, el("thead", {}, head), body), el("p", { class: "row" }, more, rest));
  if (state.final.length) step();
}

// ---- doing ----

async function attempt(doing) {
  try {
    note(state?.trouble ?? "");
    await doing();
  } catch (error) {
    if (error.status === 409) await load();  // shown too late
    note(error.message);
  }
}

const act = (action) => attempt(() => send(`${api}/act`, { action, step: state.step }).then(unlessTold));
const undo = () => attempt(() => send(`${api}/undo`).then(unlessTold));
const unlessTold = () => { if (socket?.readyState !== WebSocket.OPEN) load(); };

function click(part) {
  if (!isLegal(part)) return;
  if (part.dataset.commissioner === undefined) {
    act(actionOf(part, state.seat));
    return;
  }
  const moves = movesOf(part.dataset.commissioner);
  if (moves.length === 1) {
    act(moves[0]);
    return;
  }
  chosen = part.dataset.commissioner;
  for (const place of $("board").querySelectorAll("[data-place]")) {
    place.classList.toggle("faded", !place.dataset.place.startsWith(`${chosen}:`));
  }
  $("board").querySelector(`[data-place^="${chosen}:"]`)?.focus();
}

async function loadAdvisers() {
  if ($("adviser").options.length) return;
  const { agents } = await ask("/api/options");
  $("adviser").replaceChildren(...agents.map((one) => el("option", { value: one.name, title: one.description }, one.name)));
  showHints();
}

function showHints() {
  $("hints").hidden = state.watching || state.over;
  $("ask-hint").disabled = !state.yours || !$("adviser").value;
  if ($("hint").dataset.step !== String(state.step)) $("hint").replaceChildren();  // it was for another position
  $("hint").dataset.step = state.step;
}

async function hint() {
  if (asking) return;
  const name = $("adviser").value;
  asking = true;
  $("hint").replaceChildren(el("p", {}, `${name} is thinking …`));
  await attempt(async () => {
    try {
      const hint = await ask(`${api}/hint?agent=${encodeURIComponent(name)}`);
      if (hint.step !== state.step) return;
      $("hint").replaceChildren(hintList(hint));
      for (const part of $("board").querySelectorAll(".hinted")) part.classList.remove("hinted");
      for (const part of $("board").querySelectorAll(`[data-action="${hint.action}"]`)) part.classList.add("hinted");
    } catch (error) {
      $("hint").replaceChildren();
      throw error;
    } finally {
      asking = false;
    }
  });
}

// ---- staying up to date ----

async function load() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    state = await ask(`${api}?theme=${theme()}&lines=${lines}${isNarrow() ? "&narrow=1" : ""}`);
    reveal("table");
    show();
  } catch (error) {
    fail(error);
  } finally {
    busy = null;
    if (again) { again = false; load(); }
  }
}

/** Show one of the page's parts: "take", "gone" or "table". */
function reveal(name) {
  for (const part of ["take", "gone", "table"]) $(part).hidden = part !== name;
}

function fail(error) {
  if (error.status === 403) {
    reveal("take");
    $("take-text").textContent = error.message;
  } else if (error.status === 404 || error.status === 409 || state === null) {
    gone = error.status === 404 || error.status === 409;
    reveal("gone");
    $("gone-text").textContent = error.status ? error.message : `${error.message} Trying again …`;
    if (gone) socket?.close();
  } else if ($("offline").hidden) note(error.message);
}

async function retry() {
  await load();  // a socket doesn't tell why it was refused
  if (!gone) connect();
}

function connect() {
  socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}${api}/changes`);
  socket.onopen = () => { $("offline").hidden = true; wait = 500; note(state?.trouble ?? ""); load(); loadAdvisers().catch((error) => note(error.message)); };
  socket.onmessage = load;
  socket.onclose = () => {
    if (gone) return;
    $("offline").hidden = $("table").hidden;  // a seat that isn't taken has no connection
    setTimeout(retry, wait);
    wait = Math.min(wait * 1.5, 5000);
  };
}

// ---- setting up ----

document.querySelector("header").append(themeButton(() => load()));
new ResizeObserver(() => {  // on phones the choices cover the page's lower end, which must stay reachable below them
  document.documentElement.style.setProperty("--choices", `${$("choices").offsetHeight}px`);
}).observe($("choices"));
explainBoard($("board"), say, isLegal);
matchMedia("(max-width: 699px)").addEventListener("change", () => load());
$("ask-hint").onclick = hint;
$("pause").oninput = (event) => { $("pause-seconds").textContent = `${event.target.value} s`; };
$("pause").onchange = (event) => attempt(() => send(`${api}/pause`, { seconds: Number(event.target.value) }));
$("take-button").onclick = () => send(`${api}/claim`).then(() => { wait = 500; return load(); }, (error) => { $("take-text").textContent = error.message; });
$("release").onclick = () => {
  if (confirm("Give this seat up, so that another browser can take it with this address?")) attempt(() => send(`${api}/release`).then(load));
};
$("record").href = `${api}/record`;
$("replay").onclick = () => attempt(async () => { location.href = (await send(`${api}/replay`)).page; });
$("words").ontoggle = () => { if ($("words").open && state) showWords(); };
await load();
if (!gone) connect();
