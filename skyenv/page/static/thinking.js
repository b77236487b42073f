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
 * Ask an agent; `show` its answer, again whenever more games have refined it. `holder` shows that
 * it thinks, with a button to stop it; `signal` stops it, too.
 */
export async function think(holder, name, address, signal, show) {
  const stop = new AbortController();
  const began = performance.now();
  const words = el("span");
  let games = 0;
  const tell = () => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    words.textContent = games ? `playing out ${games} games each …` : doing(name, seconds);
  };
  const timer = setInterval(tell, 1000);
  const options = { signal: AbortSignal.any([signal, stop.signal]) };
  // Seconds aren't read aloud one by one.
  const button = el(
    "button.stop",
    { "aria-label": `stop asking ${called(name)}`, onclick: () => stop.abort() },
    "stop",
  );
  holder.replaceChildren(el("p.row.thinking", { "aria-live": "off" }, words, button));
  try {
    do {
      tell();
      const hint = await ask(`${address}&games=${games}`, options);
      show(hint);
      games = hint.more;
    } while (games);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  } finally {
    holder.replaceChildren();
    clearInterval(timer);
  }
}

/** An agent's value of a choice: a probability, or VP relative to its best choice. */
export function sureText(kind, sure, isChosen) {
  if (sure === null) return isChosen ? "✓" : "";
  return kind === "probability" ? percent(sure) : `${signed((+sure.toFixed(1)).toFixed(1))} VP`;
}

/** A chance to win with its 95 % interval. Estimates have none. */
export const chanceText = (share, interval) =>
  interval
    ? signed(`${percent(share)} [${interval.map(percent).join(", ")}]`)
    : `≈\u00a0${percent(share)}`;

/** The hints for one decision: a row for each choice, a column for each agent. */
export function hintTable(hints, names) {
  const rows = new Map(); // by what a choice is in words
  for (const [column, { best, kind, text }] of hints.entries()) {
    for (const one of best) {
      const row = rows.get(one.text) ?? { told: [], isChosen: [] };
      row.isChosen[column] = one.text === text;
      row.told[column] = sureText(kind, one.sure, one.text === text);
      rows.set(one.text, row.games > one.games ? row : Object.assign(row, one));
    }
  }
  const { win, games: number } = hints.find((hint) => hint.win) ?? { win: null };
  const most = Math.max(...[...rows.values()].map((one) => one.win));
  const row = ({ text, actions, told, isChosen, win: after, interval, played, unclear }) =>
    el(
      (win ? after === most && !unclear : isChosen.some(Boolean)) ? "tr.choice" : "tr",
      { "data-hint": actions.join(" ") },
      el("th", { scope: "row" }, text, played && el("b", " · played")),
      hints.map((_, i) => el(isChosen[i] ? "td.chosen" : "td", told[i] ?? "")),
      win && el(unclear ? "td.unclear" : "td", chanceText(after, interval)),
    );
  const heads = ["choice", ...hints.map((hint) => called(hint.agent)), ...(win ? ["wins"] : [])];
  const now = win?.map((share, seat) => `${names[seat]} ${share}`).join(", ");
  return el(
    "div.hint",
    hints.map(({ agent, text }) => el("p", el("b", called(agent)), ` would: ${text}`)),
    table("table", heads, [...rows.values()].map(row)),
    el("p.small", [...new Set(hints.flatMap((hint) => hint.notes))].join(" ")),
    win &&
      el("p.wins", `Chance to win now, ${number ? `by ${number} games` : "estimated"}: ${now}.`),
  );
}
