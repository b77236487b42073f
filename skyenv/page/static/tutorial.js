// The lesson: what it says, what is to be clicked, going back, and leaving it.
import { actionsOf } from "./board.js";
import { ask, at, el, ruleLink, send } from "./dom.js";
import { $, api, attempt, onState, seat } from "./seat.js";
import { linked } from "./terms.js";

const USUAL = "greedy";  // who is played on against, if it is there
const TAKE = 55, BID = 79, DONE = 97;
let parts = null;        // of the page, once this is a lesson
let shown = "";          // the step that is told

function make() {
  const button = (id, text, onclick) => el("button", { type: "button", id, onclick }, text);
  parts = {
    title: el("h2", {}), text: el("p", { id: "lesson-text" }), todo: el("p", { id: "lesson-todo", class: "todo", role: "status" }),
    back: button("lesson-back", "back a step", () => repeat({})), anew: button("lesson-anew", "from the beginning", () => repeat({ anew: true })),
    leave: button("lesson-leave", "leave the lesson and play on freely", leave), game: el("a", { class: "button", id: "lesson-game", href: "/" }, "begin a real game"),
  };
  $("table").before(
    el("section", { id: "lesson", class: "lesson", "aria-label": "The lesson" }, parts.title, parts.text,
      el("p", { class: "row" }, parts.back, parts.anew, parts.leave, parts.game)),
    parts.todo);
  new MutationObserver(mark).observe($("table"), { childList: true, subtree: true });
}

const repeat = (value) => attempt(async () => {
  await send(`${api}/lesson/back`, value);
  location.reload();  // the log is shorter now
});

const leave = () => attempt(async () => {
  const { agents } = await ask("/api/options");
  const agent = agents.find((one) => one.name === USUAL) ?? agents[0];
  location.href = at((await send(`${api}/lesson/leave`, { agent: agent.name })).page);
});

/** Mark what is to be clicked, on the drawing and among the buttons. */
function mark() {
  const lesson = seat.state?.lesson;
  const wanted = seat.state?.yours && lesson ? lesson.wanted : [];
  const isWanted = (part) => actionsOf(part, seat.state.seat).some((action) => wanted.includes(action));
  for (const part of $("table").querySelectorAll("#board g, button")) {
    const { choice, take, more } = part.dataset;
    const [colour, value] = (more ?? "").split(":").map(Number);
    const taught = wanted.length > 0 && (part.tagName === "BUTTON"
      ? wanted.includes(Number(choice ?? -1)) || (take !== undefined && wanted.includes(TAKE + Number(take)))
        || (more !== undefined && wanted.includes(BID + 3 * colour + value - 4)) || (part.id === "bid-done" && wanted.includes(DONE))
      : isWanted(part));
    if (part.classList.contains("taught") !== taught) part.classList.toggle("taught", taught);
  }
}

function show({ lesson }) {
  if (!lesson) return;
  if (!parts) make();
  mark();
  const told = JSON.stringify([lesson.number, lesson.waits, lesson.over]);
  if (told === shown) return;
  const first = shown === "";
  shown = told;
  parts.title.textContent = lesson.over ? lesson.title : `Lesson, step ${lesson.number + 1} of ${lesson.steps}: ${lesson.title}`;
  if (!lesson.waits) parts.text.replaceChildren(...linked(lesson.text), " ", ruleLink([lesson.rule]));
  parts.todo.textContent = lesson.waits ? "The teacher moves …" : lesson.todo;
  parts.todo.hidden = lesson.over;
  parts.back.disabled = lesson.number === 0;
  parts.anew.hidden = !lesson.over;
  parts.game.hidden = !lesson.over;
  parts.leave.textContent = lesson.over ? "play on from here" : "leave the lesson and play on freely";
  parts.leave.classList.toggle("primary", lesson.over);
  if (!first && !lesson.waits) bring();
}

/** Bring what is told into view; what is to be clicked is among the buttons, too. */
const bring = () => scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });

/** Show the lesson if this is one; to be called when all that is shown of a state has been set up. */
export const setUpLesson = () => onState(show);
