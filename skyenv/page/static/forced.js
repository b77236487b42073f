// A decision with one legal action is no decision: the page plays it by itself, and says so.
import { tell } from "./log.js";
import { $, act } from "./seat.js";
import { bindSetting, isForced } from "./settings.js";

let played = null;  // the step whose action was played

/** Play a forced move. */
export function playForced(state) {
  if (!isForced(state) || played === state.step) return;
  played = state.step;
  tell(`forced, the only choice: ${state.legal[0].text}`);
  act([state.legal[0].action]);
}

/** Set the switch up; `changed()` is called when it was used. */
export const setUpForced = (changed) => bindSetting($("forced"), "forced", true, changed);
