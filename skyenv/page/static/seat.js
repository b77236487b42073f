// The seat that a table's page shows: what the server told last, what is sent to it, and staying up to date.
import { digestsOf, isNarrow, merged } from "./board.js";
import { ask, send, theme } from "./dom.js";

export const api = `/api/seats/${location.pathname.split("/").pop()}`;
export const $ = (name) => document.getElementById(name);

/** What the server told last: `seat.state`, null before it has told anything; its `drawing` is the whole one. */
export const seat = { state: null };

let lines = 0;        // lines of the log that the page has
let busy = null;      // the load under way
let again = false;    // whether something has changed meanwhile
let wait = 500;       // milliseconds until the next try to connect
let socket = null;    // tells of changes
let gone = false;     // whether there is nothing to wait for: no such seat, or a game that can't be played any more
let trouble = null;   // what the server told of troubles last
const shows = [];     // what is done with every state
const connects = [];  // what is done whenever the connection is there

/** Have `show(state)` called whenever the server has told something, in the order of these calls. */
export const onState = (show) => { shows.push(show); };

/** Have `begin()` called whenever the connection is there (again). */
export const onConnect = (begin) => { connects.push(begin); };

/** Show a message; "" takes it away. */
export const note = (text) => { $("note").textContent = text; $("note").hidden = !text; };

// ---- doing ----

/** Do something that may fail; why it failed is shown. */
export async function attempt(doing) {
  try {
    note(seat.state?.trouble ?? "");
    await doing();
  } catch (error) {
    if (error.status === 409) await load();  // shown too late
    note(error.message);
  }
}

export const act = (action) => attempt(() => send(`${api}/act`, { action, step: seat.state.step }).then(unlessTold));
export const undo = () => attempt(() => send(`${api}/undo`).then(unlessTold));
const unlessTold = () => { if (socket?.readyState !== WebSocket.OPEN) load(); };

/** Take the seat for this browser. */
export const take = () => send(`${api}/claim`).then(() => { wait = 500; return load(); }, (error) => { $("take-text").textContent = error.message; });

// ---- staying up to date ----

/** Ask the server for the table and show it. */
export async function load() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const known = seat.state?.drawing ?? null;
    const state = await ask(`${api}?theme=${theme()}&lines=${lines}${isNarrow() ? "&narrow=1" : ""}&drawn=${digestsOf(known)}`);
    state.drawing = merged(known, state.drawing);
    seat.state = state;
    lines = state.log.from + state.log.lines.length;
    reveal("table");
    if (state.trouble !== trouble) note(state.trouble ?? "");  // other messages stay until somebody does something
    trouble = state.trouble;
    for (const show of shows) show(state);
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
  } else if (error.status === 404 || error.status === 409 || seat.state === null) {
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
  socket.onopen = () => {
    $("offline").hidden = true;
    wait = 500;
    note(seat.state?.trouble ?? "");
    load();
    for (const begin of connects) begin();
  };
  socket.onmessage = load;
  socket.onclose = () => {
    if (gone) return;
    $("offline").hidden = $("table").hidden;  // a seat that isn't taken has no connection
    setTimeout(retry, wait);
    wait = Math.min(wait * 1.5, 5000);
  };
}

/** Show the table and keep it up to date. */
export async function begin() {
  await load();
  if (!gone) connect();
}
