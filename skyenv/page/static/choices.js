// What the seat may choose: on the drawing, and as buttons.
import { actionOf } from "./board.js";
import { el } from "./dom.js";
import { $, act, seat, undo } from "./seat.js";

let holding = false;  // whether the keyboard was among the choices when they went

const movesOf = (who) => seat.state.legal.map((choice) => choice.action).filter((a) => Math.floor((a - 60) / 9) === Number(who) && a >= 60 && a < 78);

/** Whether a part of the drawing can be clicked. */
export function isLegal(part) {
  if (!seat.state?.yours) return false;
  if (part.dataset.commissioner !== undefined) return movesOf(part.dataset.commissioner).length > 0;
  return seat.state.legal.some((choice) => choice.action === actionOf(part, seat.state.seat));
}

function whyNot(part) {
  const { state } = seat;
  if (!state || state.seat === null || isLegal(part)) return "";
  if (state.over) return "the game is over";
  const who = part.dataset.commissioner;
  const action = who === undefined ? actionOf(part, state.seat) : 60 + 9 * Number(who);  // its moves have one reason
  if (action === null) {
    if (!state.yours) return Object.keys(state.why)[0] ?? "";
    if (part.dataset.stack) return "black cards come with options C and D; they can't be chosen";
    return "";
  }
  return Object.entries(state.why).find(([, actions]) => actions.includes(action))?.[0] ?? "";
}

/** What is said about a part of the drawing under the pointer. */
export function say(part) {
  const { state } = seat;
  const what = part.getAttribute("aria-label") ?? "";
  const choice = state?.legal.find((one) => one.action === actionOf(part, state.seat));
  const why = choice ? `click: ${choice.text}` : whyNot(part);
  return [what, why].filter(Boolean).join(" — ");
}

/** A part of the drawing was clicked. A commissioner is chosen first, and then its next place. */
export function click(part) {
  if (!isLegal(part)) return;
  if (part.dataset.commissioner === undefined) {
    act(actionOf(part, seat.state.seat));
    return;
  }
  const moves = movesOf(part.dataset.commissioner);
  if (moves.length === 1) {
    act(moves[0]);
    return;
  }
  const chosen = part.dataset.commissioner;
  for (const place of $("board").querySelectorAll("[data-place]")) {
    place.classList.toggle("faded", !place.dataset.place.startsWith(`${chosen}:`));
  }
  $("board").querySelector(`[data-place^="${chosen}:"]`)?.focus();
}

/** Show the choices as buttons. */
export function showChoices(state) {
  const button = (choice) => el("button", {
    type: "button", class: choice.place ? null : "primary", "data-choice": choice.action, onclick: () => act(choice.action),
  }, choice.text);
  const shown = JSON.stringify([state.legal, state.undo, state.step]);
  if ($("choices").dataset.shown === shown) return;
  $("choices").dataset.shown = shown;
  const active = document.activeElement;
  const focused = $("choices").contains(active) && active.matches(":focus-visible") ? active : null;  // not for clicks
  const others = state.legal.filter((choice) => choice.place);
  $("buttons").replaceChildren(...state.legal.filter((choice) => !choice.place).map(button));
  if (state.undo) {
    $("buttons").append(el("button", { type: "button", id: "undo", onclick: undo }, "take back the last card"));
  }
  $("all").hidden = others.length === 0;
  $("all-title").textContent = `The ${others.length} choices on the table as a list`;
  $("places").replaceChildren(...others.map((choice) => el("li", {}, button(choice))));
  $("choices").hidden = state.legal.length === 0;
  keepFocus(focused);
}

/** The keyboard stays among the choices, also over the moves of others: who has chosen by key goes on where it was. */
function keepFocus(focused) {
  if (focused) holding = true;
  else if (document.activeElement !== document.body) holding = false;
  if (!holding || $("choices").hidden) return;
  const same = focused?.dataset.choice ? `[data-choice="${focused.dataset.choice}"]` : focused?.id ? `[id="${focused.id}"]` : null;
  const kept = (same && $("choices").querySelector(same)) ?? null;
  const visible = (part) => part && part.getClientRects().length > 0;
  const next = [kept, $("buttons").querySelector("button"), $("places").querySelector("button"), $("all-title")].find(visible);
  next?.focus({ preventScroll: true });
  holding = !next;
}
