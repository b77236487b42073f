// An agent is asked what it would do on this seat.
import { ask, el, hintList } from "./dom.js";
import { $, api, attempt, note, onConnect, onState, seat } from "./seat.js";
import { think } from "./thinking.js";

let asked = null;  // stops the agent that is thinking

async function loadAdvisers() {
  if ($("adviser").options.length) return;
  const { agents } = await ask("/api/options");
  $("adviser").replaceChildren(...agents.map((one) => el("option", { value: one.name, title: one.description }, one.name)));
  if (seat.state) showHints(seat.state);
}

function showHints(state) {
  $("hints").hidden = state.watching || state.over;
  $("ask-hint").disabled = !state.yours || !$("adviser").value;
  if ($("hint").dataset.step !== String(state.step)) {  // it was for another position
    asked?.abort();
    $("hint").replaceChildren();
  }
  $("hint").dataset.step = state.step;
}

async function hint() {
  if (asked) return;
  const name = $("adviser").value;
  asked = new AbortController();
  await attempt(async () => {
    try {
      const hint = await think($("hint"), name, `${api}/hint?agent=${encodeURIComponent(name)}`, asked.signal);
      if (hint?.step !== seat.state.step) return;
      $("hint").replaceChildren(hintList(hint));
      for (const part of $("board").querySelectorAll(".hinted")) part.classList.remove("hinted");
      for (const part of $("board").querySelectorAll(`[data-action="${hint.action}"]`)) part.classList.add("hinted");
    } catch (error) {
      $("hint").replaceChildren();
      throw error;
    } finally {
      asked = null;
    }
  });
}

/** Offer hints. */
export function setUpHints() {
  $("ask-hint").onclick = hint;
  onState(showHints);
  onConnect(() => loadAdvisers().catch((error) => note(error.message)));
}
