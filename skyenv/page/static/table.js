// The page of a seat at a table.
import { ask, at, send } from "./api.js";
import { isUpright, showBoard } from "./board.js";
import { choiceKey, click, isLegal, showChoices } from "./choices.js";
import { $, isNews, the } from "./dom.js";
import { setUpEnded, showEnded } from "./ended.js";
import { isTold, setUpNews, showFinal, showLeads, showLog, whenTold } from "./events.js";
import { setUpExplaining } from "./explain.js";
import { setUpFit } from "./fit.js";
import { setUpHints } from "./hints.js";
import { next, playForced, setUpPace, togglePause } from "./pace.js";
import { setUpPeople, showInvitations } from "./people.js";
import { setUpProxy } from "./proxy.js";
import { setUpPuzzle } from "./puzzle.js";
import { linked, setUpHeader } from "./rules.js";
import { api, attempt, begin, isAway, latest, load, onState, take, undo } from "./seat.js";
import { bindChoice, bindSetting, confirmed, isForced, setOn } from "./settings.js";
import { setUpSound } from "./sound.js";
import { setUpLesson } from "./tutorial.js";

/** @param {State} state */
function showTable(state) {
  const yours = state.yours && !isForced(state);
  document.title = `${yours ? "● " : ""}Fifth Avenue`;
  const isScoring = state.over && !isTold();
  const scoring = "The game is over. Final scoring, step by step.";
  const sentence = isScoring ? scoring : state.decision.sentence;
  if (isNews($("situation"), sentence)) $("situation").replaceChildren(...linked(sentence));
  document.body.classList.toggle("yours", yours);
  const untold = { ...state.drawing, title: ["", `<title>${scoring}</title>`] };
  if (state.over) setOn("knows", true);
  showBoard($("board"), isScoring ? untold : state.drawing, click, isLegal);
  $("task").textContent = state.task;
  $("release").hidden = state.watching || state.over;
}

/** Show the table in words; while the server is away they stay. */
const showWords = () =>
  $("words").open &&
  ask(`${api}/words`)
    .then(({ text }) => ($("words-text").textContent = text))
    .catch(() => {});

// ---- keys ----

const showKeys = () => $("keys").showModal();
const others = new Map([
  ["?", showKeys],
  ["n", next],
  [" ", togglePause],
]);

/** Whether a key belongs to the browser, a field or a button. */
function isMeantElsewhere(event) {
  const inside = (selector) => event.target.closest?.(selector);
  return (
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.defaultPrevented ||
    inside(":read-write, select, dialog") ||
    (event.key === " " && inside("button, summary, a, input, [role=button]"))
  );
}

function setUpKeys() {
  $("keys-open").onclick = showKeys;
  addEventListener("keydown", (event) => {
    const { key } = event;
    if (isMeantElsewhere(event) || $("table").hidden || isAway()) return;
    const act = others.get(key);
    if (act) act();
    else if (!/^[a-z]$/.test(key) || !choiceKey(key)) return;
    event.preventDefault();
  });
}

// ---- setup ----

const again = () => load();
setUpHeader(again, the("header .row"));
isUpright.addEventListener("change", again);
for (const show of [showTable, showChoices, showLeads, showLog]) onState(show);
for (const show of [showInvitations, showFinal, showWords]) onState(show);
setUpFit();
onState(showEnded);
whenTold(() => {
  showTable(latest());
  showEnded();
});
setUpEnded();
setUpPace(again);
setUpHints();
setUpPeople();
setUpNews();
setUpExplaining();
setUpPuzzle();
setUpSound();
setUpLesson();
onState(playForced);
setUpProxy(playForced);
bindSetting($("ask-first"), "ask");
bindChoice($("tabs"), "tab");
setUpKeys();
$("undo").onclick = undo;
$("take-button").onclick = take;
$("release").onclick = () =>
  attempt(async () => {
    const question = "Give up this seat? Another browser can then take it with this link.";
    if (!(await confirmed(question, "give it up"))) return;
    await send(`${api}/release`);
    await load();
  });
$("record").href = at(`${api}/record`);
$("words").ontoggle = showWords;
await begin();
