// A bidding puzzle: the exact worth of each choice made, and this browser's score.
import { ask, at } from "./api.js";
import { $, el, table } from "./dom.js";
import { signed } from "./format.js";
import { api, attempt, onState } from "./seat.js";
import { keep, kept } from "./settings.js";

const DEALS = 10; // how many make a score
const SCORE = "puzzle-costs"; // what the browser stores: [number, costs] of its last puzzles
let wanted = ""; // the decisions whose answer was asked for

const vp = (value) => `${signed(value.toFixed(2))} VP`;
const sum = (costs) => costs.reduce((all, one) => all + one, 0);

/** The costs of the last puzzles, with those of `number`: each decision counts once. */
function score(number, costs) {
  const before = JSON.parse(kept(SCORE) ?? "[]");
  const first = before.find(([one]) => one === number)?.[1] ?? [];
  const others = before.filter(([one]) => one !== number);
  const all = [...others, [number, [...first, ...costs.slice(first.length)]]].slice(-DEALS);
  keep(SCORE, JSON.stringify(all));
  return all.map(([, lost]) => sum(lost));
}

/** A choice beside the best one; opened, what others are worth. */
function judged({ own, best, cost, choices }) {
  const verdict = cost
    ? ` costs ${vp(cost)}. Best: ${best.text}, worth ${vp(best.value)}.`
    : ` is best, worth ${vp(own.value)}.`;
  const rows = choices.map(({ text, value }) =>
    el(
      text === own.text ? "tr.choice" : "tr",
      el("th", { scope: "row" }, text),
      el("td", vp(value)),
    ),
  );
  const listed = table("table", ["choice", "worth"], rows);
  return el("details", el("summary", el("b", own.text), verdict), listed);
}

const load = (number) =>
  attempt(async () => {
    const solving = el("p.small", "Solving this auction exactly …");
    const told = $("puzzle-answer");
    told.append(solving);
    try {
      const { decisions, about } = await ask(`${api}/answer`);
      told.replaceChildren(...decisions.map(judged).reverse(), el("p.small", about));
      const costs = score(
        number,
        decisions.map(({ cost }) => cost),
      );
      const found = costs.filter((one) => !one).length;
      $("puzzle-score").textContent = `${found} of ${costs.length} best, ${vp(sum(costs))} lost`;
    } catch (problem) {
      wanted = "";
      solving.remove();
      throw problem;
    }
  });

/** @param {State} state */
function show({ puzzle, undone }) {
  $("puzzle").hidden = !puzzle;
  if (!puzzle || wanted === `${undone}:${puzzle.decisions}`) return;
  const { number, title, goal, next, decisions } = puzzle;
  $("puzzle-title").textContent = title;
  $("puzzle-goal").textContent = goal;
  $("puzzle-next").href = at(`/puzzle?number=${next}`);
  $("puzzle-next").hidden = !decisions;
  wanted = `${undone}:${decisions}`;
  if (decisions) load(number);
  else $("puzzle-answer").replaceChildren();
}

export const setUpPuzzle = () => onState(show);
