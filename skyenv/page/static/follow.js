// The moves of others at a pace that can be followed: paused, stepped, and none of them skipped.
import { send } from "./dom.js";
import { $, api, attempt, load, now, onState, seat } from "./seat.js";

let timer = null;

/** Go on to the next position that hasn't been shown, or have the next move played. */
export function next() {
  if (seat.state?.behind) load();
  else if (seat.state?.paused) attempt(() => send(`${api}/next`));
}

/** Stop agents and what is shown of them, or let them go on. */
export const togglePause = () => { if (!seat.state?.over) attempt(() => send(`${api}/pause`, { paused: !seat.state.paused })); };

function showPace(state) {
  clearTimeout(timer);
  if (state.behind && !state.paused) timer = setTimeout(load, 1000 * state.pause);
  $("pace").hidden = state.over && !state.behind;
  $("hold").textContent = state.paused ? "go on" : "pause";
  $("hold").setAttribute("aria-pressed", String(state.paused));
  $("next").disabled = !state.behind && !(state.paused && !state.yours && !state.over);
  $("skip").disabled = !state.behind;
  $("behind").textContent = state.behind ? `${state.behind} more to come` : state.paused ? "paused" : "";
  if (document.activeElement !== $("pause")) $("pause").value = state.pause;
  $("pause-seconds").textContent = `${state.pause} s`;
}

/** Set the buttons up. */
export function setUpPace() {
  $("hold").onclick = togglePause;
  $("next").onclick = next;
  $("skip").onclick = now;
  $("pause").oninput = (event) => { $("pause-seconds").textContent = `${event.target.value} s`; };
  $("pause").onchange = (event) => attempt(() => send(`${api}/pause`, { seconds: Number(event.target.value) }));
  onState(showPace);
}
