// A bid is laid together from the hand in any order, and then played as the one sequence of actions
// that the rules' encoding has.
import { el, percent } from "./dom.js";

const COLOURS = ["green", "violet", "brown", "orange", "gray", "black"],
  BLACK = 5,
  BID = 79,
  DONE = 97;
const actionOf = (colour, value) => BID + 3 * colour + value - 4;
let current = null; // one decision has one tray

/** The cards that are laid down for a bid, and what they come to. */
export class Bid {
  laid = new Map(); // how many cards, by their actions

  /** `bid`: what the server told of the decision (`decision.bid`). */
  constructor(bid) {
    this.bid = bid;
  }

  count(colour, value) {
    return this.laid.get(actionOf(colour, value)) ?? 0;
  }

  /** The colour of the coloured cards in the tray; null if there is none. */
  get colour() {
    return (
      this.bid.cards.find(
        ([colour, value]) => colour !== BLACK && this.count(colour, value),
      )?.[0] ?? null
    );
  }

  /** Why a card can't be laid down beside the others; "" if it can. */
  why(colour, value) {
    const card = this.bid.cards.find((one) => one[0] === colour && one[1] === value);
    if (!card)
      return colour === BLACK || this.bid.colours.includes(colour)
        ? "there is no such card in your hand"
        : `only ${this.bid.colours.map((one) => COLOURS[one]).join(" or ") || "no colour"} can be bid here`;
    if (colour !== BLACK && this.colour !== null && this.colour !== colour)
      return `all coloured cards of a bid have one colour; yours is in ${COLOURS[this.colour]}`;
    return this.count(colour, value) < card[2] ? "" : "all of these lie on the table already";
  }

  /** The cards as actions, in the order of the encoding: coloured 4, 5, 6, black 4, 5, 6. */
  get actions() {
    return [...this.laid]
      .sort(([a], [b]) => a - b)
      .flatMap(([action, number]) => Array(number).fill(action));
  }

  get sum() {
    return this.actions.reduce((sum, action) => sum + ((action - BID) % 3) + 4, 0);
  }

  /** Why the tray is no bid yet; "" if it is one. */
  get missing() {
    const { highest, laid, is_open } = this.bid;
    if (!this.actions.length) return "no card laid down yet";
    if (is_open && this.colour === null) return "the first card must be a coloured one";
    return laid + this.sum > highest ? "" : `more than ${highest} is needed`;
  }

  /** Skyscrapers that the bid would allow (COM-10): by the highest card. */
  get allows() {
    const limits = this.actions.map((action) => this.bid.limits[((action - BID) % 3) + 4]);
    return Math.min(...limits, this.bid.laid ? this.bid.allows : Infinity);
  }
}

/**
 * What winning is worth, in a line, and what that rests on; `worth` as skyenv/page/worth.py tells
 * it.
 *
 * `colour` of the bid, undefined if none is laid down yet: then that of most VP; its `total`, how
 * many skyscrapers it `builds` at most, how many `cards` it costs.
 */
export function worthText(worth, { colour, total, builds, cards }) {
  const chosen =
    worth.colours.find((one) => one.name === colour) ??
    worth.colours.reduce((best, one) => (one.vp > best.vp ? one : best));
  const most = Math.min(builds, Math.max(...Object.values(chosen.builds)));
  const alea = worth.alea && (worth.alea.find(([than]) => than === total)?.[1] ?? 0);
  const brings = `${most} × ${chosen.vp} = ${Math.round(100 * most * chosen.vp) / 100} VP in ${chosen.name}`;
  const others = worth.others.map(
    ({ seat, most: highest }) => `seat ${seat + 1} could bid ${highest} at most`,
  );
  const rest = [
    worth.assumes,
    worth.stop === null ? "" : `A building stop would bring ${worth.stop} VP instead.`,
    cards ? `The bid costs ${cards} ${cards === 1 ? "card" : "cards"}; a turn brings two.` : "",
    others.length ? `By what you know, ${others.join(", ")}.` : "",
  ];
  return [
    `Winning is worth ${brings}${alea === null ? "" : `; Alea bids more than ${total}: ${percent(alea)}`}`,
    rest.filter(Boolean).join(" "),
  ];
}

/** The tray that a bid is laid together in. */
export class BidTray extends Bid {
  changed = () => {};
  play = (_actions) => {};

  worth = null;

  /**
   * The tray of a decision: what the server told of it (`decision.bid`), and of what winning is
   * worth (`decision.auction.worth`).
   */
  static of(bid, { step = 0, changed = null, play = null, worth = null } = {}) {
    const key = JSON.stringify(bid);
    if (current?.key !== key || (play && current.step !== step))
      current = new BidTray(bid, key, step);
    if (play) Object.assign(current, { changed, play, worth });
    return current;
  }

  constructor(bid, key, step) {
    super(bid);
    this.key = key;
    this.step = step;
    this.stored = `bid ${location.pathname} ${step}`;
    try {
      // a reload loses nothing
      for (const [action, number] of JSON.parse(sessionStorage.getItem(this.stored) ?? "[]"))
        this.laid.set(action, number);
    } catch {
      /* then it is empty */
    }
    this.rows = bid.cards.map(([colour, value, number]) => this.row(colour, value, number));
    this.total = el("p", { class: "total", "aria-live": "polite" });
    this.button = el("button", {
      type: "button",
      class: "primary",
      id: "bid-done",
      onclick: () => this.done(),
    });
    this.empty = el(
      "button",
      {
        type: "button",
        id: "bid-empty",
        onclick: () => {
          this.laid.clear();
          this.show();
        },
      },
      "take all back",
    );
    this.element = el(
      "ul",
      { class: "tray cards", "aria-label": "Your cards for a bid" },
      ...this.rows.map((row) => row.element),
    );
    this.value = el("summary", {});
    this.rest = el("p", { class: "small" });
    this.foot = el(
      "div",
      { class: "bid" },
      this.total,
      el("details", { class: "worth" }, this.value, this.rest),
      this.button,
      this.empty,
    );
    this.show();
  }

  row(colour, value, number) {
    const name = `${COLOURS[colour]} ${value}`;
    const count = el("span", { class: "count" });
    const more = el(
      "button",
      { type: "button", "data-more": `${colour}:${value}`, onclick: () => this.add(colour, value) },
      el("span", {}, el("span", { class: "unseen" }, "lay down "), name),
      count,
    );
    const less = el(
      "button",
      {
        type: "button",
        "aria-label": `take back ${name}`,
        "data-less": `${colour}:${value}`,
        onclick: () => this.add(colour, value, -1),
      },
      "−",
    );
    const element = el("li", { class: `suit suit-${colour}` }, more, less);
    return { colour, value, number, less, more, count, element };
  }

  add(colour, value, by = 1) {
    if (by > 0 && this.why(colour, value)) return;
    this.laid.set(actionOf(colour, value), Math.max(0, this.count(colour, value) + by));
    this.show();
  }

  done() {
    const { actions } = this;
    if (this.missing) return;
    try {
      sessionStorage.removeItem(this.stored);
    } catch {
      /* there is none */
    }
    this.play([...actions, DONE]);
  }

  show() {
    try {
      sessionStorage.setItem(this.stored, JSON.stringify([...this.laid]));
    } catch {
      /* then a reload forgets it */
    }
    for (const { colour, value, number, less, more, count } of this.rows) {
      count.textContent = `${this.count(colour, value)}/${number} +`;
      less.disabled = this.count(colour, value) === 0;
      more.disabled = this.why(colour, value) !== "";
      more.title = this.why(colour, value);
    }
    const { laid, supply } = this.bid;
    const sum = laid + this.sum,
      of = laid ? ` (${laid} and ${this.sum} more)` : "";
    const built = this.actions.length ? `, builds up to ${Math.min(this.allows, supply)}` : "";
    this.total.textContent = `Total ${sum}${of}${built}${this.missing ? `: ${this.missing}` : ""}.`;
    this.button.textContent = `bid ${sum}`;
    this.button.disabled = this.missing !== "";
    this.empty.disabled = !this.actions.length;
    const told =
      this.worth &&
      worthText(this.worth, {
        colour: COLOURS[this.colour],
        total: sum,
        builds: this.actions.length ? Math.min(this.allows, supply) : Infinity,
        cards: this.actions.length,
      });
    this.value.parentElement.hidden = !told;
    if (told) [this.value.textContent, this.rest.textContent] = told;
    this.changed();
  }
}
