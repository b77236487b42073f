// The client of one seat: the latest state, requests, and updates.
import { ask, send, whole } from "./api.js";
import { digestsOf, isUpright, markLegal } from "./board.js";
import { $, $$, note as tell, onReturn } from "./dom.js";
import { storeName, storedName, theme } from "./settings.js";

export const api = `/api/seats/${location.pathname.split("/").pop()}`;

/**
 * The latest state from the server, with a whole `drawing`; null before the first.
 * @type {{ state: State | null }}
 */
export const seat = { state: null };

export function latest() {
  if (!seat.state) throw new Error("there is no position yet");
  return seat.state;
}

/** The identity of a position; a step can come again after a takeback. @param {State} state */
export const positionOf = (state) => `${state.undone}:${state.step}`;

let lines = 0; // log lines on the page
/** @type {Promise<void> | null} */
let busy = null; // ends with the request under way whose answer is to be shown
let again = false; // whether something has changed meanwhile
let wait = 500; // milliseconds until the next try to connect
/** @type {WebSocket | null} */
let socket = null;
// whether the page is final: no such seat, or a game that can't be played any more
let gone = false;
let trouble = null; // the server's latest report of trouble
// whether the seat isn't this browser's: no requests until it is taken
let closed = false;
let noted = -1; // the step to which a message belongs
let cover = (_curtain) => {}; // shows the curtain
// this page's name, so that it gets no news of its own requests
const tab = Math.random().toString(36).slice(2);
const shows = []; // callbacks for every state
const arrivals = []; // callbacks awaited before a state is shown
let arriving = false;
const hears = {}; // callbacks by kind of news

/**
 * Have `show(state)` called for every new state.
 * @param {(state: State) => void} show
 */
export const onState = (show) => shows.push(show);

/**
 * Have `arrive(state)` awaited before a state is shown; the seat can't act meanwhile.
 * @param {(state: State) => Promise<void> | void} arrive
 */
export const onArrival = (arrive) => arrivals.push(arrive);

/** Have `show(curtain)` called when another player at this screen is to act. */
export const onCurtain = (show) => (cover = show);

/** Have `hear()` called for that kind of news. */
export const onNews = (what, hear) => (hears[what] = hear);

/** Show a message; "" removes it. */
export function note(text) {
  tell(text);
  noted = seat.state?.step ?? -1;
}

// ---- actions ----

/** Call a function and show its error. Returns whether it succeeded. */
export async function attempt(doing) {
  try {
    note(seat.state?.trouble ?? "");
    await doing();
    return true;
  } catch (error) {
    if (error.status === 409) await load(); // shown too late
    note(error.message);
    return false;
  }
}

const change = async (path, value) =>
  arriving || attempt(() => update((known) => send(`${api}/${path}?${known}`, value)));
/** Play actions of this seat, one after the other. */
export const act = (actions) => change("act", { actions, step: latest().step });
export const undo = () => change("undo");

export async function take() {
  storeName($("take-name").value);
  try {
    await send(`${api}/claim`, { name: storedName() });
    await begin();
  } catch (error) {
    $("take-text").textContent = error.message;
  }
}

// ---- updates ----

export const now = () => load(true);

/** Show the next position, so that none is skipped, or the newest. */
export async function load(skip = false) {
  if (busy) {
    again = true;
    return;
  }
  await update((known) => ask(`${api}?${known}`), skip).catch(fail);
}

function known(skip) {
  const last = seat.state;
  const after = last && last.pause > 0 && skip !== true ? `&after=${last.step}` : "";
  const log = last ? `&lines=${lines}&undone=${last.undone}` : "";
  const look = `page=1&tab=${tab}&theme=${theme()}${isUpright.matches ? "&narrow=1" : ""}`;
  return `${look}${log}${after}&drawn=${digestsOf(last?.drawing)}`;
}

/** Show the answer of `asking(known)`, after the request before it. */
async function update(asking, skip = false) {
  while (busy) await busy;
  let done;
  busy = new Promise((resolve) => {
    done = resolve;
  });
  try {
    await arrive(await asking(known(skip)));
  } finally {
    busy = null;
    arriving = false;
    done();
    if (again) {
      again = false;
      load();
    }
  }
}

async function arrive(state) {
  if (state.refused)
    throw Object.assign(new Error(state.refused), { status: 403, free: state.free });
  closed = false;
  if (state.curtain) {
    // so that no trace of the hand stays in the page
    if (seat.state !== null) location.reload();
    reveal("curtain");
    cover(state.curtain);
    return;
  }
  arriving = true;
  for (const wait of arrivals) await wait(state);
  arriving = false;
  state.drawing = { ...seat.state?.drawing, ...state.drawing };
  seat.state = state;
  lines = state.log.from + state.log.lines.length;
  reveal("table");
  showOffline(false);
  // Other messages stay until the next action.
  if (state.trouble !== trouble || (noted !== state.step && !$("note").hidden))
    note(state.trouble ?? "");
  trouble = state.trouble;
  for (const show of shows) show(state);
}

/** Show one of the page's parts: "take", "gone", "curtain" or "table". */
function reveal(name) {
  for (const part of ["take", "gone", "curtain", "table"]) $(part).hidden = part !== name;
}

function fail(error) {
  if (error.status === 403) {
    reveal("take");
    closed = true;
    $("take-text").textContent = error.message;
    $("take-button").hidden = $("take-as").hidden = !error.free;
    $("take-name").value = storedName();
    document.title = "Fifth Avenue";
  } else if (error.status === 404 || error.status === 409 || seat.state === null) {
    gone = error.status === 404 || error.status === 409;
    reveal("gone");
    $("gone-text").textContent = error.status ? error.message : `${error.message} Trying again …`;
    if (gone) socket?.close();
  } else if (error.status) note(error.message);
  else showOffline(!$("table").hidden); // a seat that isn't taken has no connection
}

/** Whether the server is away. */
export const isAway = () => !$("offline").hidden;

/** Say that the server is away, or back: whatever asks it is off meanwhile. */
function showOffline(away) {
  if (isAway() === away) return;
  $("offline").hidden = !away;
  for (const part of $$("[data-asks]")) part.inert = away;
  markLegal($("board"));
}

async function retry() {
  await load(); // a socket doesn't tell why it was refused, and some networks let none through
  if (!gone && !closed) connect();
}

function connect() {
  const made = (socket = new WebSocket(whole(`${api}/changes?tab=${tab}`).replace("http", "ws")));
  made.onopen = () => {
    wait = 500;
    note(seat.state?.trouble ?? "");
    load();
  };
  made.onmessage = (event) => (hears[event.data] ?? load)();
  made.onclose = () => {
    if (gone || closed) return;
    setTimeout(retry, wait);
    wait = Math.min(wait * 1.5, 5000);
  };
}

// A page in the back/forward cache would hold its seat.
addEventListener("pagehide", () => {
  gone = true;
  socket?.close();
});
onReturn(() => location.reload());

export async function begin() {
  wait = 500;
  await load();
  if (!gone && !closed) connect();
}
