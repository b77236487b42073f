// The page of a seat at a table.
import { setUpAlea } from "./alea.js";
import { confirmed } from "./asking.js";
import { isUpright, showBoard } from "./board.js";
import { showLeads, showRecent } from "./changes.js";
import { click, isLegal, showChoices } from "./choices.js";
import { $, ask, at, isNews, leaveBy, send } from "./dom.js";
import { setUpExplaining } from "./explain.js";
import { isTold, showFinal, whenTold } from "./final.js";
import { setUpFit } from "./fit.js";
import { setUpPace } from "./follow.js";
import { playForced, setUpForced } from "./forced.js";
import { setUpHints } from "./hints.js";
import { showInvitations } from "./invitations.js";
import { setUpKeys } from "./keys.js";
import { showLog } from "./log.js";
import { showNews } from "./news.js";
import { setUpHeader } from "./rules.js";
import { setUpPeople } from "./people.js";
import { api, attempt, begin, load, note, onState, seat, take, undo } from "./seat.js";
import { bindSetting, isForced } from "./settings.js";
import { linked } from "./terms.js";
import { setUpTurns } from "./turns.js";
import { setUpLesson } from "./tutorial.js";
import { setUpZoom } from "./zoom.js";

let worded = null; // the drawing whose text was fetched

function showTable(state) {
  const yours = state.yours && !isForced(state);
  document.title = `${yours ? "● " : ""}Fifth Avenue`;
  const isScoring = state.over && !isTold();
  const scoring = "The game is over. Final scoring, step by step.";
  const sentence = isScoring ? scoring : state.decision.sentence;
  if (isNews($("situation"), sentence)) $("situation").replaceChildren(...linked(sentence));
  document.body.classList.toggle("yours", yours);
  const untold = { ...state.drawing, title: ["", `<title>${scoring}</title>`] };
  showBoard($("board"), isScoring ? untold : state.drawing, click, isLegal);
  $("task").textContent = state.task;
  $("release").hidden = state.watching || state.over;
}

async function showWords() {
  const { state } = seat;
  if (!$("words").open || !state || worded === state.drawing) return;
  const wanted = (worded = state.drawing);
  try {
    const words = await ask(`${api}/words`);
    if (worded === wanted) $("words-text").textContent = words.text;
  } catch (error) {
    worded = null;
    note(error.message);
  }
}

const again = () => load();
setUpHeader(again, document.querySelector("header .row"));
isUpright.addEventListener("change", again);
for (const show of [showTable, showChoices, showRecent, showLeads, showLog]) onState(show);
for (const show of [showInvitations, showFinal, showWords]) onState(show);
setUpFit();
whenTold(() => showTable(seat.state));
setUpPace();
setUpAlea();
setUpZoom();
setUpHints();
setUpPeople();
setUpTurns();
onState(showNews);
setUpExplaining();
setUpLesson();
onState(playForced);
setUpForced(again);
bindSetting($("ask-first"), "ask");
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
$("replay").onclick = () => leaveBy($("replay"), () => send(`${api}/replay`), note);
$("words").ontoggle = showWords;
await begin();
