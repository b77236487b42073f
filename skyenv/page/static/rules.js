// The rules beside the game: a panel on every page, opened by a button, by the key R, and by every
// link to a rule; the game's terms, which are such links; and the page of the rules.
import { at } from "./api.js";
import { $$, el, ruleNamed, the } from "./dom.js";
import { themeButton } from "./settings.js";

/** @type {Control | null} */
let panel = null; // made when it is first opened
/** @type {any} */
let before = null; // what had the keyboard then

/** Mark what a rule's sign stands behind, and go there. */
function show(root, id) {
  for (const old of $$(".here", root)) old.classList.remove("here");
  const sign = id ? root.querySelector(`[id="${CSS.escape(id)}"]`) : null;
  if (!sign) return;
  const place = sign.closest("p, li, section");
  if (sign.matches(".id")) place.classList.add("here");
  place.scrollIntoView({ block: sign.matches(".id") ? "center" : "start" });
}

async function make() {
  const close = el("button.quiet", { onclick: hide, "aria-label": "close the rules" }, "✕");
  const text = el("div.rules-text", { tabindex: -1 }, "…");
  const made = (panel = document.body.appendChild(
    el(
      "dialog.rules-panel",
      { "aria-label": "The rules" },
      el("div.rules-head", el("h1", "The rules"), el("a", { href: "/rules" }, "as a page"), close),
      text,
    ),
  ));
  made.onkeydown = (event) => {
    if (event.key === "Escape") hide();
  };
  made.onclick = (event) => {
    const link = event.target?.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    show(text, decodeURIComponent(link.hash.slice(1)));
  };
  try {
    const answer = await fetch(at("/rules"));
    if (!answer.ok) throw new Error();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    text.replaceChildren(...the("#rules-text", page).childNodes);
  } catch {
    text.textContent = "The rules can't be loaded now.";
    made.onclose = () => {
      made.remove();
      panel = null;
    };
  }
}

/** Open the rules at a rule, or where they were. */
async function openRules(id = "") {
  if (!panel?.open) before = document.activeElement;
  const made = panel ? null : make();
  panel?.show();
  await made;
  if (!panel) return;
  const text = the(".rules-text", panel);
  text.focus({ preventScroll: true });
  show(text, id);
}

function hide() {
  panel?.close();
  before?.focus?.({ preventScroll: true });
}

/** Put the buttons of all pages into a header; `changed` is called when the theme has. */
export const setUpHeader = (changed, header = the("header")) =>
  header.append(rulesButton(), themeButton(changed));

/** A button that opens and closes them. Links to rules and the key R do from now on. */
function rulesButton() {
  const toggle = () => (panel?.open ? hide() : openRules());
  document.addEventListener("click", (event) => {
    const link = event.target?.closest?.("a[data-rule]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openRules(link.dataset.rule);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "r" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target?.closest?.(":read-write, select")) return;
    event.preventDefault();
    toggle();
  });
  const attributes = { "aria-keyshortcuts": "R", title: "the rules (R)", onclick: toggle };
  return el("button#rules.quiet", attributes, "Rules");
}

// ---- terms ----

const TERMS = {
  "building stop": "STOP-1",
  "park area": "AUC-12",
  "special points": "BUS-4",
  "general supply": "COM-2",
  "supply row": "SET-3",
  "current set": "BUS-1",
  "black card": "AUC-4",
  "sixth plot": "COM-8",
  "coloured card": "TURN-4",
  "city hall": "MOVE-4",
  "option a": "TURN-2",
  "option b": "BUS-2",
  "option c": "TURN-7",
  "option d": "SCO-1",
  commissioner: "MOVE-1",
  marker: "MOVE-2",
  auction: "AUC-1",
  business: "BUS-1",
  supply: "TURN-2",
  alea: "ALEA-1",
  coin: "SCO-2",
  bid: "AUC-3",
  stop: "STOP-1",
  "final scoring": "END-2",
  scored: "SCO-2",
};
const ANY = new RegExp(`\\b(${Object.keys(TERMS).join("|")})(?:e?s)?\\b`, "gi");

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
    const link = ruleNamed("a.term", [TERMS[term]], match[0]);
    nodes.push(text.slice(from, match.index), link);
    from = match.index + match[0].length;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== "");
}

// ---- the rules as a page of their own ----

if (document.getElementById("rules-text")) {
  const showRule = () => show(document, decodeURIComponent(location.hash.slice(1)));
  the("header").append(themeButton());
  addEventListener("hashchange", showRule);
  showRule();
}
