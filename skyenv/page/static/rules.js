// The rules beside the game: a panel on every page, opened by a button, by the key R, and by every
// link to a rule.
import { $$, at, el, themeButton } from "./dom.js";

let panel = null; // made when it is first opened
let before = null; // what had the keyboard then

/** Mark what a rule's sign stands behind, and go there. */
export function show(root, id) {
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
  panel = document.body.appendChild(
    el(
      "dialog.rules-panel",
      { "aria-label": "The rules" },
      el("div.rules-head", el("h1", "The rules"), el("a", { href: "/rules" }, "as a page"), close),
      text,
    ),
  );
  panel.onkeydown = (event) => {
    if (event.key === "Escape") hide();
  };
  panel.onclick = (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    show(text, decodeURIComponent(link.hash.slice(1)));
  };
  try {
    const answer = await fetch(at("/rules"));
    if (!answer.ok) throw new Error();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    text.replaceChildren(...page.getElementById("rules-text").childNodes);
  } catch {
    text.textContent = "The rules can't be loaded now.";
    panel.onclose = () => {
      panel.remove();
      panel = null;
    };
  }
}

/** Open the rules at a rule, or where they were. */
export async function openRules(id = "") {
  if (!panel?.open) before = document.activeElement;
  if (!panel) {
    const made = make();
    panel.show();
    await made;
  }
  if (!panel) return;
  if (!panel.open) panel.show();
  const text = panel.querySelector(".rules-text");
  text.focus({ preventScroll: true });
  show(text, id);
}

function hide() {
  panel.close();
  before?.focus?.({ preventScroll: true });
}

/** Put the buttons of all pages into a header; `changed` is called when the theme has. */
export const setUpHeader = (changed, header = document.querySelector("header")) =>
  header.append(rulesButton(), themeButton(changed));

/** A button that opens and closes them. Links to rules and the key R do from now on. */
function rulesButton() {
  const toggle = () => (panel?.open ? hide() : openRules());
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-rule]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openRules(link.dataset.rule);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "r" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    event.preventDefault();
    toggle();
  });
  const attributes = { "aria-keyshortcuts": "R", title: "the rules (R)", onclick: toggle };
  return el("button#rules.quiet", attributes, "Rules");
}
