// Hints for this seat, or in a game between agents.
import { ask } from "./api.js";
import { $, $$, el } from "./dom.js";
import { called, seatNames } from "./format.js";
import { isPacing, togglePause } from "./pace.js";
import { api, attempt, latest, onState, seat } from "./seat.js";
import { hintTable, think } from "./thinking.js";

/** @type {Asked | null} */
let asked = null; // the agent that is thinking: its name, its abort, a promise of its end
let isChosen = false; // whether a person has chosen it
let best = []; // the hint's actions

async function loadAdvisers() {
  const { agents } = await ask("/api/options");
  const option = ({ name, description }) =>
    el("option", { value: name, title: description }, called(name));
  $("adviser").replaceChildren(...agents.map(option));
  if (seat.state) showHints(seat.state);
}

/** @param {State} state */
function showHints(state) {
  const isOpen = state.open_hands && isPacing(state);
  if (!isChosen) $("adviser").value = state.adviser;
  $("hints").hidden = state.over || state.lesson || state.task || (state.watching && !isOpen);
  $("ask-hint").disabled = !(state.yours || isOpen) || !$("adviser").value;
  if ($("hint").dataset.step !== String(state.step)) drop(state);
  $("hint").dataset.step = state.step;
  mark();
}

function mark() {
  for (const part of $$("[data-action]", $("board")))
    part.classList.toggle("hinted", best.includes(part.dataset.action));
}

/** Take away a hint for another position, and ask again if hints follow a watched game. */
function drop({ watching, paused, over }) {
  // a move may have come before the agents paused
  const isAsked = paused ? asked : $("follow").checked;
  if (watching && !over && isAsked) Promise.resolve(asked?.done).then(hint);
  asked?.stop.abort();
  $("hint").replaceChildren();
  best = [];
}

async function hint() {
  const { watching, paused } = latest();
  if (watching && !paused && !$("follow").checked) await togglePause();
  const name = $("adviser").value;
  if (asked?.name === name) return; // that it thinks is shown
  asked?.stop.abort();
  await asked?.done;
  if (asked) return; // clicked once more meanwhile
  const stop = new AbortController();
  const done = attempt(async () => {
    const [answer, status] = [el("div"), el("div")];
    $("hint").replaceChildren(answer, status);
    const show = (hint) => {
      if (hint.step !== latest().step) return;
      answer.replaceChildren(hintTable([hint], seatNames(latest().names)));
      best = hint.actions.map(String);
      mark();
    };
    try {
      const question = `agent=${encodeURIComponent(name)}&step=${latest().step}`;
      await think(status, name, `${api}/hint?${question}`, stop.signal, show);
    } finally {
      status.remove();
      if (!answer.firstChild) answer.remove();
      asked = null;
    }
  });
  asked = { name, stop, done };
}

export function setUpHints() {
  $("ask-hint").onclick = hint;
  $("adviser").onchange = () => (isChosen = true);
  onState(showHints);
  attempt(loadAdvisers);
}
