// The share of the win that every seat can expect, beside the VP, for who wants to see it.
import { ask } from "./dom.js";
import { $, api, onState, seat } from "./seat.js";
import { bindSetting, isOn } from "./settings.js";

let asked = null;  // stops the question under way
let told = {};     // what is shown, `shares` in hundredths or `trouble`, and of which position

/** Shares as whole hundredths that sum to 100: those that lose most by being cut get one more. */
function hundredths(shares) {
  const cut = shares.map((share) => Math.floor(100 * share));
  const missing = 100 - cut.reduce((a, b) => a + b);
  const byLoss = shares.map((share, seat) => [100 * share - cut[seat], seat]).sort((a, b) => b[0] - a[0]);
  for (const [, seat] of byLoss.slice(0, missing)) cut[seat] += 1;
  return cut;
}

/** Write down what is known; the column is as wide as it will be. */
function write() {
  const wanted = seat.state.can_expect && isOn("expected", false);
  $("leads-share").hidden = !wanted;
  for (const [number, cell] of [...$("leads-body").querySelectorAll(".expected")].entries()) {
    cell.hidden = !wanted;
    const text = wanted ? (told.shares ? `${told.shares[number]} %` : told.trouble ? "–" : "…") : "";
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
    mine.shares = hundredths((await ask(`${api}/expected?step=${state.step}`, { signal: asked.signal })).shares);
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
