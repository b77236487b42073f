// What the tray of a bid says of what winning is worth.
import assert from "node:assert/strict";
import test from "node:test";
import "./browser.js";
import { worthText } from "../../../skyenv/page/static/bid.js";

const worth = {
  colours: [
    { name: "green", vp: 2 },
    { name: "gray", vp: 5 },
  ],
  assumes: "Scored once.",
  stop: null,
  alea: [
    [14, 0.4],
    [15, 0.25],
  ],
  others: [{ seat: 1, most: 31 }],
};

test("what a bid builds is worth its VP, and Alea's chance is that of its total", () => {
  const [line, rest] = worthText(worth, { colour: "green", total: 15, builds: 2, cards: 3 });
  assert.equal(line, "Winning is worth 2 × 2 = 4 VP in green; Alea bids more than 15: 25 %");
  assert.match(rest, /costs 3 cards.*seat 2 could bid 31 at most/);
});

test("before a card is laid down the best colour counts; without Alea no word of her", () => {
  const [line] = worthText(
    { ...worth, alea: null },
    { colour: undefined, total: 0, builds: 3, cards: 0 },
  );
  assert.equal(line, "Winning is worth 3 × 5 = 15 VP in gray");
});
