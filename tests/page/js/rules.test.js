import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.js";
import { linked } from "../../../skyenv/page/static/rules.js";

/** A text with its links: [words, rule]. */
const shown = (text) =>
  linked(text).map((node) =>
    typeof node === "string" ? node : [node.textContent, node.attributes["data-rule"]],
  );

for (const [text, nodes] of [
  ["nothing here", ["nothing here"]],
  ["An auction", ["An ", ["auction", "AUC-1"]]],
  ["Auctions end an auction.", [["Auctions", "AUC-1"], " end an auction."]],
  ["the building stop", ["the ", ["building stop", "STOP-1"]]],
  ["bids, then a BID", [["bids", "AUC-3"], ", then a BID"]],
]) {
  test(`"${text}": each term is a link where it first stands`, () => {
    assert.deepEqual(shown(text), nodes);
  });
}
