// A limit for the own bids in an auction: the page bids as little as leads, up to it, and
// passes above.
import { leastBid } from "./bid.js";
import { $, isNews } from "./dom.js";
import { BID_DONE, LOWEST_CARD, PASS } from "./game.js";
import { latest, onState } from "./seat.js";
import { keep, kept } from "./settings.js";

const LIMIT = "limit"; // kept: page, place of the auction, highest total
const placeOf = () => $("board").querySelector("[data-auction]")?.dataset.auction ?? null;

/** The limit in this auction; null without one. @returns {number | null} */
function limitOf() {
  const [page, place, most] = JSON.parse(kept(LIMIT) ?? "[]");
  return page === location.pathname && place === placeOf() ? most : null;
}

/** What the limit has this seat play now; null: nothing. @param {State} state */
export function bidFor({ yours, decision }) {
  const most = limitOf();
  if (!yours || !decision.bid || most === null) return null;
  const least = leastBid(decision.bid, most);
  return least ? [...least[1], BID_DONE] : [PASS];
}

/** @param {State} state */
function show({ decision }) {
  if (!placeOf()) keep(LIMIT, "[]");
  const field = $("proxy-most");
  if (isNews($("proxy"), placeOf())) {
    $("proxy").open = false;
    field.value = "";
  }
  const [least] = (decision.bid && leastBid(decision.bid, 99)) ?? [LOWEST_CARD];
  if (field.value < least) field.value = least;
  const most = limitOf();
  $("proxy").hidden = !decision.auction?.own;
  $("proxy-title").textContent = most === null ? "bid or pass for me" : `for you: up to ${most}`;
  $("proxy-set").textContent = most === null ? "start" : "stop";
}

/** `play(state)` is called for a new limit. */
export function setUpProxy(play) {
  onState(show);
  $("proxy-set").onclick = () => {
    const limit = [location.pathname, placeOf(), Number($("proxy-most").value)];
    keep(LIMIT, limitOf() === null ? JSON.stringify(limit) : "[]");
    show(latest());
    play(latest());
  };
}
