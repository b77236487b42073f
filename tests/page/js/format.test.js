import assert from "node:assert/strict";
import { test } from "node:test";

import { many, percent, seatNames, signed } from "../../../skyenv/page/static/format.js";

for (const [share, text] of [
  [0, "0\u00a0%"],
  [0.0009, "<\u00a00.1\u00a0%"],
  [0.01, "1.0\u00a0%"],
  [0.0946, "9.5\u00a0%"],
  [0.095, "10\u00a0%"],
  [0.5, "50\u00a0%"],
  [0.99, "99\u00a0%"],
  [0.9949, "99.5\u00a0%"],
  [0.9991, ">\u00a099.9\u00a0%"],
  [1, "100\u00a0%"],
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
