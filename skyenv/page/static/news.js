// Explanations of new events, in a sentence or two, once in each browser. The words are the
// template "new" of table.html.
import { $, el, keep, kept, ruleLink } from "./dom.js";
import { linked } from "./terms.js";

/** What is explained before the first decision of a phase. */
const AHEAD = { move: "MOVE-1", bid: "AUC-1" };
const STOP = 102;
const waiting = [];
let known = false; // whether the page has been told of the game before
let card = null;
const box = $("explain"); // by which this is switched off and on

const stored = () => ({ seen: [], off: false, ...JSON.parse(kept("news") ?? "{}") });

function store(changes) {
  const value = { ...stored(), ...changes };
  box.checked = !value.off;
  keep("news", JSON.stringify(value));
}

/** The words about a rule; null if it has none. */
const wordsOf = (rule) => $("new").content.querySelector(`[data-rule="${rule}"]`);

box.checked = !stored().off;
box.onchange = () => {
  store(box.checked ? { off: false, seen: [] } : { off: true });
  if (!box.checked) stop();
};

/** Look at what a seat was told, for things that are new. */
export function showNews(state) {
  const isFirst = !known;
  known = true;
  if (state.watching || state.lesson) return;
  const happened = isFirst ? [] : state.log.rules.map(([rule]) => rule);
  const ahead = state.yours
    ? [AHEAD[state.phase], state.legal.some(({ action }) => action === STOP) ? "STOP-4" : ""]
    : [];
  for (const rule of [...happened, ...ahead]) {
    const { seen, off } = stored();
    if (off || seen.includes(rule) || !wordsOf(rule)) continue;
    store({ seen: [...seen, rule] });
    waiting.push(rule);
  }
  if (!card) next();
}

function next() {
  card?.remove();
  card = null;
  const rule = waiting.shift();
  if (!rule) return;
  const [title, text] = [...wordsOf(rule).childNodes].map(({ textContent }) =>
    textContent.replace(/\s+/g, " "),
  );
  const off = () => {
    store({ off: true });
    stop();
  };
  card = el(
    "section#news.news",
    { role: "status", "aria-label": "This is new", onclick: () => card?.classList.add("open") },
    el("p", el("b", `New: ${title}. `), linked(text), " ", ruleLink([rule])),
    el(
      "p.row",
      el("button.primary", { onclick: next }, "got it"),
      el("button", { onclick: off }, "no more of these"),
    ),
  );
  $("beside").prepend(card);
}

/** Explain nothing more. */
function stop() {
  waiting.length = 0;
  next();
}
