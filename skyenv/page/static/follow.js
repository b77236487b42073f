// The moves of others at a pace that can be followed: paused, stepped, and none of them skipped.
import { holdCards, isTurning, turnUp } from "./alea.js";
import { send } from "./dom.js";
import { $, api, attempt, load, now, onArrival, onNews, onState, seat } from "./seat.js";

let timer = null;
let held = false; // whether who only looks on has paused his own view; the game goes on
let missed = false; // whether something has happened since

/**
 * Whether this page says when agents move; who looks on at a game of others paces what he sees of
 * it.
 */
const isForAll = (state) => !state.watching || state.owner;

/** Go on to the next position that hasn't been shown, or have the next move played. */
export function next() {
  if (isTurning()) turnUp();
  else if (seat.state?.behind || missed) show();
  else if (seat.state?.paused && isForAll(seat.state)) attempt(() => send(`${api}/next`));
}

/** Show the next position, also while the view is held. */
function show() {
  missed = false;
  load(false, held);
}

/**
 * Stop agents and what is shown of them, or let them go on; for who looks on, only what is shown.
 */
export function togglePause() {
  const { state } = seat;
  if (!state || (state.over && !state.behind)) return;
  if (isTurning()) {
    // the table's own news wait for the cards
    toggleCards(state);
    return;
  }
  if (isForAll(state)) return attempt(() => send(`${api}/pause`, { paused: !state.paused }));
  held = !held;
  if (missed && !held) show();
  showPace(state);
}

/** Let moves wait, so that what is shown stays; the promise of it. */
export const hold = () => (seat.state.paused || held ? null : togglePause());

function toggleCards(state) {
  const paused = $("hold").getAttribute("aria-pressed") !== "true";
  if (isForAll(state)) attempt(() => send(`${api}/pause`, { paused }));
  else held = paused;
  showHold(state, paused);
  holdCards(paused);
}

function showHold(state, paused) {
  $("hold").textContent = paused ? "go on" : "pause";
  $("hold").title = isForAll(state) ? "pause (space)" : "pause what you see of the game (space)";
  $("hold").setAttribute("aria-pressed", String(paused));
}

function hear() {
  if (!held) {
    load();
    return;
  }
  missed = true;
  showPace(seat.state);
}

/** Show what can be gone on with by hand, and how much there is of it. */
function showSteps(state, paused) {
  const isMore = state.behind > 0 || missed,
    isOwn = state.over || state.yours;
  $("pace").hidden = isOwn && !isMore && !paused;
  $("next").disabled = !isMore && !(isForAll(state) && state.paused && !isOwn);
  $("skip").disabled = !isMore;
  $("behind").textContent = state.behind
    ? `${state.behind} more to come`
    : missed
      ? "more has happened"
      : paused
        ? "paused"
        : "";
}

function showPace(state) {
  clearTimeout(timer);
  const paused = state.paused || held;
  if (state.behind && !paused) timer = setTimeout(load, 1000 * state.pause);
  showHold(state, isForAll(state) ? state.paused : held);
  showSteps(state, paused);
  $("how").hidden = !isForAll(state);
  for (const own of $("how").querySelectorAll(".own")) own.hidden = state.watching;
  if (document.activeElement !== $("pause")) $("pause").value = state.pause;
  $("pause-seconds").textContent = `${state.pause} s`;
}

/** Set the buttons up. */
export function setUpPace() {
  $("hold").onclick = togglePause;
  $("next").onclick = next;
  $("skip").onclick = () => {
    missed = false;
    turnUp(true);
    now();
  };
  $("pause").oninput = (event) => {
    $("pause-seconds").textContent = `${event.target.value} s`;
  };
  $("pause").onchange = (event) =>
    attempt(() => send(`${api}/pause`, { seconds: Number(event.target.value) }));
  onState(showPace);
  onArrival((state) => {
    if (!state.alea.length) return;
    $("next").disabled = $("skip").disabled = false;
    holdCards(held || seat.state.paused);
  });
  onNews("changed", hear);
}
