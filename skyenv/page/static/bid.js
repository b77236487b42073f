// A bid in preparation, and the sequence of actions that it becomes.
import { boxOf, copiesOf } from "./around.js";
import { isCalm, remeasure } from "./board.js";
import { $$, el, shape } from "./dom.js";
import { many, percent } from "./format.js";
import {
  BID,
  BID_DONE,
  BLACK,
  CARDS_FROM,
  CARDS_LEAVE,
  CARD_COLOURS,
  CARD_STEP,
  LOWEST_CARD,
  NUM_RANKS,
} from "./game.js";
import { keep, kept } from "./settings.js";

const actionOf = (colour, value) => BID + NUM_RANKS * colour + value - LOWEST_CARD;
/** Colour and value of a card, from its action. */
const cardOf = (action) => [
  Math.floor((action - BID) / NUM_RANKS),
  ((action - BID) % NUM_RANKS) + LOWEST_CARD,
];
/** @type {BidTray | null} */
let current = null; // one decision has one tray

/** The cards of a bid in preparation, and their total. */
export class Bid {
  laid = new Map(); // how many cards, by their actions

  /** @param {Hand} bid */
  constructor(bid) {
    this.bid = bid;
  }

  count(colour, value) {
    return this.laid.get(actionOf(colour, value)) ?? 0;
  }

  /** The colour of the coloured cards in the tray; null if there is none. */
  get colour() {
    const { cards } = this.bid;
    const laid = cards.find(([one, value]) => one !== BLACK && this.count(one, value) > 0);
    return laid?.[0] ?? null;
  }

  /** Why a card can't be laid down beside the others; "" if it can. */
  why(colour, value) {
    const { cards, colours } = this.bid;
    const card = cards.find((one) => one[0] === colour && one[1] === value);
    if (!card && colour !== BLACK && !colours.includes(colour)) {
      const names = colours.map((one) => CARD_COLOURS[one]).join(" or ");
      return `only ${names || "no colour"} can be bid here`;
    }
    if (!card) return "there is no such card in your hand";
    const laid = this.colour;
    if (colour !== BLACK && laid !== null && laid !== colour)
      return `all coloured cards of a bid have one colour; yours is in ${CARD_COLOURS[laid]}`;
    return this.count(colour, value) < card[2] ? "" : "you have laid down all of these";
  }

  /** The cards as actions, in the order of the encoding: coloured 4, 5, 6, black 4, 5, 6. */
  get actions() {
    return [...this.laid]
      .sort(([a], [b]) => a - b)
      .flatMap(([action, number]) => Array(number).fill(action));
  }

  get sum() {
    return this.actions.reduce((sum, action) => sum + cardOf(action)[1], 0);
  }

  /** Why the tray is no bid yet; "" if it is one. */
  get missing() {
    const { highest, laid, is_open } = this.bid;
    if (!this.actions.length) return "no card added yet";
    if (is_open && this.colour === null) return "the first card must be a coloured one";
    return laid + this.sum > highest ? "" : `more than ${highest} is needed`;
  }

  /** Skyscrapers that winning with these cards would build at most (COM-10). */
  get builds() {
    const { builds, limits } = this.bid;
    return Math.min(builds, ...this.actions.map((card) => limits[cardOf(card)[1]]));
  }

  /** The colour and the build of a bid with these cards; null without a card, or a colour. */
  get aim() {
    const { is_open, colours } = this.bid;
    const colour = this.colour ?? (is_open ? null : colours[0]);
    return this.actions.length && colour !== null ? { colour, builds: this.builds } : null;
  }
}

/**
 * The least bid that leads, up to a total; with an aim in its colour and for its build.
 * @param {Hand} hand
 */
export const leastBid = ({ leads }, most, aim) =>
  leads.find(
    (bid) => bid.total <= most && (!aim || (bid.colour === aim.colour && bid.builds >= aim.builds)),
  );

/**
 * The value of winning by a draft, in a line. Its `colour`: undefined without a coloured card, for
 * that of most VP. Its `cards`: 0 if it is no bid yet, for the hand's largest build.
 * @param {Worth} worth
 */
export function worthText(worth, { colour, total, builds, cards }) {
  const { stop, card, alea, laid } = worth;
  const chosen = colourOf(worth, colour);
  const number = cards ? builds : chosen.builds;
  const vp = Math.round(100 * number * chosen.vp) / 100;
  const built = number
    ? `${number} × ${chosen.vp} = ${vp} VP ${worth.when} in ${chosen.name}`
    : "0 VP (no skyscraper is ready: it only keeps others out)";
  const stopped = stop && `a building stop: ${stop.vp} VP`;
  const brings = [stop?.must ? "" : built, stopped].filter(Boolean).join(", or ");
  const paid = cards ? laid + cards : chosen.cards;
  const cost = `${cards ? "" : "at least "}${many(paid, "card")} (${paid * card} VP)`;
  const risk = cards && alea ? riskOf(alea, total) : "";
  return `Winning brings ${brings}, costs ${cost}.${risk}`;
}

/** How likely Alea bids more than a total. */
const riskOf = (alea, total) => {
  const more = alea.find(([than]) => than === total)?.[1] ?? 0;
  return ` Alea bids more than ${total}: ${percent(more)}.`;
};

const colourOf = ({ colours }, name) =>
  colours.find((one) => one.name === name) ??
  colours.reduce((best, one) => (one.vp * one.builds > best.vp * best.builds ? one : best));

const DRAFT = `draft ${location.pathname}`; // what this browser remembers of a game's bid

/** A decision's draft, by actions, from before the page was loaded again. */
function rememberedOf(key) {
  const [decision, laid] = JSON.parse(kept(DRAFT) ?? "[]");
  return decision === key ? laid : [];
}

export class BidTray extends Bid {
  changed = () => {};
  play = (_actions) => {};

  /** The tray of a decision. @param {State} state */
  static of({ decision, step }) {
    const key = JSON.stringify([step, decision.bid]);
    if (current?.key !== key) current = new BidTray(decision, key);
    return current;
  }

  constructor({ bid, auction }, key) {
    super(bid);
    this.key = key;
    this.worth = auction?.worth;
    this.rows = bid.cards.map(([colour, value, number]) => this.row(colour, value, number));
    this.element = el(
      "ul.tray.cards",
      { "aria-label": "Your cards for a bid" },
      this.rows.map((row) => row.element),
    );
    this.total = el("p.total", { "aria-live": "polite" });
    this.value = el("summary");
    this.told = el("details.worth", this.value, el("p.small", this.worth.assumes));
    const done = { "data-action": BID_DONE, onclick: () => this.done() };
    this.button = el("button#bid-done.primary", done);
    this.empty = el("button#bid-empty", { onclick: () => this.clear() }, "take all back");
    this.foot = el("div.bid", this.total, this.told, this.button, this.empty);
    this.laid = new Map(rememberedOf(key));
    this.show();
  }

  row(colour, value, number) {
    const [card, name] = [`${colour}:${value}`, `${CARD_COLOURS[colour]} ${value}`];
    const count = el("span.count");
    const more = el(
      "button",
      {
        "data-more": card,
        "data-action": actionOf(colour, value),
        onclick: () => this.add(colour, value),
      },
      el("span", el("span.unseen", "lay down "), name),
      count,
    );
    const less = el(
      "button",
      {
        "aria-label": `take back ${name}`,
        "data-less": card,
        onclick: () => this.add(colour, value, -1),
      },
      "−",
    );
    const element = el(`li.suit.suit-${colour}`, more, less);
    return { colour, value, number, less, more, count, element };
  }

  add(colour, value, by = 1) {
    if (by > 0 && this.why(colour, value)) return;
    this.laid.set(actionOf(colour, value), Math.max(0, this.count(colour, value) + by));
    this.show();
  }

  clear() {
    this.laid.clear();
    this.show();
  }

  done() {
    if (!this.missing) this.play([...this.actions, BID_DONE]);
  }

  show() {
    for (const { colour, value, number, less, more, count } of this.rows) {
      count.textContent = `${this.count(colour, value)}/${number} +`;
      less.disabled = this.count(colour, value) === 0;
      more.title = this.why(colour, value);
      more.disabled = more.title !== "";
    }
    const { laid } = this.bid;
    const { sum, builds, missing } = this;
    const cards = this.actions.length;
    const total = laid + sum;
    const parts = laid && cards ? ` (${laid} and ${sum} more)` : "";
    const built = cards ? `, builds up to ${builds}` : "";
    this.total.textContent = `Total ${total}${parts}${built}${missing && `: ${missing}`}.`;
    this.button.textContent = `bid ${total}`;
    this.button.disabled = missing !== "";
    this.empty.disabled = cards === 0;
    keep(DRAFT, JSON.stringify([this.key, [...this.laid]]));
    const colour = CARD_COLOURS[this.colour ?? -1];
    const bid = { colour, total, builds, cards: missing ? 0 : cards };
    this.value.textContent = worthText(this.worth, bid);
    this.changed();
  }
}

// ---- the bid on the drawing ----

/** A text whose words are for the time of a draft. */
function reword(text, words) {
  text.dataset.whole ??= text.textContent;
  text.textContent = words ?? text.dataset.whole;
}

function thin(board, seat, tray) {
  for (const pile of $$(`[data-card^="${seat}:"]`, board)) {
    const [, colour, rank] = pile.dataset.card.split(":").map(Number);
    const laid = tray?.count(colour, rank + LOWEST_CARD) ?? 0;
    const all = copiesOf(pile);
    pile.classList.toggle("laid", laid === all);
    const copies = pile.querySelector("[data-copies]");
    if (copies) reword(copies, laid ? (all - laid > 1 ? `×${all - laid}` : "") : null);
  }
}

/** Move a card from a box to its place. */
function slide(card, from) {
  if (!card || !from || isCalm.matches) return;
  const [to, scale] = [boxOf(card), card.getScreenCTM().a];
  const way = `${(from.left - to.left) / scale}px ${(from.top - to.top) / scale}px`;
  card.animate({ translate: [way, "0 0"] }, { duration: 200, easing: "ease-out" });
}

/** Take the cards of a draft away; their boxes, by their actions. */
function taken(board) {
  const boxes = new Map();
  for (const old of $$(".draft", board)) {
    const { laid } = old.dataset;
    if (laid) boxes.set(laid, [...(boxes.get(laid) ?? []), boxOf(old)]);
    old.remove();
  }
  return boxes;
}

/** A card of a draft, its left edge at `x`; a click takes it back. */
function draftOf(action, x, tray) {
  const [colour, value] = cardOf(action);
  const card = shape(
    "g",
    {
      class: `draft suit-${colour}`,
      transform: `translate(${x} 6)`,
      "aria-hidden": "true",
      "data-laid": action,
      "data-piece": `card-${colour}`,
    },
    shape("rect", { width: 24, height: 34, rx: 4 }),
    ...[`${value}`, "▲◆■●✚★"[colour]].map((text, line) =>
      shape("text", { x: 12, y: 16 + 14 * line }, text),
    ),
  );
  card.addEventListener("click", (event) => {
    event.stopPropagation();
    tray.add(colour, value, -1);
  });
  return card;
}

/** Show a tray's cards, if there is one, in a seat's row of the auction. */
export function showDraft(board, seat, tray) {
  const pileOf = (action) =>
    board.querySelector(`[data-card^="${seat}:"][data-action="${action}"]`);
  const lay = taken(board);
  thin(board, seat, tray);
  const row = board.querySelector(`[data-part^="bidder"] > [data-seat="${seat}"]`);
  if (!row) return;
  const cards = tray?.actions ?? [];
  const isNew = cards.map((action) => !lay.get(`${action}`)?.pop());
  if (tray) for (const [action, [from]] of lay) slide(pileOf(action), from);
  remeasure(board);
  const lie = $$("[data-piece]", row).length;
  for (const text of $$(":scope > text", row)) reword(text, cards.length ? "" : null);
  if (!cards.length) return;
  const width = row.querySelector("rect").width.baseVal.value;
  const room = (width - CARDS_LEAVE) / Math.max(lie + cards.length - 1, 1);
  const step = Math.min(CARD_STEP, room);
  for (const [i, action] of cards.entries()) {
    const card = draftOf(action, CARDS_FROM + CARD_STEP * lie + step * i, tray);
    row.append(card);
    if (isNew[i]) slide(card, boxOf(pileOf(action)));
  }
  const sum = { class: "draft sum", x: width - 8, y: 30, "text-anchor": "end" };
  row.append(shape("text", sum, `${tray.bid.laid + tray.sum}`));
}
