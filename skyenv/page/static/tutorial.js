// The lesson: what it says, what is to be clicked, going back, and leaving it.
import { actionsOf } from "./board.js";
import { begun } from "./choices.js";
import { ask, at, el, ruleLink, send } from "./dom.js";
import { bring, isSmall } from "./fit.js";
import { $, api, attempt, onState, seat } from "./seat.js";
import { linked, worded } from "./terms.js";

const USUAL = "greedy"; // who is played on against, if it is there
const TAKE = 55,
  BID = 79,
  DONE = 97;
let parts = null; // of the page, once this is a lesson
let shown = ""; // the step that is told

function make() {
  const button = (id, text, onclick) => el("button", { type: "button", id, onclick }, text);
  parts = {
    title: el("h2", {}),
    text: el("p", { id: "lesson-text" }),
    todo: el("p", { id: "lesson-todo", class: "todo", role: "status" }),
    back: button("lesson-back", "back a step", () => repeat({})),
    anew: button("lesson-anew", "from the beginning", () => repeat({ anew: true })),
    leave: button("lesson-leave", "", leave),
    game: el("a", { class: "button", id: "lesson-game", href: at("/") }, "begin a real game"),
    more: el(
      "button",
      {
        type: "button",
        id: "lesson-more",
        "aria-expanded": "false",
        onclick: () => open(parts.more.textContent === "more"),
      },
      "more",
    ),
  };
  parts.whole = el(
    "section",
    { id: "lesson", class: "lesson", "aria-label": "The lesson" },
    parts.title,
    parts.text,
    parts.todo,
    parts.more,
    el("p", { class: "row" }, parts.back, parts.anew, parts.leave, parts.game),
  );
  document.body.classList.add("learning");
  const put = () =>
    isSmall.matches ? $("table").before(parts.whole) : $("dock").before(parts.whole);
  put();
  isSmall.addEventListener("change", put);
  new MutationObserver(mark).observe($("table"), { childList: true, subtree: true });
  new ResizeObserver(() =>
    document.documentElement.style.setProperty("--told", `${parts.whole.offsetHeight}px`),
  ).observe(parts.whole);
}

/** Small screens show two lines, until more is asked for. */
function open(is) {
  parts.whole.classList.toggle("open", is);
  parts.more.textContent = is ? "less" : "more";
  parts.more.setAttribute("aria-expanded", `${is}`);
}

const repeat = (value) =>
  attempt(async () => {
    await send(`${api}/lesson/back`, value);
    location.reload(); // the log is shorter now
  });

const leave = () =>
  attempt(async () => {
    const { agents } = await ask("/api/options");
    const agent = agents.find((one) => one.name === USUAL) ?? agents[0];
    location.href = at((await send(`${api}/lesson/leave`, { agent: agent.name })).page);
  });

/** The action of a button among the choices. */
function meant({ id, dataset }) {
  const { choice, take, more } = dataset;
  if (more !== undefined) {
    const [colour, value] = more.split(":").map(Number);
    return BID + 3 * colour + value - 4;
  }
  return id === "bid-done" ? DONE : take === undefined ? Number(choice ?? -1) : TAKE + Number(take);
}

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
  if (left.length > 1) left = left.filter((action) => action !== DONE);
  if (isWrong) left = [];
  for (const part of $("table").querySelectorAll("#board [data-action], #choices button")) {
    const actions = part.tagName === "BUTTON" ? [meant(part)] : actionsOf(part, state.seat);
    const taught = actions.some((action) => left.includes(action));
    if (part.classList.contains("taught") !== taught) part.classList.toggle("taught", taught);
  }
}

function show({ lesson }) {
  if (!lesson) return;
  if (!parts) make();
  mark();
  const told = JSON.stringify([lesson.number, lesson.waits, lesson.over]);
  if (told === shown) return;
  shown = told;
  parts.title.textContent = lesson.over
    ? lesson.title
    : `Lesson, step ${lesson.number + 1} of ${lesson.steps}: ${lesson.title}`;
  parts.text.replaceChildren(
    ...(lesson.waits ? [] : [...linked(lesson.text), " ", ruleLink([lesson.rule])]),
  );
  parts.todo.textContent = lesson.waits ? "The teacher moves …" : worded(lesson.todo);
  parts.todo.hidden = lesson.over;
  parts.back.disabled = lesson.number === 0;
  parts.anew.hidden = parts.game.hidden = !lesson.over;
  parts.leave.textContent = lesson.over ? "play on from here" : "leave the lesson";
  parts.leave.classList.toggle("primary", lesson.over);
  open(lesson.over);
  bring();
}

/**
 * Show the lesson if this is one; to be called when all that is shown of a state has been set up.
 */
export const setUpLesson = () => onState(show);
