// What style sheets can't express: the dock's height, and on small screens the visible part of the
// drawing and the cards in a line.
import { boxOf, fitHole, handLine, isSmall, stackLine } from "./around.js";
import { isUpright } from "./board.js";
import { $, $$ } from "./dom.js";
import { latest, onState, positionOf, seat } from "./seat.js";

let brought = "";

/** Have style sheets know the height of a part. */
export function tellHeight(name, part) {
  const root = document.documentElement.style;
  new ResizeObserver(() => root.setProperty(name, `${part.offsetHeight}px`)).observe(part);
}

/** @param {State} state */
function showCards({ decision, over, seat: own }) {
  if (!isSmall.matches) return;
  $("strip").replaceChildren(
    decision.bid || over ? "" : handLine("hand", own, $("board")),
    decision.take || over ? "" : stackLine($("board")),
  );
}

/** Whether a part of the drawing is in the window, between the lesson and the dock. */
function isSeen(part) {
  const { left, right, top, bottom } = boxOf(part);
  const isIn = top >= boxOf($("lesson")).bottom && bottom <= boxOf($("dock")).top;
  return isIn && left >= 0 && right <= innerWidth;
}

const scrollTo = (part, block, inline = "center") =>
  part.scrollIntoView({ block, inline, behavior: "instant" });

/** Bring what is auctioned into view, on upright screens to the top, once an auction. */
function bringAuction() {
  const part = $("board").querySelector("[data-auction]");
  if (!part || brought === part.dataset.auction) return;
  brought = part.dataset.auction;
  if (isUpright.matches) scrollTo(part, "start");
  else scrollTo(part, "nearest", "nearest");
}

/** On small screens, bring what can be chosen on the drawing into view, once in each position. */
export function bring() {
  const state = latest();
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

export function setUpFit() {
  const place = () => fitHole($("happened"), $("board"));
  onState(place);
  new ResizeObserver(() => seat.state && place()).observe($("board"));
  onState(showCards);
  // the page is laid out then, once for all, and the height of the dock is known
  onState(() => requestAnimationFrame(() => setTimeout(bring)));
  tellHeight("--sheet", $("dock"));
}
