// A limit for the own bids in an auction: the page bids as little as leads for what is aimed at.
import { leastBid } from "./bid.js";
import { $, isNews } from "./dom.js";
import { BID_DONE, CARD_COLOURS, LOWEST_CARD, PASS } from "./game.js";
import { latest, note } from "./seat.js";
import { keep, kept } from "./settings.js";

const LIMIT = `limit ${location.pathname}`; // kept: the auction, the limit
/** @type {import("./bid.js").BidTray | null} */
let tray = null;

/** The auction under way, until a decision is taken back; null without one. */
function auctionOf() {
  const place = $("board").querySelector("[data-auction]")?.dataset.auction;
  return place ? `${place} ${latest().undone}` : null;
}

/** The limit in this auction: the highest total, and its aim once that is decided. */
function limitOf() {
  const [auction, limit] = JSON.parse(kept(LIMIT) ?? "[]");
  return auction === auctionOf() ? limit : null;
}

const setLimit = (limit) => keep(LIMIT, JSON.stringify(limit ? [auctionOf(), limit] : []));
const inWords = ({ colour, builds }) => `${builds ? `${builds} in ` : ""}${CARD_COLOURS[colour]}`;

/**
 * What a limit does with a hand, in words and actions, null to leave it to the player; and what it
 * aims at: without a wanted colour and build, at most VP.
 */
export function answerOf(hand, most, wanted) {
  const [best] = hand.leads.filter(({ total }) => total <= most).sort((a, b) => b.vp - a.vp);
  if (!best) return { text: "pass", actions: [PASS], aim: wanted };
  const aim = wanted ?? { colour: best.colour, builds: best.builds };
  const least = leastBid(hand, most, aim);
  return least
    ? { text: `bid ${least.total} for ${inWords(aim)}`, actions: [...least.cards, BID_DONE], aim }
    : { text: `no bid up to ${most} for ${inWords(aim)}`, actions: null, aim };
}

/** What the limit has this seat play now; null: nothing. @param {State} state */
export function bidFor({ yours, decision: { bid } }) {
  const limit = limitOf();
  if (!yours || !bid || !limit) return null;
  const { text, actions, aim } = answerOf(bid, limit.most, limit.aim ?? tray?.aim);
  setLimit(actions && { ...limit, aim });
  if (!actions) note(`By your limit you decide: ${text}.`);
  if (!actions || actions[0] === PASS) $("proxy").open = false;
  showProxy(tray);
  return actions;
}

/** Of the draft, or the least that leads. @param {import("./bid.js").BidTray} draft */
const totalOf = ({ bid, sum, aim }) =>
  Math.max(bid.laid + sum, leastBid(bid, Infinity, aim)?.total ?? 0);

const titleOf = ({ most, aim }) => `for you: up to ${most}${aim ? `, ${inWords(aim)}` : ""}`;

/** Show the limit, or what one would do with the draft in the tray. */
export function showProxy(draft) {
  tray = draft;
  if (!auctionOf()) setLimit(null);
  const [field, limit] = [$("proxy-most"), limitOf()];
  if (isNews($("proxy"), auctionOf())) {
    $("proxy").open = false;
    field.form?.reset();
  }
  field.defaultValue = `${tray ? totalOf(tray) : LOWEST_CARD}`;
  const now = tray && !limit && answerOf(tray.bid, Number(field.value), tray.aim);
  $("proxy").hidden = !latest().decision.auction?.own;
  $("proxy-title").textContent = limit ? titleOf(limit) : "bid or pass for me";
  $("proxy-set").textContent = limit ? "stop" : "start";
  $("proxy-set").disabled = now && !now.actions;
  $("proxy-now").textContent = now ? `now: ${now.text}` : "";
}

/** `play(state)` is called for a new limit. */
export function setUpProxy(play) {
  $("proxy-most").oninput = () => showProxy(tray);
  $("proxy-form").onsubmit = (event) => {
    event.preventDefault();
    setLimit(limitOf() ? null : { most: Number($("proxy-most").value) });
    showProxy(tray);
    play(latest());
  };
}
