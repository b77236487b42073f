// The pace of a game: paused, stepped, and shown one by one; forced moves; long agents' turns.
import { send } from "./api.js";
import { isCalm } from "./board.js";
import { $, el, isNews } from "./dom.js";
import { tell } from "./events.js";
import { bidFor } from "./proxy.js";
import {
  act,
  api,
  attempt,
  latest,
  load,
  now,
  onArrival,
  onState,
  positionOf,
  seat,
} from "./seat.js";
import { bindSetting, isForced } from "./settings.js";
import { doing } from "./thinking.js";

// ---- Alea's cards, turned up before the table shows the result ----

const [LONGEST, LINGER] = [1500, 2500]; // milliseconds: for a card; until they are taken away
/** @type {(() => void) | null} */
let waiting = null; // what turns up the next card, while there is one
let all = false; // whether the rest comes at once
let removal = 0; // takes the cards away

/** Turn up the next card; `rest`: all of them. */
function turnUp(rest = false) {
  all = all || rest;
  waiting?.();
}

/** Wait for a card's time, or until a click turns it up earlier. */
function pause(seconds) {
  return new Promise((resolve) => {
    const due = setTimeout(() => waiting?.(), Math.min(1000 * seconds, LONGEST));
    waiting = () => {
      clearTimeout(due);
      waiting = null;
      resolve(null);
    };
  });
}

/** @param {State} state */
export async function showAlea(state) {
  if (!state.alea.length || !seat.state) return;
  const atOnce = isCalm.matches || state.pause === 0;
  all = atOnce;
  document.body.classList.toggle("turning", !atOnce);
  clearTimeout(removal);
  for (const cards of state.alea) {
    const [place, total] = [el("span.up"), el("span.sum")];
    $("alea").replaceChildren(el("b", "Alea turns up"), place, total);
    $("alea").hidden = false;
    for (const [number, value] of cards.entries()) {
      place.append(el("span.black-card", `${value}`));
      const sum = cards.slice(0, number + 1).reduce((a, b) => a + b);
      total.textContent = number === cards.length - 1 ? `= ${sum}, her bid` : `= ${sum}`;
      if (!all) await pause(state.pause);
    }
  }
  document.body.classList.remove("turning");
}

/** @param {State} state */
function takeAway(state) {
  if (!isNews($("alea"), positionOf(state))) return;
  clearTimeout(removal);
  removal = setTimeout(() => ($("alea").hidden = true), state.alea.length && LINGER);
}

// ---- agents' moves ----

let timer = 0;

/**
 * Whether this page controls the pace of agents; a spectator of others' game doesn't.
 * @param {State} state
 */
export const isPacing = (state) => !state.watching || state.owner;

/** Show the next position, or have the next move played. */
export function next() {
  const { state } = seat;
  if (waiting) turnUp();
  else if (state?.behind) load();
  else if (state?.paused && isPacing(state)) attempt(() => send(`${api}/next`));
}

export async function togglePause() {
  const { state } = seat;
  if (!state || !isPacing(state) || (state.over && !state.behind)) return;
  await attempt(() => send(`${api}/pause`, { paused: !state.paused }));
}

/** @param {State} state */
function showSteps({ behind, over, paused, yours }, paces) {
  const isOwn = over || yours;
  $("pace").hidden = isOwn && !behind && !paused;
  $("next").disabled = !behind && !(paces && paused && !isOwn);
  $("skip").disabled = !behind;
  const rest = paused ? "paused" : "";
  $("behind").textContent = behind ? `${behind} more to come` : rest;
}

/** @param {State} state */
function showPace(state) {
  clearTimeout(timer);
  const { behind, pause, paused } = state;
  const paces = isPacing(state);
  if (behind && !paused) timer = setTimeout(load, 1000 * pause);
  $("hold").hidden = !paces;
  $("hold").textContent = paused ? "resume" : "pause";
  $("hold").ariaPressed = `${paused}`;
  showSteps(state, paces);
  $("how").hidden = !paces;
  $("own").hidden = state.watching;
  if (document.activeElement !== $("pause")) $("pause").value = pause;
  $("pause-seconds").textContent = `${pause} s`;
}

/** Set the controls up; `changed()` is called when forced moves were switched. */
export function setUpPace(changed) {
  bindSetting($("forced"), "forced", changed);
  $("hold").onclick = togglePause;
  $("next").onclick = next;
  $("skip").onclick = () => {
    turnUp(true);
    now();
  };
  const pace = $("pause");
  pace.oninput = () => ($("pause-seconds").textContent = `${pace.value} s`);
  pace.onchange = () => attempt(() => send(`${api}/pause`, { seconds: Number(pace.value) }));
  onState(showPace);
  onArrival((state) => {
    if (state.alea.length) $("next").disabled = $("skip").disabled = false;
  });
  onArrival(showAlea);
  onState(takeAway);
  onState(showTurn);
}

// ---- forced moves and bids up to a limit, which the page plays by itself ----

let played = ""; // the position whose action was played, or is on its way
let told = "";

/**
 * Play such a move; again if the server couldn't be reached, once it tells something.
 * @param {State} state
 */
export async function playForced(state) {
  const position = positionOf(state);
  const actions = isForced(state) ? [state.legal[0].action] : bidFor(state);
  if (!actions || played === position) return;
  played = position;
  if (told !== position)
    tell(isForced(state) ? `forced, the only choice: ${state.legal[0].text}` : "by your limit:");
  told = position;
  if (!(await act(actions)) && played === position) played = "";
}

// ---- long agents' turns ----

const SOON = 2; // seconds in which nothing is said
const line = $("thinking");
let shown = -1; // the step
let clock = 0;

/** Tell for how long an agent has been thinking. @param {State} state */
function showTurn({ step, over, yours, people }) {
  if (step === shown && !over) return; // drawn anew
  shown = step;
  clearInterval(clock);
  line.hidden = true;
  const acting = $("board").querySelector("[data-acting]")?.dataset.acting;
  const player = people.seats[Number(acting)];
  if (over || yours || !player?.agent) return;
  let seconds = 0;
  clock = setInterval(() => {
    seconds += 1;
    line.hidden = latest().paused || seconds < SOON;
    line.textContent = doing(player.agent, seconds);
  }, 1000);
}
