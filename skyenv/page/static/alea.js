// Alea's cards, turned up one by one before the table shows the result.
import { $, el } from "./dom.js";
import { onArrival, onState, seat } from "./seat.js";

const [LONGEST, LINGER] = [1500, 2500]; // milliseconds: for a card; until they are taken away
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let waiting = null; // what turns up the next card, while there is one
let all = false; // whether the rest comes at once
let timer = null; // takes the cards away

/** Whether cards are being turned up. */
export const isTurning = () => waiting !== null;

/** Turn up the next card; `rest`: all of them. */
export function turnUp(rest = false) {
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
async function show(state) {
  if (!state.alea.length || !seat.state) return;
  const atOnce = calm.matches || state.pause === 0;
  all = atOnce;
  document.body.classList.toggle("turning", !atOnce);
  clearTimeout(timer);
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

/** Show them from now on. */
export function setUpAlea() {
  onArrival(show);
  onState((state) => {
    if (!state.alea.length) return;
    clearTimeout(timer);
    timer = setTimeout(() => ($("alea").hidden = true), LINGER);
  });
}
