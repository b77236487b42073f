// The seat's choices, on the drawing or as buttons. Two cards, and the cards of a bid, are chosen
// in any order.
import { BidTray, showDraft } from "./bid.js";
import { actionsOf, markLegal } from "./board.js";
import { $, $$, el, isNews } from "./dom.js";
import { BID, LOWEST_CARD, PASS, PLOT, STOP, TAKE } from "./game.js";
import { showProxy } from "./proxy.js";
import { linked, worded } from "./rules.js";
import { act, isAway, latest, positionOf, seat, undo } from "./seat.js";
import { asked, isForced } from "./settings.js";

// "board" or "choices": where the focus is
let place = "";
/** @type {number | null} */
let first = null; // the stack that was chosen, where two cards are taken
/** @type {BidTray | null} */
let tray = null; // the bid in preparation

addEventListener("focusin", ({ target }) => {
  place = target?.closest(":focus-visible")?.closest("#board, #choices")?.id ?? "";
});
addEventListener("pointerdown", () => {
  place = "";
});

/** The legal actions that a part of the drawing stands for. */
const movesOf = (part) =>
  actionsOf(part, latest().seat).filter((action) =>
    latest().legal.some((choice) => choice.action === action),
  );
const taking = (part) =>
  seat.state?.decision.take && part.dataset.stack !== undefined ? Number(part.dataset.stack) : null;

/**
 * The card of this seat's hand that a part of the drawing is: colour and value.
 * @returns {[number, number] | null}
 */
function cardOf(part) {
  const [whose, colour, rank] = (part.dataset.card ?? "").split(":").map(Number);
  return part.dataset.card && whose === latest().seat ? [colour, rank + LOWEST_CARD] : null;
}

export const begun = () => tray?.actions ?? (first === null ? [] : [TAKE + first]);

const canPass = (legal) => legal.some((choice) => choice.action === PASS);

/** Whether a bid is legal, not only passing. @param {State} state */
const canBid = (state) =>
  state.decision.bid !== null && state.legal.some((choice) => choice.action !== PASS);

export function isLegal(part) {
  const { state } = seat;
  if (!state?.yours || isForced(state) || isAway()) return false;
  const { take } = state.decision;
  if (take && part.dataset.stack !== undefined)
    return take.some(([colour]) => colour === taking(part));
  const card = canBid(state) && cardOf(part);
  if (card) return !BidTray.of(state).why(...card);
  return movesOf(part).length > 0;
}

/**
 * The server's reason against an action; without one, that of the whole position.
 * @param {State} state
 */
function reasonOf(state, action) {
  const isMeant = ([, actions]) => action === undefined || actions.includes(action);
  return Object.entries(state.why).find(isMeant)?.[0] ?? "";
}

/** The reason why a part can't be chosen; "" if it can, or no reason is known. */
export function whyNot(part) {
  const { state } = seat;
  if (!state || state.seat === null || isLegal(part)) return "";
  if (state.over) return "the game is over";
  if (isAway()) return "the connection is lost";
  if (state.behind) return "this is an earlier position";
  const [action] = actionsOf(part, state.seat); // all moves of a commissioner have one reason
  if (action === undefined && state.yours)
    return part.dataset.stack ? "black cards come with options C and D; they can't be chosen" : "";
  const card = canBid(state) && cardOf(part);
  if (card) return BidTray.of(state).why(...card);
  return reasonOf(state, action);
}

/** The effect of a click on a part of the drawing, in words. @param {State} state */
function clickOf(part, state) {
  if (taking(part) !== null) return first === taking(part) ? "put it back" : "take its top card";
  if (canBid(state) && cardOf(part)) return "lay it down";
  if (part.dataset.commissioner !== undefined) return "";
  return state.legal.find((one) => one.action === movesOf(part)[0])?.text;
}

export function say(part) {
  const state = latest();
  const what = part.getAttribute("aria-label") ?? "";
  const click = isLegal(part) ? clickOf(part, state) : "";
  return [what, click ? worded(`click: ${click}`) : whyNot(part)].filter(Boolean).join(" — ");
}

/** A part of the drawing was clicked. A commissioner is chosen first, and then its next place. */
export function click(part) {
  if (!isLegal(part)) return;
  const moves = movesOf(part);
  const card = cardOf(part);
  if (taking(part) !== null) take(taking(part));
  else if (tray && card) tray.add(...card);
  else if (part.dataset.commissioner === undefined) choose(moves[0]);
  else if (moves.length === 1) act(moves);
  else aim(part.dataset.commissioner);
}

/** Choose a commissioner: its next places stay bright. */
function aim(who) {
  for (const one of $$("[data-place]", $("board")))
    one.classList.toggle("faded", !one.dataset.place.startsWith(`${who}:`));
  $("board").querySelector(`.legal[data-place^="${who}:"]`)?.focus();
}

/**
 * The confirmation of an action that can't be taken back: question, yes and no; or null.
 * @param {number} action
 * @param {State} state
 */
function questionOf(action, { decision, lesson }) {
  if (lesson) return null;
  if (action === PASS)
    return tray?.actions.length
      ? ["Cards of a bid are laid down. Pass all the same?", "pass", "keep bidding"]
      : null;
  if (decision.ends && action >= PLOT && action < TAKE)
    return ["The 12th business ends the game. Place it?", "place it", "not yet"];
  if (action !== STOP) return null;
  return [
    decision.ends
      ? "The second building stop ends the game. Declare it?"
      : "Declare a building stop? The district leaves the game.",
    "declare it",
    "not yet",
  ];
}

async function choose(action) {
  const state = latest();
  const question = questionOf(action, state);
  if (question && !(await asked(...question))) return;
  // the state may be newer by now
  if (positionOf(latest()) === positionOf(state)) act([action]);
}

/** Choose a stack: with the second both are taken, by ascending colour. */
function take(colour) {
  const before = first;
  first = before === null ? colour : null;
  if (before === null || before === colour) mark();
  else act([before, colour].sort((a, b) => a - b).map((one) => TAKE + one));
}

function mark() {
  for (const stack of $$("[data-stack]", $("board")))
    stack.classList.toggle("chosen", first !== null && taking(stack) === first);
  for (const button of $$("[data-take]", $("choices")))
    button.setAttribute("aria-pressed", `${Number(button.dataset.take) === first}`);
  markLegal($("board"));
  showDraft($("board"), latest().seat, tray);
  showProxy(tray);
}

// ---- the choices as buttons ----

const choosing = (action) => ({
  "data-choice": action,
  "data-action": action,
  onclick: () => choose(action),
});
const button = (choice) => el("button", choosing(choice.action), choice.text);

const optionCard = ({ letter, name, why, brings, choices }) =>
  el(
    choices.length ? "section.option" : "section.option.none",
    { "data-option": letter },
    el("h2", el("b.letter", letter), ` ${name}`),
    el("p.brings", linked(why ? `Not now: ${why}.` : `${brings}.`)),
    el("p.picks", choices.map(button)),
  );

const stackButton = ([colour, name, value]) =>
  el(
    `button.suit.suit-${colour}`,
    {
      "data-take": colour,
      "data-action": TAKE + colour,
      "aria-pressed": "false",
      onclick: () => take(colour),
    },
    `${name} ${value}`,
  );

/** The buttons of a decision, or the tray of its bid. */
function buttons({ options, take, bid }, legal) {
  if (!legal.length) return [];
  if (options) return options.map(optionCard);
  if (take) return take.map(stackButton);
  if (tray) return [tray.element];
  return legal
    .filter((choice) => !choice.place && !(bid && choice.action >= BID) && choice.action !== PASS)
    .map(button);
}

const passing = (legal) => (canPass(legal) ? el("button.apart", choosing(PASS), "pass") : "");

/** @param {State} state */
export function showChoices(state) {
  const { legal: all, decision, undo, step } = state;
  if (!isNews($("choices"), [all, decision, undo, step, isForced(state)])) {
    mark();
    return;
  }
  const focused = $("choices").querySelector(":focus-visible"); // not for clicks
  const { options, auction } = decision;
  first = null;
  tray = null;
  const legal = isForced(state) || !state.yours ? [] : all;
  // made anew: elements that stay and move count as layout shifts
  $("choices").replaceChildren(document.importNode($("offer").content, true));
  $("auction").replaceChildren(...linked(auction?.text ?? ""));
  $("buttons").className = options ? "options" : "buttons";
  if (legal.length && canBid(state)) {
    tray = BidTray.of(state);
    tray.changed = mark;
    tray.play = act;
    tray.show();
  }
  $("buttons").replaceChildren(...buttons(decision, legal));
  $("foot").replaceChildren(tray?.foot ?? "", passing(legal));
  $("undo").hidden = !undo;
  $("choices").classList.toggle("idle", legal.length === 0);
  mark();
  keepFocus(focused);
}

function sameAs(earlier) {
  const { id, dataset } = earlier ?? { dataset: {} };
  const selector = dataset.action ? `[data-action="${dataset.action}"]` : `[id="${id}"]`;
  return $("choices").querySelector(selector);
}

/** The keyboard stays on the drawing or among the choices while others move. */
function keepFocus(focused) {
  const { activeElement: active } = document;
  const stays =
    active &&
    active !== document.body &&
    !(active.closest("#board") && active.getAttribute("role") !== "button");
  if (!place || stays || $("choices").classList.contains("idle")) return;
  const found = [
    place === "board" ? $("board").querySelector('[role="button"]') : null,
    sameAs(focused),
    $("buttons").querySelector("button:enabled"),
    $("foot").querySelector("button"),
  ];
  found.find((part) => part?.checkVisibility())?.focus({ preventScroll: true });
}

/** Keys of options, pass and take back. Whether the key was one of these. */
export function choiceKey(key) {
  const { state } = seat;
  if (key === "u" && state?.undo) {
    undo();
    return true;
  }
  if (!state?.yours) return false;
  if (key === "p" && canPass(state.legal)) {
    choose(PASS);
    return true;
  }
  const picks = $$(`[data-option="${key.toUpperCase()}"] button`, $("choices"));
  if (picks.length === 1) picks[0].click();
  else picks[0]?.focus();
  return picks.length > 0;
}
