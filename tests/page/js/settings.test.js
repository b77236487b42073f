import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.js";
import { isForced, isOn, setOn } from "../../../skyenv/page/static/settings.js";

const state = (legal, changes = {}) => ({ yours: true, legal, lesson: null, ...changes });

for (const [what, given, forced] of [
  ["a single legal action", state([{ action: 78 }]), true],
  ["one of two", state([{ action: 78 }, { action: 79 }]), false],
  ["no action", state([]), false],
  ["an action of another seat", state([{ action: 78 }], { yours: false }), false],
  ["a lesson's action", state([{ action: 78 }], { lesson: {} }), false],
]) {
  test(`${what} is ${forced ? "" : "not "}played by the page`, () => {
    assert.equal(isForced(given), forced);
  });
}

test("players can switch forced moves off", () => {
  assert.equal(isOn("forced"), true);
  setOn("forced", false);
  assert.equal(isForced(state([{ action: 78 }])), false);
  setOn("forced", true);
  assert.equal(isForced(state([{ action: 78 }])), true);
});
