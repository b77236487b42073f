// What has happened: the standings, the log, explanations, the final scoring.
import { $, $$, el, isNews, ruleLink, table, the } from "./dom.js";
import { signed } from "./format.js";
import { STOP } from "./game.js";
import { linked } from "./rules.js";
import { onState, positionOf } from "./seat.js";
import { bindSetting, isOn, keep, kept } from "./settings.js";

// ---- marks, and the standings ----

/** Mark parts of the drawing: pairs of a data attribute's name and its value. */
function mark(parts) {
  for (const old of $$(".changed", $("board"))) old.classList.remove("changed");
  for (const [name, value] of parts) {
    for (const part of $$(`[data-${name}="${value}"]`, $("board"))) part.classList.add("changed");
  }
}

/**
 * Show the standings: VP, and VP if all districts were scored now.
 * @param {State} state
 */
export function showLeads({ scores, standing, names }) {
  if (!isNews($("leads-body"), [scores, standing, names])) return;
  const most = Math.max(...standing);
  const row = (name, seat) =>
    el(
      `tr.seat-${seat}`,
      el("th", { scope: "row" }, `${seat + 1} ${name}`),
      el("td", `${scores[seat]}`),
      el(standing[seat] === most ? "td.most" : "td", `${standing[seat]}`),
    );
  $("leads-body").replaceChildren(...names.map(row));
}

// ---- the log ----

let logged = 0; // lines that the server has told
let hadDecision = true; // whether the lines before were followed by a decision of this seat

/**
 * Show the log, where lines since this seat's last decision are new, and mark what they changed.
 * @param {State} state
 */
export function showLog(state) {
  const list = $("log-lines");
  if (state.log.from < logged) list.replaceChildren();
  if (hadDecision && state.log.lines.length)
    for (const line of $$(".new", list)) line.classList.remove("new");
  hadDecision = state.yours || state.watching;
  list.append(
    ...state.log.lines.map((line, i) =>
      el("li", { class: logged ? "new" : null }, `${line} `, ruleLink(state.log.rules[i])),
    ),
  );
  for (const link of $$("a", list)) link.tabIndex = link.closest(".new") ? 0 : -1; // few for Tab
  logged = state.log.from + state.log.lines.length;
  if (!state.over) mark(state.changed);
}

export const tell = (text) => $("log-lines").append(el("li.own", text));

// ---- what is new to this browser: a line before a decision, once ----

/** What is explained before the first decision of a phase. */
const AHEAD = { move: "MOVE-1", bid: "AUC-1" };
const SEEN = "news"; // what this browser remembers
let happened = []; // the rules of what has happened since
let known = false; // whether the page has been told of the game before
let decision = ""; // the position that it is shown for

const seen = () => JSON.parse(kept(SEEN) ?? "[]");
/** The words about a rule; null if it has none. */
const wordsOf = (rule) => $("new").content.querySelector(`[data-rule="${rule}"]`);

/** Look for something new at a decision; it goes with that. @param {State} state */
function showNews(state) {
  if (known) happened.push(...state.log.rules.map(([rule]) => rule));
  known = true;
  const position = positionOf(state);
  if (position === decision) return;
  decision = position;
  $("news").hidden = true;
  if (!state.yours || state.lesson || !isOn("explain")) return;
  const stops = state.legal.some(({ action }) => action === STOP);
  const rules = [AHEAD[state.phase], stops && "STOP-4", ...happened];
  const rule = rules.find((one) => one && !seen().includes(one) && wordsOf(one));
  happened = [];
  if (!rule) return;
  keep(SEEN, JSON.stringify([...seen(), rule]));
  const { firstElementChild: title, lastChild: text } = wordsOf(rule);
  const words = text.textContent.replace(/\s+/g, " ");
  $("news").hidden = false;
  $("news-text").replaceChildren(title.cloneNode(true), ...linked(words), ruleLink([rule]));
}

export function setUpNews() {
  $("news-close").onclick = () => ($("news").hidden = true);
  bindSetting($("explain"), "explain", () => keep(SEEN, "[]"));
  onState(showNews);
}

// ---- the final scoring: step by step where the end was awaited, whole on pages loaded later ----

/** @type {Scoring[]} */
let steps = []; // none before the end
let told = 0; // how many of them have been shown
let isAwaited = false; // whether the page has shown the game before its end
let tellEnd = () => {}; // what is done once all have been

/** Whether all steps of the final scoring have been shown. */
export const isTold = () => told > 0 && told === steps.length;

/** Have `act()` called once they have. */
export const whenTold = (act) => {
  tellEnd = act;
};

/** @param {Scoring} step */
function rowsOf({ text, vp, scores, pays }) {
  const cell = (score, seat) => {
    const gain = vp?.[seat] ?? 0;
    return el("td", gain > 0 && el("b", `+${gain} `), `${score}`);
  };
  const paid = (one) => el("td", el("b", (one > 0 ? "+" : "") + signed(one)));
  const what = el(
    "th",
    { scope: "row", colspan: vp ? 1 : 1 + scores.length },
    text.replace(/^the /, ""),
  );
  if (vp) return el("tbody", el("tr", what, scores.map(cell)));
  return el("tbody", el("tr", what), pays && el("tr", el("td"), pays.map(paid)));
}

/** Show the latest step on the drawing: its district, and the points so far. */
function light() {
  const { scores, place } = steps[told - 1];
  for (const [seat, vp] of scores.entries()) {
    the(`[data-part="seat ${seat + 1}"] [data-vp]`, $("board")).textContent = `${vp} VP`;
  }
  mark([["part", place]]);
}

function tellUpTo(number) {
  const added = steps.slice(told, number).filter(({ text }) => text);
  the("table", $("final")).append(...added.map(rowsOf));
  told = number;
  light();
  $("final-steps").hidden = isTold();
  document.body.classList.toggle("scoring", !isTold());
  if (isTold()) tellEnd();
}

/** @param {State} state */
function startFinal({ names, task }) {
  told = 0;
  if (task) the("h2", $("finished")).textContent = "Task payoffs";
  const heads = names.map((name, seat) => `${seat + 1} ${name}`);
  $("final").replaceChildren(table("table", [el("td"), ...heads], []));
  $("final-next").onclick = () => tellUpTo(told + 1);
  $("final-all").onclick = () => tellUpTo(steps.length);
  tellUpTo(isAwaited ? 1 : steps.length);
}

/** @param {State} state */
export function showFinal(state) {
  $("finished").hidden = !state.over;
  $("choices").hidden = state.over;
  const isNew = !steps.length;
  steps = state.final ?? [];
  isAwaited ||= !state.over;
  if (!state.over) document.body.classList.remove("scoring");
  else if (isNew) startFinal(state);
  else light();
}
