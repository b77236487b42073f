// A seat at a table: what the server tells is shown, clicks are sent.
import { setUpAlea } from "./alea.js";
import { confirmed } from "./asking.js";
import { explainBoard, isUpright, showBoard } from "./board.js";
import { showLeads, showRecent } from "./changes.js";
import { click, isLegal, say, showChoices } from "./choices.js";
import { ask, at, send, themeButton } from "./dom.js";
import { isTold, showFinal, whenTold } from "./final.js";
import { setUpFit } from "./fit.js";
import { setUpPace } from "./follow.js";
import { playForced, setUpForced } from "./forced.js";
import { setUpHints } from "./hints.js";
import { showInvitations } from "./invitations.js";
import { setUpKeys } from "./keys.js";
import { showLog } from "./log.js";
import { showNews } from "./news.js";
import { setUpRefusals } from "./refusals.js";
import { rulesButton } from "./rules.js";
import { setUpPeople } from "./people.js";
import { $, api, attempt, begin, load, note, onState, seat, take, undo } from "./seat.js";
import { bindSetting, isForced } from "./settings.js";
import { linked } from "./terms.js";
import { setUpTurns } from "./turns.js";
import { setUpLesson } from "./tutorial.js";
import { setUpZoom } from "./zoom.js";

let worded = null; // the drawing whose text was fetched

function showTable(state) {
  const yours = state.yours && !isForced(state);
  document.title = `${yours ? "● " : ""}Fifth Avenue`;
  const sentence =
    state.over && !isTold()
      ? "The game is over. This is its final scoring, step by step."
      : state.decision.sentence;
  if ($("situation").dataset.told !== sentence) $("situation").replaceChildren(...linked(sentence));
  $("situation").dataset.told = sentence;
  document.body.classList.toggle("yours", yours);
  showBoard($("board"), state.drawing, click, isLegal);
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

document.querySelector("header .row").append(
  rulesButton(),
  themeButton(() => load()),
);
explainBoard($("board"), say, isLegal);
isUpright.addEventListener("change", () => load());
for (const show of [
  showTable,
  showChoices,
  showRecent,
  showLeads,
  showLog,
  showInvitations,
  showFinal,
  showWords,
])
  onState(show);
setUpFit();
whenTold(() => showTable(seat.state));
setUpPace();
setUpAlea();
setUpZoom();
setUpHints();
setUpPeople();
setUpTurns();
onState(showNews);
setUpRefusals();
setUpLesson();
onState(playForced);
setUpForced(() => load());
bindSetting($("ask-first"), "ask");
setUpKeys();
$("undo").onclick = undo;
$("take-button").onclick = take;
$("release").onclick = () =>
  attempt(async () => {
    if (
      !(await confirmed(
        "Give this seat up, so that another browser can take it with this address?",
        "give it up",
      ))
    )
      return;
    await send(`${api}/release`);
    await load();
  });
$("record").href = at(`${api}/record`);
$("replay").onclick = () =>
  attempt(async () => {
    location.href = at((await send(`${api}/replay`)).page);
  });
$("words").ontoggle = showWords;
await begin();
