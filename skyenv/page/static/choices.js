// What the seat may choose: on the drawing, and as buttons. Two cards, and the cards of a bid, are
// chosen in any order.
import { actionsOf, markLegal } from "./board.js";
import { asked } from "./asking.js";
import { BidTray } from "./bid.js";
import { showDraft } from "./draft.js";
import { el } from "./dom.js";
import { $, act, positionOf, seat, undo } from "./seat.js";
import { isForced } from "./settings.js";
import { linked, worded } from "./terms.js";

const PASS = 78,
  TAKE = 55,
  STOP = 102,
  BID = 79;
// so many choices on the table stand as buttons at once; more are a list that can be opened
const LISTED = 8;

// "board" or "choices": where the keyboard is, and goes on after others have moved
let place = null;
// in which phase the list of choices was set up, and whether it was open then
let opened = [null, false];
let first = null; // the stack that was chosen, where two cards are taken
let tray = null; // the bid that is laid together

addEventListener("focusin", ({ target }) => {
  place = target.closest(":focus-visible")?.closest("#board, #choices")?.id ?? null;
});
addEventListener("pointerdown", () => {
  place = null;
});

/** The legal actions that a part of the drawing stands for. */
const movesOf = (part) =>
  actionsOf(part, seat.state.seat).filter((action) =>
    seat.state.legal.some((choice) => choice.action === action),
  );
const taking = (part) =>
  seat.state?.decision.take && part.dataset.stack !== undefined ? Number(part.dataset.stack) : null;

/**
 * The card of this seat's hand that a part of the drawing is: [colour, value]; null if it is none.
 */
function cardOf(part) {
  const [whose, colour, rank] = (part.dataset.card ?? "").split(":").map(Number);
  return part.dataset.card && whose === seat.state.seat ? [colour, rank + 4] : null;
}

/**
 * What has been chosen of a choice of several actions, in the order in which they will be played.
 */
export const begun = () => tray?.actions ?? (first === null ? [] : [TAKE + first]);

/** Whether any bid is left: of cards that come to too little, passing is the only choice. */
const canBid = (state) =>
  state.decision.bid !== null && state.legal.some((choice) => choice.action !== PASS);

/** Whether a part of the drawing can be clicked. */
export function isLegal(part) {
  const { state } = seat;
  if (!state?.yours || isForced(state)) return false;
  if (state.decision.take && part.dataset.stack !== undefined)
    return state.decision.take.some(([colour]) => colour === taking(part));
  if (canBid(state) && cardOf(part)) return !BidTray.of(state.decision.bid).why(...cardOf(part));
  return movesOf(part).length > 0;
}

/** The server's reason against an action; without one, that of the whole position. */
function reasonOf(state, action) {
  const reasons = Object.entries(state.why);
  const found =
    action === undefined ? reasons[0] : reasons.find(([, actions]) => actions.includes(action));
  return found?.[0] ?? "";
}

/** Why a part of the drawing can't be chosen, in words; "" if it can, or nothing is known. */
export function whyNot(part) {
  const { state } = seat;
  if (!state || state.seat === null || isLegal(part)) return "";
  if (state.over) return "the game is over";
  if (state.behind) return "this is an earlier position";
  const [action] = actionsOf(part, state.seat); // all moves of a commissioner have one reason
  if (action === undefined && state.yours)
    return part.dataset.stack ? "black cards come with options C and D; they can't be chosen" : "";
  if (canBid(state) && cardOf(part)) return BidTray.of(state.decision.bid).why(...cardOf(part));
  return reasonOf(state, action);
}

/** What is said about a part of the drawing under the pointer. */
export function say(part) {
  const { state } = seat;
  const what = part.getAttribute("aria-label") ?? "";
  const choice =
    state && part.dataset.commissioner === undefined
      ? state.legal.find((one) => one.action === movesOf(part)[0])
      : null;
  let click = choice?.text;
  if (!isLegal(part)) click = null;
  else if (taking(part) !== null)
    click = first === taking(part) ? "put it back" : "take its top card";
  else if (canBid(state) && cardOf(part)) click = "lay it down";
  return [what, click ? worded(`click: ${click}`) : whyNot(part)].filter(Boolean).join(" — ");
}

/** A part of the drawing was clicked. A commissioner is chosen first, and then its next place. */
export function click(part) {
  if (!isLegal(part)) return;
  const moves = movesOf(part);
  if (taking(part) !== null) take(taking(part));
  else if (canBid(seat.state) && cardOf(part)) tray.add(...cardOf(part));
  else if (part.dataset.commissioner === undefined) choose(moves[0]);
  else if (moves.length === 1) act(moves);
  else aim(part.dataset.commissioner);
}

/** Choose a commissioner: its next places stay bright. */
function aim(who) {
  for (const one of $("board").querySelectorAll("[data-place]"))
    one.classList.toggle("faded", !one.dataset.place.startsWith(`${who}:`));
  $("board").querySelector(`.legal[data-place^="${who}:"]`)?.focus();
}

/**
 * What is asked before an action that can't be taken back: the question, yes and no; null if
 * nothing is.
 */
function questionOf(action, { legal, decision, lesson }) {
  if (lesson) return null;
  if (action === PASS && legal.length > 1)
    return ["Leave this auction for good?", "pass", "keep bidding"];
  const ends = decision.ends && action >= 13 && action < TAKE;
  if (ends) return ["The 12th business ends the game. Place it?", "place it", "not yet"];
  if (action !== STOP) return null;
  return [
    decision.ends
      ? "The second building stop ends the game. Declare it?"
      : "Declare a building stop? The district leaves the game.",
    "declare it",
    "not yet",
  ];
}

/** Play an action; what can't be taken back is asked for first. */
export async function choose(action) {
  const { state } = seat;
  const question = questionOf(action, state);
  if (question && !(await asked(question[0], question[1], question[2]))) return;
  // it may have been told again meanwhile
  if (positionOf(seat.state) === positionOf(state)) act([action]);
}

/**
 * Choose a stack: the first is marked, the second is taken with it, in the order that the rules'
 * encoding wants.
 */
function take(colour) {
  if (first === null || first === colour) {
    first = first === colour ? null : colour;
    mark();
    return;
  }
  const pair = [first, colour].sort((a, b) => a - b);
  first = null;
  act(pair.map((one) => TAKE + one));
}

/**
 * Mark what is chosen so far, on the drawing and among the buttons, and what can be added to it.
 */
function mark() {
  for (const stack of $("board").querySelectorAll("[data-stack]"))
    stack.classList.toggle("chosen", first !== null && taking(stack) === first);
  for (const button of $("choices").querySelectorAll("[data-take]"))
    button.setAttribute("aria-pressed", `${Number(button.dataset.take) === first}`);
  markLegal($("board"));
  showDraft($("board"), seat.state.seat, tray);
}

// ---- the choices as buttons ----

const button = (choice) =>
  el(
    "button",
    { type: "button", "data-choice": choice.action, onclick: () => choose(choice.action) },
    choice.text,
  );

function optionCards(options) {
  return options.map((one) =>
    el(
      "section",
      { class: one.choices.length ? "option" : "option none", "data-option": one.letter },
      el("h2", {}, el("b", { class: "letter" }, one.letter), ` ${one.name}`),
      el("p", { class: "brings" }, ...linked(one.why ? `Not now: ${one.why}.` : `${one.brings}.`)),
      el("p", { class: "picks" }, ...one.choices.map((choice) => button(choice))),
    ),
  );
}

function stackButtons(stacks) {
  return stacks.map(([colour, name, value]) =>
    el(
      "button",
      {
        type: "button",
        class: `suit suit-${colour}`,
        "data-take": colour,
        "aria-pressed": "false",
        onclick: () => take(colour),
      },
      `${name} ${value}`,
    ),
  );
}

/**
 * What holds the choices: made anew each time, as what stays in the page and moves is seen as a
 * jump.
 */
const parts = () => [
  el(
    "div",
    { id: "offered" },
    el("p", { id: "auction", class: "small" }),
    el("div", { id: "buttons", class: "buttons" }),
    el(
      "details",
      { id: "all" },
      el("summary", { id: "all-title" }),
      el("ul", { id: "places", class: "buttons" }),
    ),
  ),
  el("div", { id: "foot" }),
];

/** The buttons of a decision, or the tray of its bid. */
function buttons({ options, take, bid }, legal) {
  if (!legal.length) return [];
  if (options) return optionCards(options);
  if (take) return stackButtons(take);
  if (tray) return [tray.element];
  return legal
    .filter((choice) => !choice.place && !(bid && choice.action >= BID) && choice.action !== PASS)
    .map(button);
}

/** List what can be chosen on the drawing. */
function showPlaces(phase, places) {
  $("all").hidden = places.length === 0;
  $("all").open = opened[0] === phase ? opened[1] : places.length <= LISTED;
  opened = [phase, $("all").open];
  $("all-title").textContent = `${places.length} choices on the table, as a list`;
  $("places").replaceChildren(...places.map((choice) => el("li", {}, button(choice))));
}

/** Show what ends a bid, and passing. */
function showFoot(legal) {
  const passing = legal.some((choice) => choice.action === PASS)
    ? [
        el(
          "button",
          { type: "button", class: "apart", "data-choice": PASS, onclick: () => choose(PASS) },
          "pass",
        ),
      ]
    : [];
  $("foot").replaceChildren(...(tray ? [tray.foot] : []), ...passing);
}

/** Show the choices. */
export function showChoices(state) {
  const shown = JSON.stringify([
    state.legal,
    state.decision,
    state.undo,
    state.step,
    isForced(state),
  ]);
  if ($("choices").dataset.shown === shown) {
    mark();
    return;
  }
  $("choices").dataset.shown = shown;
  const focused = $("choices").querySelector(":focus-visible"); // not for clicks
  const { options, take: stacks, bid, auction } = state.decision;
  first = null;
  tray = null;
  const legal = isForced(state) || !state.yours ? [] : state.legal;
  const others = options || stacks || bid ? [] : legal.filter((choice) => choice.place);
  if ($("all")) opened[1] = $("all").open;
  $("choices").replaceChildren(...parts());
  $("auction").replaceChildren(
    ...linked(auction ? `${auction.text} Still in: ${auction.still.join(", ")}.` : ""),
  );
  $("buttons").className = options ? "options" : "buttons";
  if (legal.length && canBid(state)) {
    tray = BidTray.of(bid, { step: state.step, changed: mark, play: act, worth: auction.worth });
    tray.show();
  }
  $("buttons").replaceChildren(...buttons(state.decision, legal));
  showPlaces(state.phase, others);
  showFoot(legal);
  $("undo").hidden = !state.undo;
  $("choices").classList.toggle("idle", legal.length === 0);
  mark();
  keepFocus(focused);
}

/** The choice that stands where an earlier one stood. */
function sameAs(earlier) {
  const selector = earlier?.dataset.choice
    ? `[data-choice="${earlier.dataset.choice}"]`
    : `[id="${earlier?.id}"]`;
  return earlier && $("choices").querySelector(selector);
}

/**
 * The keyboard stays where it was, on the drawing or among the choices, also over the moves of
 * others.
 */
function keepFocus(focused) {
  const { activeElement: active } = document;
  const stays =
    active !== document.body &&
    !(active.closest("#board") && active.getAttribute("role") !== "button");
  if (!place || stays || $("choices").classList.contains("idle")) return;
  const found = [
    place === "board" ? $("board").querySelector('[role="button"]') : null,
    sameAs(focused),
    $("buttons").querySelector("button:enabled"),
    $("places").querySelector("button"),
    $("all-title"),
    $("foot").querySelector("button"),
  ];
  found.find((part) => part?.checkVisibility())?.focus({ preventScroll: true });
}

/** Keys: an option by its letter, pass, take back. Whether the key was one of these. */
export function choiceKey(key) {
  const state = seat.state;
  if (key === "u" && state?.undo) {
    undo();
    return true;
  }
  if (!state?.yours) return false;
  if (key === "p" && state.legal.some((choice) => choice.action === PASS)) {
    choose(PASS);
    return true;
  }
  const picks = [...$("choices").querySelectorAll(`[data-option="${key.toUpperCase()}"] button`)];
  if (picks.length === 1) picks[0].click();
  else picks[0]?.focus();
  return picks.length > 0;
}
