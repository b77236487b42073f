// What happens for the first time in a person's games is explained in a sentence or two, once in
// each browser.
import { el, ruleLink } from "./dom.js";
import { linked } from "./terms.js";

export const NEWS = {
  "MOVE-1": [
    "Commissioners",
    "Every turn ends with a commissioner's move. Leaving a district he drops a marker there: it will be auctioned when he comes home to City Hall.",
  ],
  "BUS-3": [
    "A business for the park area",
    "One tile was left in the set. It goes to the park area by itself, and counts at the end.",
  ],
  "BUS-4": [
    "Special points",
    "After the 3rd, 6th and 9th business who stands in many districts gets points: 4 VP for three districts, then 6 for four, then 8 for five.",
  ],
  "SCO-2": [
    "A district is scored",
    "Each skyscraper brings its owner points by the different businesses on the two plots beside it: 1, 2, 3, 5 or 8. The coins on the plots show it.",
  ],
  "AUC-1": [
    "Auctions",
    "A commissioner came home. Every district with his markers is auctioned, one after the other, and the park area last. Who wins an auction may build there.",
  ],
  "ALEA-2": [
    "Alea bids",
    "With two players Alea bids too, once in each auction: black cards are turned up until a value comes twice. Overbid her, or she wins.",
  ],
  "ALEA-6": [
    "Alea builds",
    "Alea builds on the empty plot where a skyscraper would score most. Her skyscrapers never score, but they take the place.",
  ],
  "AUC-12": [
    "The park area",
    "The first bid chooses the colour for everybody. Skyscrapers in the park area score once, at the end, by three of the businesses there.",
  ],
  "STOP-4": [
    "A building stop",
    "The district leaves the game with all that stands there. The second building stop ends the game.",
  ],
  "ALEA-7": [
    "Alea stops a district",
    "Alea won a district that was full: it leaves the game, and both players get half of what it would have scored.",
  ],
  "END-2": [
    "The end",
    "The game is over. Every district is scored once more, then the park area. Most VP wins; with equal VP more cards in hand do.",
  ],
};
/** What is explained before the first decision of a phase. */
const AHEAD = { move: "MOVE-1", bid: "AUC-1" };
const STOP = 102;
const waiting = [];
let known = false; // whether the page has been told of the game before
let card = null;
let box = null; // by which this is switched off and on

function stored() {
  try {
    return { seen: [], off: false, ...JSON.parse(localStorage.getItem("news") ?? "{}") };
  } catch {
    return { seen: [], off: false };
  }
}

function store(value) {
  if (box) box.checked = !value.off;
  try {
    localStorage.setItem("news", JSON.stringify(value));
  } catch {
    /* then it lasts as long as the page */
  }
}

/** A box by which this is switched off and on. */
export function newsSwitch() {
  box = el("input", {
    type: "checkbox",
    checked: !stored().off,
    onchange: () => {
      store({ ...stored(), off: !box.checked, seen: box.checked ? [] : stored().seen });
      if (!box.checked) {
        waiting.length = 0;
        next();
      }
    },
  });
  return el(
    "label",
    { class: "news-switch" },
    box,
    " explain in a game what happens for the first time",
  );
}

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
    if (off || !(rule in NEWS) || seen.includes(rule)) continue;
    store({ seen: [...seen, rule], off });
    waiting.push(rule);
  }
  if (!card) next();
}

function next() {
  card?.remove();
  card = null;
  const rule = waiting.shift();
  if (!rule) return;
  const [title, text] = NEWS[rule];
  const off = () => {
    store({ ...stored(), off: true });
    waiting.length = 0;
    next();
  };
  card = el(
    "section",
    {
      class: "news",
      id: "news",
      role: "status",
      "aria-label": "This is new",
      onclick: () => card?.classList.add("open"),
    },
    el("p", {}, el("b", {}, `New: ${title}. `), ...linked(text), " ", ruleLink([rule])),
    el(
      "p",
      { class: "row" },
      el("button", { type: "button", class: "primary", onclick: next }, "got it"),
      el("button", { type: "button", onclick: off }, "no more of these"),
    ),
  );
  document.getElementById("beside").prepend(card);
}
