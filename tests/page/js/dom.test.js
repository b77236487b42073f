import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, keys, seatNames } from "../../../skyenv/page/static/dom.js";

/** Answer the next requests with these, one after the other. */
function answers(...all) {
  globalThis.fetch = async () => {
    const next = all.shift();
    if (next instanceof Error) throw next;
    return next;
  };
}

const streamed = (...parts) =>
  new Response(
    new ReadableStream(
      {
        pull(stream) {
          const part = parts.shift();
          if (part instanceof Error) stream.error(part);
          else if (part === undefined) stream.close();
          else stream.enqueue(new TextEncoder().encode(part));
        },
      },
      { highWaterMark: 0 },
    ),
    { headers: { "Content-Type": "text/event-stream" } },
  );

test("an idempotency key belongs to a request and to one list of keys", () => {
  const keyFor = keys();
  const key = keyFor({ side: "front" });
  assert.match(key, /^[0-9a-f]{32}$/);
  assert.equal(keyFor({ side: "front" }), key);
  assert.notEqual(keyFor({ side: "back" }), key);
  assert.notEqual(keys()({ side: "front" }), key);
});

test("seats count from one", () => {
  assert.deepEqual(seatNames(["Ann", ""]), ["1 Ann", "seat 2"]);
});

for (const [what, given, message] of [
  ["a refusal", Response.json({ error: "no such seat" }, { status: 404 }), "no such seat"],
  ["a refusal without words", new Response("<html>", { status: 502 }), "The server can't do that."],
  ["an unreachable server", new TypeError("fetch failed"), "The server can't be reached."],
  ["an abort", new DOMException("stopped", "AbortError"), "stopped"],
  [
    "a stream that breaks",
    streamed('data: {"so_far": 1}\n\n', new TypeError("reset")),
    "The server can't be reached.",
  ],
  ["a stream that is aborted", streamed(new DOMException("stopped", "AbortError")), "stopped"],
  [
    "a stream that ends early",
    streamed('data: {"so_far": 1}\n\n'),
    "The server has stopped in the middle of an answer.",
  ],
  ["a stream that tells of an error", streamed('data: {"error": "lost"}\n\n'), "lost"],
]) {
  test(`${what} is told in the page's words`, async () => {
    answers(given);
    await assert.rejects(ask("/api"), { message });
  });
}

test("an answer that comes bit by bit is told as it grows", async () => {
  const parts = [];
  answers(
    streamed('data: {"so_far": 1}\n\ndata: {"so', '_far": 2}\n\n', 'data: {"answer": 3}\n\n'),
  );
  assert.equal(await ask("/api", { soFar: (part) => parts.push(part) }), 3);
  assert.deepEqual(parts, [1, 2]);
});
