// A limit for the own bids in an auction: the page bids as little as leads, up to it, and
// passes above.
import { leastBid } from "./bid.js";
import { $, isNews } from "./dom.js";
import { BID_DONE, PASS } from "./game.js";
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
  const cards = leastBid(decision.bid, most);
  return cards ? [...cards, BID_DONE] : [PASS];
}

/** @param {State} state */
function show({ decision }) {
  if (!placeOf()) keep(LIMIT, "[]");
  if (isNews($("proxy"), placeOf())) $("proxy").open = false;
  const most = limitOf();
  $("proxy").hidden = !decision.auction?.still.includes("you");
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
