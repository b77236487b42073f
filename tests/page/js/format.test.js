import assert from "node:assert/strict";
import { test } from "node:test";

import { many, percent, seatNames, signed } from "../../../skyenv/page/static/format.js";

for (const [share, text] of [
  [0, "0 %"],
  [0.0009, "< 0.1 %"],
  [0.01, "1.0 %"],
  [0.0946, "9.5 %"],
  [0.095, "10 %"],
  [0.5, "50 %"],
  [0.99, "99 %"],
  [0.9949, "99.5 %"],
  [0.9991, "> 99.9 %"],
  [1, "100 %"],
]) {
  test(`a share of ${share} is ${text}`, () => assert.equal(percent(share), text));
}

test("seats count from one", () => {
  assert.deepEqual(seatNames(["Ann", ""]), ["1 Ann", "seat 2"]);
});

test("one has no plural, and minus is a minus", () => {
  assert.deepEqual([many(1, "card"), many(2, "card")], ["1 card", "2 cards"]);
  assert.equal(signed("-1.5"), "−1.5");
});
