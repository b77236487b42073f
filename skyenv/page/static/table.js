// A seat at a table: what the server tells is shown, clicks are sent.
import { explainBoard, showBoard } from "./board.js";
import { click, isLegal, say, showChoices } from "./choices.js";
import { ask, send, themeButton } from "./dom.js";
import { showFinal } from "./final.js";
import { setUpHints } from "./hints.js";
import { showInvitations } from "./invitations.js";
import { showLog } from "./log.js";
import { showNews } from "./news.js";
import { setUpRefusals } from "./refusals.js";
import { rulesButton } from "./rules.js";
import { $, api, attempt, begin, load, note, onState, seat, take } from "./seat.js";
import { setUpTurns } from "./turns.js";
import { setUpLesson } from "./tutorial.js";

let worded = null;  // the drawing whose text was fetched

function showTable(state) {
  document.title = `${state.yours ? "● " : ""}Fifth Avenue`;
  $("situation").textContent = state.situation;
  document.body.classList.toggle("yours", state.yours);
  showBoard($("board"), state.drawing, click, isLegal);
}

function showOptions(state) {
  $("pause").value = state.pause;
  $("pause-seconds").textContent = `${state.pause} s`;
  $("release").hidden = state.watching || state.over;
}

async function showWords() {
  const { state } = seat;
  if (!$("words").open || !state || worded === state.drawing) return;
  const wanted = worded = state.drawing;
  try {
    const words = await ask(`${api}/words`);
    if (worded === wanted) $("words-text").textContent = words.text;
  } catch (error) {
    worded = null;
    note(error.message);
  }
}

document.querySelector("header").append(rulesButton(), themeButton(() => load()));
new ResizeObserver(() => {  // on phones the choices cover the page's lower end, which must stay reachable below them
  document.documentElement.style.setProperty("--choices", `${$("choices").offsetHeight}px`);
}).observe($("choices"));
explainBoard($("board"), say, isLegal);
matchMedia("(max-width: 699px)").addEventListener("change", () => load());
for (const show of [showTable, showChoices, showLog, showInvitations, showOptions, showFinal, showWords]) onState(show);
setUpHints();
setUpTurns();
onState(showNews);
setUpRefusals();
setUpLesson();
$("pause").oninput = (event) => { $("pause-seconds").textContent = `${event.target.value} s`; };
$("pause").onchange = (event) => attempt(() => send(`${api}/pause`, { seconds: Number(event.target.value) }));
$("take-button").onclick = take;
$("release").onclick = () => {
  if (confirm("Give this seat up, so that another browser can take it with this address?")) attempt(() => send(`${api}/release`).then(load));
};
$("record").href = `${api}/record`;
$("replay").onclick = () => attempt(async () => { location.href = (await send(`${api}/replay`)).page; });
$("words").ontoggle = showWords;
await begin();
