import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.js";
import { leastBid } from "../../../skyenv/page/static/bid.js";

const BID = {
  cards: [
    [0, 4, 2],
    [1, 6, 1],
    [5, 5, 1],
  ],
  colours: [0, 1],
  is_open: true,
  laid: 0,
  highest: 0,
  limits: { 4: 3, 5: 2, 6: 1 },
  allows: 0,
  supply: 9,
};
// 12 is three 4s, or two 6s
const TWELVE = {
  cards: [
    [0, 6, 1],
    [1, 4, 1],
    [5, 4, 2],
    [5, 6, 1],
  ],
  highest: 11,
};

for (const [limit, bid, expected] of [
  [18, {}, [79]],
  [18, { highest: 8 }, [79, 95]],
  [8, { highest: 8 }, undefined],
  [18, { highest: 4, cards: [[5, 5, 2]] }, undefined], // the first card is coloured
  [18, TWELVE, [82, 94, 94]],
  [18, { ...TWELVE, colours: [0] }, [81, 96]],
  [18, { ...TWELVE, supply: 1 }, [81, 96]],
  [18, { highest: 12, laid: 8, is_open: false, colours: [0] }, [95]],
]) {
  test(`up to ${limit} of ${JSON.stringify(bid)}`, () => {
    assert.deepEqual(leastBid({ ...BID, ...bid }, limit)?.[1], expected);
  });
}
