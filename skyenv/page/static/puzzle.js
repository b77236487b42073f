// A bidding puzzle: the exact answer after the first bid, and this browser's score.
import { ask, at } from "./api.js";
import { $, el, table } from "./dom.js";
import { many, signed } from "./format.js";
import { api, attempt, onState } from "./seat.js";
import { keep, kept } from "./settings.js";

const DEALS = 10; // how many make a score
const SCORE = "puzzles"; // what this browser remembers: [number, cost] of its last puzzles
let wanted = -1; // the puzzle whose answer was asked for

const vp = (value) => `${signed(value.toFixed(2))} VP`;

/** The costs of the last puzzles, with that of `number`, which counts once. */
function score(number, cost) {
  const before = JSON.parse(kept(SCORE) ?? "[]");
  const all = before.some(([one]) => one === number) ? before : [...before, [number, cost]];
  keep(SCORE, JSON.stringify(all.slice(-DEALS)));
  return all.slice(-DEALS).map(([, lost]) => lost);
}

const load = (number) =>
  attempt(async () => {
    $("puzzle-answer").replaceChildren(el("p.small", "Solving this auction exactly …"));
    try {
      const { own, best, cost, choices, error } = await ask(`${api}/answer`);
      const verdict = cost < 0.01 ? "Yours is best." : `Yours, ${own.text}, cost ${vp(cost)}.`;
      const rows = choices.map(({ text, value }) =>
        el(
          text === own.text ? "tr.choice" : "tr",
          el("th", { scope: "row" }, text),
          el("td", vp(value)),
        ),
      );
      const exact = `Against the equilibrium, to ${error.toFixed(3)} VP, if you play on perfectly.`;
      $("puzzle-answer").replaceChildren(
        el("p", el("b", `Best: ${best.text}, worth ${vp(best.value)}.`), ` ${verdict}`),
        el(
          "details",
          el("summary", "what other choices are worth"),
          table("table", ["choice", "worth"], rows),
          el("p.small", exact),
        ),
      );
      const costs = score(number, cost);
      const lost = costs.reduce((sum, one) => sum + one, 0);
      const found = costs.filter((one) => one < 0.01).length;
      $("puzzle-score").textContent =
        `Last ${many(costs.length, "deal")}: ${found} best, ${vp(lost)} lost`;
    } catch (problem) {
      wanted = -1;
      $("puzzle-answer").replaceChildren();
      throw problem;
    }
  });

/** @param {State} state */
function show({ puzzle }) {
  $("puzzle").hidden = !puzzle;
  if (!puzzle || wanted === puzzle.number) return;
  const { number, answered } = puzzle;
  $("puzzle-title").textContent = `Puzzle ${number}: find the best bid`;
  $("puzzle-next").href = at(`/puzzle?number=${number + 1}`);
  $("puzzle-next").hidden = !answered;
  if (!answered) return;
  wanted = number;
  load(number);
}

/** Show the puzzle if this is one. */
export const setUpPuzzle = () => onState(show);
