// The seat that a table's page shows: what the server told last, what is sent to it, and staying up
// to date.
import { digestsOf, isUpright, merged } from "./board.js";
import { $, ask, note as tell, onReturn, send, theme, whole } from "./dom.js";
import { storedName, storeName } from "./settings.js";

export const api = `/api/seats/${location.pathname.split("/").pop()}`;

/**
 * What the server told last: `seat.state`, null before it has told anything; its `drawing` is the
 * whole one.
 * @type {{ state: State | null }}
 */
export const seat = { state: null };

/** Tells the positions of a game apart; a step can come again after something was taken back. */
export const positionOf = (state) => `${state.undone}:${state.step}`;

let lines = 0; // lines of the log that the page has
let busy = null; // ends with the request under way whose answer is to be shown
let again = false; // whether something has changed meanwhile
let wait = 500; // milliseconds until the next try to connect
let socket = null; // tells of changes
// whether there is nothing to wait for: no such seat, or a game that can't be played any more
let gone = false;
let trouble = null; // what the server told of troubles last
// whether the seat isn't this browser's: nothing is asked until somebody takes it
let closed = false;
let noted = null; // the step to which a message belongs
let cover = null; // shows the curtain
// this page's name: it isn't told what its own requests are answered
const tab = Math.random().toString(36).slice(2);
const shows = []; // what is done with every state
const arrivals = []; // what is waited for before a state is shown
let arriving = false; // whether it is
const hears = {}; // what is done with other news than that anything has changed
const connects = []; // what is done whenever the connection is there

/**
 * Have `show(state)` called whenever the server has told something.
 * @param {(state: State) => void} show
 */
export const onState = (show) => shows.push(show);

/**
 * Have `arrive(state)` waited for before a state is shown; nothing can be played meanwhile.
 * @param {(state: State) => Promise<void> | void} arrive
 */
export const onArrival = (arrive) => arrivals.push(arrive);

/** Have `begin()` called whenever the connection is there (again). */
export const onConnect = (begin) => connects.push(begin);

/** Have `show(curtain)` called when somebody else at this screen is to act. */
export const onCurtain = (show) => (cover = show);

/** Have `hear()` called when the server tells that news. */
export const onNews = (what, hear) => (hears[what] = hear);

/** Show a message; "" takes it away. */
export function note(text) {
  tell(text);
  noted = seat.state?.step;
}

// ---- doing ----

/** Do something that may fail; why it failed is shown. Tells whether it was done. */
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

/** Do something on this seat and show what the answer tells. */
const change = async (path, value) =>
  arriving || attempt(() => update((known) => send(`${api}/${path}?${known}`, value)));
/** Play actions of this seat, one after the other. */
export const act = (actions) => change("act", { actions, step: seat.state.step });
/** Take back what this seat did last. */
export const undo = () => change("undo");

/** Take the seat for this browser. */
export async function take() {
  storeName($("take-name").value);
  try {
    await send(`${api}/claim`, { name: storedName() });
    await begin();
  } catch (error) {
    $("take-text").textContent = error.message;
  }
}

// ---- staying up to date ----

/** Show the position as it is now, whatever lies between. */
export const now = () => load(true);

/** Show the position after the one that is shown, so that none is skipped, or the newest. */
export async function load(skip = false) {
  if (busy) {
    again = true;
    return;
  }
  await update((known) => ask(`${api}?${known}`), skip).catch(fail);
}

/** What the page has, and what comes after it, for the address of a request. */
function known(skip) {
  const last = seat.state;
  const after = last && last.pause > 0 && skip !== true ? `&after=${last.step}` : "";
  const log = last ? `&lines=${lines}&undone=${last.undone}` : "";
  const look = `page=1&tab=${tab}&theme=${theme()}${isUpright.matches ? "&narrow=1" : ""}`;
  return `${look}${log}${after}&drawn=${digestsOf(last?.drawing ?? null)}`;
}

/** Show what `asking(known)` is answered, when the request before it is done. */
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

/** Show what the server has told. */
async function arrive(state) {
  if (state.refused)
    throw Object.assign(new Error(state.refused), { status: 403, free: state.free });
  closed = false;
  if (state.curtain) {
    // so that nothing of the hand that was shown stays in the page
    if (seat.state !== null) location.reload();
    reveal("curtain");
    cover(state.curtain);
    return;
  }
  arriving = true;
  for (const wait of arrivals) await wait(state);
  arriving = false;
  state.drawing = merged(seat.state?.drawing ?? null, state.drawing);
  seat.state = state;
  lines = state.log.from + state.log.lines.length;
  reveal("table");
  $("offline").hidden = true;
  // Other messages stay until they are no longer true: until somebody does something.
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
    $("take-text").textContent = error.free
      ? `${error.message}. Take it to play here.`
      : `${error.message}. Ask for the address of another seat, or make a table of your own.`;
    $("take-button").hidden = $("take-as").hidden = !error.free;
    $("take-name").value = storedName();
    document.title = "Fifth Avenue";
  } else if (error.status === 404 || error.status === 409 || seat.state === null) {
    gone = error.status === 404 || error.status === 409;
    reveal("gone");
    $("gone-text").textContent = error.status ? error.message : `${error.message} Trying again …`;
    if (gone) socket?.close();
  } else if (error.status) note(error.message);
  else $("offline").hidden = $("table").hidden; // a seat that isn't taken has no connection
}

async function retry() {
  await load(); // a socket doesn't tell why it was refused, and some networks let none through
  if (!gone && !closed) connect();
}

function connect() {
  socket = new WebSocket(whole(`${api}/changes?tab=${tab}`).replace("http", "ws"));
  socket.onopen = () => {
    wait = 500;
    note(seat.state?.trouble ?? "");
    load();
    for (const begin of connects) begin();
  };
  socket.onmessage = (event) => (hears[event.data] ?? load)();
  socket.onclose = () => {
    if (gone || closed) return;
    setTimeout(retry, wait);
    wait = Math.min(wait * 1.5, 5000);
  };
}

// A page that is kept for "back" would hold its seat.
addEventListener("pagehide", () => {
  gone = true;
  socket?.close();
});
onReturn(() => location.reload());

/** Show the table and keep it up to date. */
export async function begin() {
  wait = 500;
  await load();
  if (!gone && !closed) connect();
}
