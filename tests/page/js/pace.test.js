import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";

import "./browser.js";
import { $ } from "../../../skyenv/page/static/dom.js";
import { next, showAlea } from "../../../skyenv/page/static/pace.js";
import { load, seat } from "../../../skyenv/page/static/seat.js";

const STATE = { step: 7, undone: 0, drawing: {}, log: { from: 0, lines: [] } };

test("at a pace of 0 all of Alea's cards are there at once", async () => {
  seat.state = STATE;
  const shown = showAlea({ alea: [[4, 6, 4]], pause: 0 });
  assert.equal($("alea").textContent, "Alea turns up464= 14, her bid");
  await shown;
});

test("at another pace they come one by one, or by a click", async () => {
  seat.state = STATE;
  const shown = showAlea({ alea: [[5, 5]], pause: 5 });
  assert.equal($("alea").textContent, "Alea turns up5= 5");
  next();
  await setImmediate();
  assert.equal($("alea").textContent, "Alea turns up55= 10, her bid");
  next();
  await shown;
});

for (const [pause, isNext] of [
  [0, false],
  [1, true],
]) {
  test(`at pace ${pause} the ${isNext ? "next" : "newest"} position is asked for`, async () => {
    let asked = "";
    globalThis.fetch = async (address) => {
      asked = address;
      return Response.json({ refused: "this seat is taken", free: false });
    };
    seat.state = { ...STATE, pause };
    await load();
    assert.equal(asked.includes("&after=7"), isNext);
  });
}
