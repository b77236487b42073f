// What has happened: the last turns, the standings, the log, explanations, the final scoring.
import { $, $$, el, isNews, note, ruleLink, table, the } from "./dom.js";
import { signed } from "./format.js";
import { STOP } from "./game.js";
import { linked } from "./rules.js";
import { onState, positionOf } from "./seat.js";
import { bindSetting, isOn, keep, kept } from "./settings.js";

// ---- the last turns, and the standings ----

/**
 * List the turns since this seat's last one, and mark what they changed.
 * @param {State} state
 */
export function showRecent(state) {
  if (isNews($("recent-list"), state.recent)) {
    const line = (text) => el("span", linked(text));
    const turns = state.recent.map(({ seat, lines }) => el(`li.seat-${seat}`, lines.map(line)));
    $("recent-list").replaceChildren(...turns);
    $("recent-none").hidden = turns.length > 0;
  }
  mark(state.recent.flatMap((turn) => turn.parts));
}

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

/** @param {State} state */
export function showLog(state) {
  const list = $("log-lines");
  for (const line of $$(".new", list)) line.classList.remove("new");
  if (state.log.from < logged) list.replaceChildren();
  list.append(
    ...state.log.lines.map((line, i) =>
      el("li", { class: logged ? "new" : null }, `${line} `, ruleLink(state.log.rules[i])),
    ),
  );
  // the page is laid out then, once for all
  if (state.log.lines.length) requestAnimationFrame(scrollLog);
  logged = state.log.from + state.log.lines.length;
}

export function tell(text) {
  $("log-lines").append(el("li.own", text));
  scrollLog();
}

function scrollLog() {
  $("log").scrollTop = $("log").scrollHeight;
}

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
  note("", $("news"));
  if (!state.yours || state.lesson || !isOn("explain")) return;
  const stops = state.legal.some(({ action }) => action === STOP);
  const rules = [AHEAD[state.phase], stops && "STOP-4", ...happened];
  const rule = rules.find((one) => one && !seen().includes(one) && wordsOf(one));
  happened = [];
  if (!rule) return;
  keep(SEEN, JSON.stringify([...seen(), rule]));
  const { firstElementChild: title, lastChild: text } = wordsOf(rule);
  const words = text.textContent.replace(/\s+/g, " ");
  const close = { "aria-label": "got it", onclick: () => note("", $("news")) };
  $("news").hidden = false;
  $("news").append(
    el("span", el("b", `New: ${title.textContent}. `), ...linked(words), ruleLink([rule])),
    el("button.quiet", close, "✕"),
  );
}

export function setUpNews() {
  bindSetting($("explain"), "explain", () => keep(SEEN, "[]"));
  onState(showNews);
}

// ---- the final scoring, step by step ----

/** @type {Scoring[] | null} */
let left = null; // steps that haven't been shown; null: the game isn't over
let tellEnd = () => {}; // what is done once all have been

/** Whether all steps of the final scoring have been shown. */
export const isTold = () => left?.length === 0;

/** Have `act()` called once they have. */
export const whenTold = (act) => {
  tellEnd = act;
};

/** Have the drawing say the points that have been told so far. */
function score(scores) {
  for (const [seat, vp] of scores.entries()) {
    the(`[data-part="seat ${seat + 1}"] [data-vp]`, $("board")).textContent = `${vp} VP`;
  }
}

/** @param {State} state */
export function showFinal(state) {
  $("finished").hidden = !state.over;
  $("choices").hidden = state.over;
  if (!state.final || left) return;
  const steps = (left = [...state.final]);
  if (state.task) the("h2", $("finished")).textContent = "Task payoffs";
  const head = (name, seat) => el(`th.seat-${seat}`, { scope: "col" }, `${seat + 1} ${name}`);
  const shown = table("table", state.names.map(head), []);
  shown.ariaLive = "polite";
  const step = () => {
    const one = steps.shift();
    if (!one) return;
    const cell = (vp, seat) => {
      const gain = one.vp?.[seat] ?? 0;
      return el("td", gain > 0 && el("b", `+${gain} `), `${vp}`);
    };
    const pays = (vp) => el("td", el("b", (vp > 0 ? "+" : "") + signed(vp)));
    const what = { scope: "rowgroup", colspan: state.names.length };
    shown.append(
      el(
        "tbody",
        el("tr", el("th", what, one.text)),
        el("tr", one.pays?.map(pays) ?? one.scores.map(cell)),
      ),
    );
    score(one.scores);
    mark(one.place ? [["part", one.place]] : []);
    more.hidden = rest.hidden = isTold();
    document.body.classList.toggle("scoring", !isTold());
    $("final").scrollTop = $("final").scrollHeight;
    if (isTold()) tellEnd();
  };
  const more = el("button#final-next.primary", { onclick: step }, "next step");
  const all = () => {
    while (steps.length) step();
  };
  const rest = el("button#final-all", { onclick: all }, "show all");
  $("final").replaceChildren(shown);
  $("final-steps").replaceChildren(more, rest);
  if (steps.length) step();
}
