// What a limit bids: the draft's colour and build, or nothing without the player.
import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.js";
import { answerOf } from "../../../skyenv/page/static/proxy.js";

// over 7: three skyscrapers in green cost two 4s, one in violet a 6 and a black 4
const LEADS = [
  { colour: 0, total: 8, builds: 3, vp: 6, cards: [79, 79] },
  { colour: 0, total: 9, builds: 2, vp: 4, cards: [79, 80] },
  { colour: 1, total: 10, builds: 1, vp: 8, cards: [84, 94] },
  { colour: 0, total: 14, builds: 1, vp: 2, cards: [79, 79, 81] },
];
const GREEN = { colour: 0, builds: 3 };
const over = (highest) => ({ leads: LEADS.filter(({ total }) => total > highest) });

for (const [what, highest, limit, aim, text, actions] of [
  ["a draft keeps its colour and build", 7, 18, GREEN, "bid 8 for 3 in green", [79, 79, 97]],
  ["a smaller draft bids no more", 8, 18, { colour: 0, builds: 2 }, "bid 9 for 2 in green", null],
  ["a smaller build is the player's decision", 8, 18, GREEN, "no bid up to 18 for 3 in green", 0],
  ["another colour is, too", 9, 10, { colour: 0, builds: 1 }, "no bid up to 10 for 1 in green", 0],
  ["above the limit it passes", 8, 8, GREEN, "pass", [78]],
  ["0 passes", 7, 0, null, "pass", [78]],
  ["without a draft most VP", 7, 18, null, "bid 10 for 1 in violet", [84, 94, 97]],
  ["up to the limit", 7, 9, null, "bid 8 for 3 in green", [79, 79, 97]],
  ["a stop builds nothing", 7, 18, { colour: 0, builds: 0 }, "bid 8 for green", [79, 79, 97]],
]) {
  test(`${what}: ${text}`, () => {
    const answer = answerOf(over(highest), limit, aim);
    assert.equal(answer.text, text);
    if (actions !== null) assert.deepEqual(answer.actions, actions || null);
    assert.ok(!aim || answer.aim === aim);
  });
}
