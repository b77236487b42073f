// The share of the win that every seat can expect, beside the VP, for who wants to see it.
import { ask } from "./dom.js";
import { $, api, onState, seat } from "./seat.js";
import { bindSetting, isOn } from "./settings.js";

let asked = null;  // stops the question under way
let told = {};     // what is shown, `shares` or `trouble`, and of which position

const percent = (share) => `${Math.round(100 * share)} %`;

/** Write down what is known; the column is as wide as it will be. */
function write() {
  const wanted = seat.state.can_expect && isOn("expected", false);
  $("leads-share").hidden = !wanted;
  for (const [number, cell] of [...$("leads-body").querySelectorAll(".expected")].entries()) {
    cell.hidden = !wanted;
    const text = wanted ? (told.shares ? percent(told.shares[number]) : told.trouble ? "–" : "…") : "";
    if (cell.textContent !== text) cell.textContent = text;
  }
  $("expected-trouble").textContent = wanted ? told.trouble ?? "" : "";
  return wanted;
}

async function show(state) {
  $("expected-switch").hidden = !state.can_expect;
  if (told.step !== state.step || told.undone !== state.undone) {
    asked?.abort();
    asked = null;
    told = { step: state.step, undone: state.undone };
  }
  if (!write() || asked || told.shares || told.trouble) return;
  const mine = told;
  asked = new AbortController();
  try {
    mine.shares = (await ask(`${api}/expected?step=${state.step}`, { signal: asked.signal })).shares;
  } catch (error) {
    if (error.name === "AbortError") return;
    mine.trouble = error.message;
  }
  if (mine !== told) return;
  asked = null;
  write();
}

/** Offer it. */
export function setUpExpected() {
  onState(show);
  bindSetting($("expected"), "expected", false, () => show(seat.state));
}
