import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, keys } from "../../../skyenv/page/static/api.js";

/** Answer the next requests with these, one after the other. */
function answers(...all) {
  globalThis.fetch = async () => {
    const next = all.shift();
    if (next instanceof Error) throw next;
    return next;
  };
}

test("an idempotency key belongs to a request and to one list of keys", () => {
  const keyFor = keys();
  const key = keyFor({ side: "front" });
  assert.match(key, /^[A-Za-z0-9-]{8,64}$/);
  assert.equal(keyFor({ side: "front" }), key);
  assert.notEqual(keyFor({ side: "back" }), key);
  assert.notEqual(keys()({ side: "front" }), key);
});

for (const [what, given, message] of [
  ["a refusal", Response.json({ error: "no such seat" }, { status: 404 }), "no such seat"],
  ["a refusal without words", new Response("<html>", { status: 502 }), "The server can't do that."],
  ["an unreachable server", new TypeError("fetch failed"), "The server can't be reached."],
  ["an abort", new DOMException("stopped", "AbortError"), "stopped"],
]) {
  test(`${what} is told in the page's words`, async () => {
    answers(given);
    await assert.rejects(ask("/api"), { message });
  });
}
