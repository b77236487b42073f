// Long agents' turns: the agent that thinks, and its time.
import { $, ask, el } from "./dom.js";
import { api, onState, seat } from "./seat.js";
import { doing } from "./thinking.js";

const DELAY = 2000,
  INTERVAL = 1000; // milliseconds
const line = el("p#thinking.card", {
  role: "timer",
  "aria-live": "off",
  hidden: true,
});
let timer = null;

async function look() {
  const { step } = seat.state;
  try {
    const { agent, seconds } = await ask(`${api}/thinking`);
    if (seat.state.step !== step || seat.state.yours) return;
    line.hidden = !agent || seconds === null;
    if (!line.hidden) line.textContent = doing(agent, Math.round(seconds));
  } catch {
    /* the table says what is wrong */
  }
  clearTimeout(timer);
  timer = setTimeout(look, INTERVAL);
}

/** Show the agent that thinks when nothing happens for a while. */
export function setUpTurns() {
  $("choices").before(line);
  let shown = null;
  onState((state) => {
    if (state.step === shown && !state.over) return; // drawn anew
    shown = state.step;
    clearTimeout(timer);
    line.hidden = true;
    if (!state.yours && !state.over) timer = setTimeout(look, DELAY);
  });
}
