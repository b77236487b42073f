import assert from "node:assert/strict";
import { test } from "node:test";

import { pages } from "./preloads.js";

for (const [name, text, wanted] of pages()) {
  test(`${name} preloads all that its scripts import; make format writes the links`, () => {
    assert.equal(text, wanted);
  });
}
