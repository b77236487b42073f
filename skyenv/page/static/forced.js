// Forced moves: the page plays a single legal action by itself, and says so.
import { $ } from "./dom.js";
import { tell } from "./log.js";
import { act, positionOf } from "./seat.js";
import { bindSetting, isForced } from "./settings.js";

let played = null; // the position whose action was played, or is on its way
let told = null;

/** Play a forced move; again if the server couldn't be reached, once it tells something. */
export async function playForced(state) {
  const position = positionOf(state);
  if (!isForced(state) || played === position) return;
  played = position;
  if (told !== position) tell(`forced, the only choice: ${state.legal[0].text}`);
  told = position;
  if (!(await act([state.legal[0].action])) && played === position) played = null;
}

/** Set the switch up; `changed()` is called when it was used. */
export const setUpForced = (changed) => bindSetting($("forced"), "forced", changed);
