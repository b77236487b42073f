// The lesson: its text, marks on the next click, going back, and leaving it.
import { send } from "./api.js";
import { isSmall } from "./around.js";
import { actionsOf } from "./board.js";
import { begun } from "./choices.js";
import { $, $$, isNews, leaveBy, ruleLink } from "./dom.js";
import { bring, tellHeight } from "./fit.js";
import { BID_DONE, USUAL } from "./game.js";
import { linked, worded } from "./rules.js";
import { api, attempt, note, onState, seat } from "./seat.js";

function setUp() {
  const whole = $("lesson");
  whole.hidden = false;
  document.body.classList.add("learning");
  $("lesson-more").onclick = () => open(!whole.classList.contains("open"));
  $("lesson-back").onclick = () => repeat({});
  $("lesson-restart").onclick = () => repeat({ restart: true });
  const leave = () => send(`${api}/lesson/leave`, { agent: USUAL });
  $("lesson-leave").onclick = ({ target }) => leaveBy(target, leave, note);
  const put = () => (isSmall.matches ? $("table") : $("dock")).before(whole);
  put();
  isSmall.addEventListener("change", put);
  new MutationObserver(mark).observe($("table"), { childList: true, subtree: true });
  tellHeight("--told", whole);
}

/** Small screens show two lines, until more is asked for. */
function open(is) {
  $("lesson").classList.toggle("open", is);
  $("lesson-more").textContent = is ? "less" : "more";
  $("lesson-more").ariaExpanded = `${is}`;
}

const repeat = (value) =>
  attempt(async () => {
    await send(`${api}/lesson/back`, value);
    location.reload(); // the log is shorter now
  });

/** Mark what is to be clicked next, on the drawing and among the buttons. */
function mark() {
  const { state } = seat;
  let left = state?.yours && state.lesson ? [...state.lesson.wanted] : [];
  let isWrong = false;
  for (const action of begun()) {
    const place = left.indexOf(action);
    isWrong = isWrong || place < 0;
    left = left.filter((_, i) => i !== place);
  }
  if (left.length > 1) left = left.filter((action) => action !== BID_DONE);
  if (isWrong) left = [];
  for (const part of $$("[data-action]", $("table"))) {
    const taught = actionsOf(part, state?.seat).some((action) => left.includes(action));
    if (part.classList.contains("taught") !== taught) part.classList.toggle("taught", taught);
  }
}

/** @param {State} state */
function show({ lesson, yours }) {
  if (!lesson) return;
  $("situation").classList.toggle("unseen", yours); // the lesson says what to do
  if ($("lesson").hidden) setUp();
  mark();
  const { number, over, title, text, rule, todo } = lesson;
  if (!isNews($("lesson"), [title, todo])) return;
  $("lesson-title").textContent = title;
  $("lesson-text").replaceChildren(...linked(text), " ", text && ruleLink([rule]));
  $("lesson-todo").textContent = worded(todo);
  $("lesson-todo").hidden = over;
  $("lesson-back").disabled = number === 0;
  for (const id of ["lesson-restart", "lesson-game", "lesson-puzzle"]) $(id).hidden = !over;
  $("lesson-leave").textContent = over ? "continue from here" : "leave the lesson";
  $("lesson-leave").classList.toggle("primary", over);
  open(over);
  bring();
}

/** Show the lesson if this is one; to be called when all else has been set up. */
export const setUpLesson = () => onState(show);
