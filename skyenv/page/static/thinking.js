// Hints: requests to agents, with time spent, a stop button and a table of answers.
import { ask } from "./api.js";
import { el, table } from "./dom.js";
import { called, percent, signed } from "./format.js";
import { follow, readiness } from "./preparing.js";

let agents = []; // what the server says of them
follow((told) => {
  ({ agents } = told);
});

/** The status of an agent that was asked `seconds` ago. */
export function doing(name, seconds) {
  const agent = agents.find((one) => one.name === name);
  const words = agent ? readiness(agent) : "";
  const does = called(name) + (words ? `: ${words}` : " is thinking");
  return `${does} … ${seconds ? `${seconds} s` : ""}`;
}

/**
 * Ask an agent. `holder` shows that it thinks, with a button to stop it. Its answer; null if it was
 * stopped, or `signal` has.
 */
export async function think(holder, name, address, signal) {
  const stop = new AbortController();
  const began = performance.now();
  const words = el("span");
  const show = () => {
    words.textContent = doing(name, Math.floor((performance.now() - began) / 1000));
  };
  const timer = setInterval(show, 1000);
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort);
  show();
  // Seconds aren't read aloud one by one.
  const button = el(
    "button.stop",
    { "aria-label": `stop asking ${called(name)}`, onclick: abort },
    "stop",
  );
  holder.replaceChildren(el("p.row.thinking", { "aria-live": "off" }, words, button));
  try {
    return await ask(address, { signal: stop.signal });
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    holder.replaceChildren();
    return null;
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** An agent's value of a choice: a probability, or VP relative to its best choice. */
export function sureText(kind, sure) {
  if (sure === null || sure === undefined) return "–";
  return kind === "probability" ? percent(sure) : `${signed(sure.toFixed(1))} VP`;
}

const KINDS = {
  probability: "the agent's probability of each choice",
  vp: "expected VP, relative to the best choice",
  none: "this agent has no probabilities or values",
};

/** The notes below a table of hints, a sentence each. */
function explained(hints, by) {
  const kinds = new Set(hints.map((hint) => KINDS[hint.kind]));
  const searched = ({ agent, tries: [done, most] }) =>
    `${called(agent)} has made ${done}${most > done ? ` of ${most}` : ""} simulations`;
  const parts = [
    `In the columns: ${[...kinds].join("; ")}`,
    ...hints.filter((hint) => hint.tries).map(searched),
    ...(by
      ? [`“wins”: the chance to win after it, by ${called(by)}: ≈ estimated, ± played out`]
      : []),
  ];
  return `${parts.join(". ")}.`;
}

/** A chance to win with its 95 % interval; estimates have none. */
function chanceText(share, error, games) {
  if (share === null) return "–";
  return games ? `${percent(share)} ± ${percent(error)}` : `≈ ${percent(share)}`;
}

/** The hints for one decision: a row for each choice, a column for each agent. */
export function hintTable(hints, names) {
  const rows = new Map(); // by what a choice is in words
  for (const [column, { best, kind, text }] of hints.entries()) {
    for (const one of best) {
      const row = rows.get(one.text) ?? { ...one, told: [], isChosen: [] };
      row.told[column] = sureText(kind, one.sure);
      row.isChosen[column] = one.text === text;
      rows.set(one.text, row);
    }
  }
  const { win, by, games: played } = hints.find((hint) => hint.win) ?? { win: null, by: null };
  const row = ({ text, actions, told, isChosen, win: after, error, games }) =>
    el(
      isChosen.some(Boolean) ? "tr.choice" : "tr",
      { "data-hint": actions.join(" ") },
      el("th", { scope: "row" }, text),
      hints.map((_, i) => el(isChosen[i] ? "td.chosen" : "td", told[i] ?? "")),
      win && el("td", chanceText(after, error, games)),
    );
  const heads = ["choice", ...hints.map((hint) => called(hint.agent)), ...(win ? ["wins"] : [])];
  const now = win?.map((share, seat) => `${names[seat]} ${percent(share)}`).join(", ");
  return el(
    "div.hint",
    hints.map(({ agent, text }) => el("p", el("b", called(agent)), ` would: ${text}`)),
    table("table", heads, [...rows.values()].map(row)),
    el("p.small", explained(hints, by)),
    win &&
      el("p.wins", `Chance to win now, ${played ? `by ${played} games` : "estimated"}: ${now}.`),
  );
}
