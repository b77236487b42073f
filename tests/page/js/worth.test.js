// What the tray of a bid says of what winning is worth.
import assert from "node:assert/strict";
import test from "node:test";
import "./browser.js";
import { worthText } from "../../../skyenv/page/static/bid.js";

const worth = {
  colours: [
    { name: "green", vp: 2, builds: 3, cards: 2 },
    { name: "gray", vp: 5, builds: 1, cards: 1 },
  ],
  stop: null,
  when: "per scoring",
  laid: 1,
  card: 1.5,
  alea: [
    [0, 1],
    [15, 0.25],
  ],
};
const NONE = { colour: undefined, total: 0, builds: 3, cards: 0 };

test("a draft brings what its cards allow, costs its cards, and has Alea's chance", () => {
  const draft = { colour: "green", total: 15, builds: 2, cards: 2 };
  const line = worthText(worth, draft);
  assert.equal(
    line,
    "Winning brings 2 × 2 = 4 VP per scoring in green, costs 3 cards (4.5 VP). " +
      "Alea bids more than 15: 25\u00a0%.",
  );
});

test("before a card is laid down the hand's best colour counts, and no word of Alea", () => {
  const line = worthText(worth, NONE);
  assert.equal(
    line,
    "Winning brings 3 × 2 = 6 VP per scoring in green, costs at least 2 cards (3 VP).",
  );
});

test("a draft that is no bid costs what the least bid does", () => {
  const draft = { colour: "gray", total: 4, builds: 3, cards: 0 };
  const line = worthText(worth, draft);
  assert.equal(
    line,
    "Winning brings 1 × 5 = 5 VP per scoring in gray, costs at least 1 card (1.5 VP).",
  );
});

test("without a skyscraper that is ready the line tells why to win", () => {
  const colours = [{ ...worth.colours[0], builds: 0 }];
  assert.match(
    worthText({ ...worth, colours }, NONE),
    /0 VP \(no skyscraper is ready: it only keeps others out\), costs at least 2 cards/,
  );
});

test("where only a building stop is possible, nothing is built (STOP-1)", () => {
  const stop = { vp: 4, must: true };
  const line = worthText({ ...worth, stop }, NONE);
  assert.equal(line, "Winning brings a building stop: 4 VP, costs at least 2 cards (3 VP).");
  const either = worthText({ ...worth, stop: { ...stop, must: false } }, NONE);
  assert.match(either, /green, or a building stop: 4 VP, costs/);
});
