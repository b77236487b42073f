// The game's terms, each with the rule that defines it.
import { ruleNamed } from "./dom.js";

export const TERMS = {
  "building stop": "STOP-1",
  "park area": "AUC-12",
  "special points": "BUS-4",
  "general supply": "COM-2",
  "supply row": "SET-3",
  "current set": "BUS-1",
  "black card": "AUC-4",
  "sixth plot": "COM-8",
  "coloured card": "TURN-4",
  "City Hall": "MOVE-4",
  "option A": "TURN-2",
  "option B": "BUS-2",
  "option C": "TURN-7",
  "option D": "SCO-1",
  commissioner: "MOVE-1",
  marker: "MOVE-2",
  auction: "AUC-1",
  business: "BUS-1",
  supply: "TURN-2",
  Alea: "ALEA-1",
  coin: "SCO-2",
  bid: "AUC-3",
  stop: "STOP-1",
  "final scoring": "END-2",
  scored: "SCO-2",
};
const ANY = new RegExp(`\\b(${Object.keys(TERMS).join("|")})(?:e?s)?\\b`, "gi");
const ruleOf = Object.fromEntries(
  Object.entries(TERMS).map(([term, rule]) => [term.toLowerCase(), rule]),
);

const touched = matchMedia("(pointer: coarse)");

/** A text in the words of the device: fingers tap. */
export const worded = (text) =>
  touched.matches
    ? text.replace(/\b([Cc])lick/g, (_, first) => (first === "C" ? "Tap" : "tap"))
    : text;

/** A text as nodes: each of the game's words is a link to its rule, where it first stands. */
export function linked(told) {
  const text = worded(told);
  const nodes = [];
  const seen = new Set();
  let from = 0;
  for (const match of text.matchAll(ANY)) {
    const term = match[1].toLowerCase();
    if (seen.has(term)) continue;
    seen.add(term);
    const link = ruleNamed("a.term", [ruleOf[term]], match[0]);
    nodes.push(text.slice(from, match.index), link);
    from = match.index + match[0].length;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== "");
}
