// The table's layout as far as style sheets can't tell it: where the drawing is empty, how high the
// dock is, and on small screens what is to be seen of the drawing, and the cards in a line.
import { $$, $, el } from "./dom.js";
import { onState, positionOf, seat } from "./seat.js";

/** Whether the whole drawing can't be read on this screen at once. */
export const isSmall = matchMedia(
  "(max-width: 860px) and (orientation: landscape), (max-width: 699px) and (orientation: portrait)",
);

const GAP = 0.012; // of the drawing's height, between what is drawn and what stands beside it
const root = document.documentElement.style;
const boxOf = (part) => part.getBoundingClientRect();
const percent = (length, of) => `${100 * Math.max(0, length / of)}%`;
let brought = "";

/** Put the turns since one's own last one where the drawing is empty. */
function fit() {
  const svg = $("board").querySelector("svg");
  const [whole, city] = [svg, svg.querySelector('[data-part="city"]')].map(boxOf);
  const parts = $$(":scope > g:not(.flying)", svg).map(boxOf);
  const beside = parts.filter(({ left, top }) => left >= city.right && top < city.bottom);
  const right = Math.max(...beside.map((box) => box.right));
  const bottom = Math.max(...beside.map((box) => box.bottom));
  const gap = GAP * whole.height;
  Object.assign($("recent").style, {
    left: percent(city.right - whole.left + gap, whole.width),
    right: percent(whole.right - right, whole.width),
    top: percent(bottom - whole.top + gap, whole.height),
    bottom: percent(whole.bottom - city.bottom, whole.height),
  });
}

/** The cards of a seat's hand or of the stacks, in a line. */
function cards(selector, name) {
  const chips = $$(selector, $("board")).map((pile) => {
    const [, colour] = (pile.dataset.card ?? `:${pile.dataset.stack}`).split(":");
    const texts = $$("text", pile).map((text) => text.textContent);
    const value = texts.find((text) => /^[456]$/.test(text)) ?? "?";
    const many = pile.dataset.card && texts.find((text) => text.startsWith("×"));
    return el(`span.suit.suit-${colour}`, `${value}${many ?? ""}`);
  });
  return chips.length ? [el("span", el("b", name), ...chips)] : [];
}

function showCards(state) {
  if (!isSmall.matches) return;
  $("strip").replaceChildren(
    ...(state.decision.bid || state.over ? [] : cards(`[data-card^="${state.seat}:"]`, "hand")),
    ...(state.decision.take || state.over ? [] : cards("[data-stack]", "stacks")),
  );
}

/** Whether a part of the drawing is in the window, not under the dock or the lesson. */
function isSeen(part) {
  const [box, dock] = [boxOf(part), boxOf($("dock"))];
  const isBelow = dock.left < 9;
  return (
    box.top >= boxOf($("lesson")).bottom &&
    box.left >= 0 &&
    box.bottom <= (isBelow ? dock.top : innerHeight) &&
    box.right <= (isBelow ? innerWidth : dock.left)
  );
}

const scrollTo = (part, block) =>
  part.scrollIntoView({ block, inline: "center", behavior: "instant" });

/** Bring what is auctioned to the top, once in each auction. */
function bringAuction() {
  const nameOf = (part) => part.ariaLabel ?? part.querySelector(":scope > title")?.textContent;
  const part = $$("g", $("board")).find((one) => nameOf(one)?.endsWith("under auction"));
  if (!part || brought === nameOf(part)) return;
  brought = nameOf(part);
  scrollTo(part, "start");
}

/** On small screens, bring what can be chosen on the drawing into view, once in each position. */
export function bring() {
  const { state } = seat;
  const { options, take, bid } = state.decision; // the dock has all that can be chosen then
  if (!isSmall.matches || !state.yours || options || take) return;
  if (bid) return bringAuction();
  const taught = $$(".taught[role=button]", $("board"));
  const all = taught.length ? taught : $$("[role=button]", $("board"));
  const position = `${positionOf(state)} ${taught.length > 0}`;
  if (!all.length || brought === position || (state.lesson && !taught.length)) return;
  brought = position;
  if (!all.some(isSeen)) scrollTo(all[0], "center");
}

/** Keep all of it up to date. */
export function setUpFit() {
  onState(fit);
  onState(showCards);
  onState(() => requestAnimationFrame(bring)); // the page is laid out then, once for all
  const measure = () => root.setProperty("--sheet", `${$("dock").offsetHeight}px`);
  new ResizeObserver(measure).observe($("dock"));
}
