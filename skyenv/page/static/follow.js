// The pace of agents' moves: paused, stepped, and shown one by one.
import { isTurning, turnUp } from "./alea.js";
import { $$, $, send } from "./dom.js";
import { api, attempt, load, now, onArrival, onState, seat } from "./seat.js";

let timer = null;

/** Whether this page controls the pace of agents; a spectator of others' game doesn't. */
export const isPacing = (state) => !state.watching || state.owner;

/** Show the next position, or have the next move played. */
export function next() {
  const { state } = seat;
  if (isTurning()) turnUp();
  else if (state?.behind) load();
  else if (state?.paused && isPacing(state)) attempt(() => send(`${api}/next`));
}

/** Pause or resume agents and the display; returns a promise. */
export async function togglePause() {
  const { state } = seat;
  if (!state || !isPacing(state) || (state.over && !state.behind)) return;
  await attempt(() => send(`${api}/pause`, { paused: !state.paused }));
}

/** Show the controls, and the number of positions still to show. */
function showSteps({ behind, over, paused, yours }, paces) {
  const isOwn = over || yours;
  $("pace").hidden = isOwn && !behind && !paused;
  $("next").disabled = !behind && !(paces && paused && !isOwn);
  $("skip").disabled = !behind;
  const rest = paused ? "paused" : "";
  $("behind").textContent = behind ? `${behind} more to come` : rest;
}

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
  for (const own of $$(".own", $("how"))) own.hidden = state.watching;
  if (document.activeElement !== $("pause")) $("pause").value = pause;
  $("pause-seconds").textContent = `${pause} s`;
}

/** Set the buttons up. */
export function setUpPace() {
  $("hold").onclick = togglePause;
  $("next").onclick = next;
  $("skip").onclick = () => {
    turnUp(true);
    now();
  };
  $("pause").oninput = ({ target }) => {
    $("pause-seconds").textContent = `${target.value} s`;
  };
  $("pause").onchange = ({ target }) =>
    attempt(() => send(`${api}/pause`, { seconds: Number(target.value) }));
  onState(showPace);
  onArrival((state) => {
    if (state.alea.length) $("next").disabled = $("skip").disabled = false;
  });
}
