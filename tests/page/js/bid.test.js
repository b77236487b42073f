import assert from "node:assert/strict";
import { test } from "node:test";

import { readFileSync } from "node:fs";
import "./browser.js";
import { Bid } from "../../../skyenv/page/static/bid.js";

const GREEN = 0,
  VIOLET = 1,
  GRAY = 4,
  BLACK = 5;
const DECISION = {
  cards: [
    [GREEN, 4, 2],
    [VIOLET, 6, 1],
    [GRAY, 5, 1],
    [BLACK, 5, 1],
  ],
  colours: [GREEN, VIOLET],
  laid: 0,
  highest: 0,
  is_open: true,
  limits: { 4: 3, 5: 2, 6: 1 },
  builds: 9,
};

/** A bid of these cards (colour, value, number). */
function bidOf(cards, decision = {}) {
  const bid = new Bid({ ...DECISION, ...decision });
  for (const [colour, value, number] of cards) bid.laid.set(79 + 3 * colour + value - 4, number);
  return bid;
}

for (const [cards, decision, missing, sum] of [
  [[], {}, "no card added yet", 0],
  [[[BLACK, 5, 1]], {}, "the first card must be a coloured one", 5],
  [
    [
      [GREEN, 4, 2],
      [BLACK, 5, 1],
    ],
    {},
    "",
    13,
  ],
  [[[GREEN, 4, 2]], { highest: 8 }, "more than 8 is needed", 8],
  [[[BLACK, 5, 1]], { highest: 8, laid: 4, is_open: false }, "", 5],
]) {
  test(`${JSON.stringify(cards)} over ${JSON.stringify(decision)}: ${missing || "a bid"}`, () => {
    const bid = bidOf(cards, decision);
    assert.equal(bid.missing, missing);
    assert.equal(bid.sum, sum);
  });
}

test("cards are played in the order of the encoding, whatever the order of laying", () => {
  assert.deepEqual(
    bidOf([
      [BLACK, 5, 1],
      [GREEN, 4, 2],
    ]).actions,
    [79, 79, 95],
  );
});

test("the highest card limits what can be built (COM-10)", () => {
  assert.equal(bidOf([[GREEN, 4, 2]]).builds, 3);
  assert.equal(
    bidOf([
      [GREEN, 4, 1],
      [BLACK, 5, 1],
    ]).builds,
    2,
  );
  assert.equal(bidOf([[GREEN, 4, 1]], { laid: 6, builds: 1 }).builds, 1);
});

for (const [colour, value, why] of [
  [GREEN, 4, ""],
  [BLACK, 5, ""],
  [VIOLET, 6, "all coloured cards of a bid have one colour; yours is in green"],
  [GRAY, 4, "only green or violet can be bid here"],
  [GREEN, 6, "there is no such card in your hand"],
]) {
  test(`beside a green 4, ${colour}:${value} ${why || "can be laid down"}`, () => {
    assert.equal(bidOf([[GREEN, 4, 1]]).why(colour, value), why);
  });
}

test("a card can't be laid down twice", () => {
  assert.equal(bidOf([[GREEN, 4, 2]]).why(GREEN, 4), "you have laid down all of these");
});

// ---- sets of cards: tests/page/test_guidance.py holds the cases to the rules ----

const CASES = JSON.parse(readFileSync(new URL("bids.json", import.meta.url), "utf8"));

/** A tray with these cards, laid down one by one; null if one of them can't be. */
function trayOf(hand, cards) {
  const bid = new Bid(hand);
  for (const [colour, value] of cards) {
    if (bid.why(colour, value)) return null;
    bid.laid.set(79 + 3 * colour + value - 4, bid.count(colour, value) + 1);
  }
  return bid;
}

for (const { step, hand, bids, none } of CASES) {
  test(`step ${step}: ${bids.length} sets of cards are bids, ${none.length} are not`, () => {
    for (const [cards, allows] of bids) {
      const tray = trayOf(hand, cards.toReversed());
      assert.equal(tray?.missing, "", JSON.stringify(cards));
      assert.equal(tray.builds, allows, JSON.stringify(cards));
    }
    for (const cards of none) assert.notEqual(trayOf(hand, cards)?.missing, "", `${cards}`);
  });
}
