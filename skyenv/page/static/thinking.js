// Agents that think: that they do, for how long, and how to stop one that was asked.
import { ask, el, percent, seatNames } from "./dom.js";
import { follow, readiness } from "./preparing.js";

let agents = []; // what the server says of them
follow((told) => {
  ({ agents } = told);
});

/** What an agent does that has been asked `seconds` ago. */
export function doing(name, seconds) {
  const agent = agents.find((one) => one.name === name);
  const words = agent ? readiness(agent) : "";
  return `${words ? `${name}: ${words}` : `${name} is thinking`} … ${seconds ? `${seconds} s` : ""}`;
}

/**
 * Ask an agent. `holder` shows that it thinks, with a button to stop it, and what it has come to
 * so far, which `soFar` is told, too. Its answer; null if it was stopped, by the button or by
 * `signal`.
 */
export async function think(holder, name, address, signal, soFar = (_answer) => {}) {
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
  const grown = el("div", { class: "so-far", "aria-live": "off" });
  // Seconds aren't read aloud one by one.
  holder.replaceChildren(
    el(
      "p",
      { class: "row thinking", "aria-live": "off" },
      words,
      el(
        "button",
        { type: "button", class: "stop", "aria-label": `stop asking ${name}`, onclick: abort },
        "stop",
      ),
    ),
    grown,
  );
  try {
    return await ask(`${address}&live=1`, {
      signal: stop.signal,
      soFar: (answer) => {
        grown.replaceChildren(hintTable([answer]));
        soFar(answer);
      },
    });
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    holder.replaceChildren();
    return null;
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** How sure an agent is of a choice: a probability, or VP less than its best one. */
export const sureText = (kind, sure) =>
  sure === null || sure === undefined
    ? "–"
    : kind === "probability"
      ? percent(sure)
      : `${sure.toFixed(1)} VP`.replace("-", "−");

/**
 * What agents hold of one decision, side by side: a row for each choice, a column for each agent.
 */
export function hintTable(hints) {
  // what a choice is in words: what it brings, and what each agent holds of it
  const rows = new Map();
  for (const [column, hint] of hints.entries()) {
    for (const one of hint.best) {
      const row = rows.get(one.text) ?? { ...one, told: [], isChosen: [] };
      row.told[column] = sureText(hint.kind, one.sure);
      row.isChosen[column] = one.text === hint.text;
      rows.set(one.text, row);
    }
  }
  const { win, by } = hints.find((hint) => hint.win) ?? { win: null, by: null };
  const head = (text) => el("th", { scope: "col" }, text);
  const row = (one) =>
    el(
      "tr",
      { class: one.isChosen.some(Boolean) ? "choice" : null, "data-hint": one.actions.join(" ") },
      el("th", { scope: "row" }, one.text),
      ...hints.map((_, column) =>
        el("td", { class: one.isChosen[column] ? "chosen" : null }, one.told[column] ?? ""),
      ),
      win ? el("td", {}, one.win === null ? "–" : percent(one.win)) : null,
    );
  const searched = hints
    .filter((hint) => hint.tries)
    .map(
      ({ agent, tries: [done, most] }) =>
        `${agent} has made ${done}${most > done ? ` of ${most}` : ""} tries`,
    );
  const kinds = [
    ...new Set(
      hints.map(
        (hint) =>
          ({
            probability: "how probable each choice is to the agent",
            vp: "VP that it expects, compared with its best choice",
            none: "the agent can't tell how sure it is",
          })[hint.kind],
      ),
    ),
  ];
  return el(
    "div",
    { class: "hint" },
    ...hints.map((hint) => el("p", {}, el("b", {}, hint.agent), ` would: ${hint.text}`)),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head("choice"),
          ...hints.map((hint) => head(hint.agent)),
          win ? head("wins") : null,
        ),
      ),
      el("tbody", {}, ...[...rows.values()].map(row)),
    ),
    el(
      "p",
      { class: "small" },
      [
        `In the columns: ${kinds.join("; ")}`,
        ...searched,
        win ? `“wins”: the chance to win after it, estimated by ${by}` : "",
      ]
        .filter(Boolean)
        .join(". ") + ".",
    ),
    win
      ? el(
          "p",
          { class: "wins" },
          `Chance to win now: ${win.map((share, seat) => `${seatNames(win.map(() => ""))[seat]} ${percent(share)}`).join(", ")}.`,
        )
      : null,
  );
}
