// What this browser remembers: the theme, the player's name, switches, and confirmations.
import { $$, el } from "./dom.js";

/** A value stored in this browser; null if there is none, or pages may store nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Store a value in this browser, if pages may. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* then it is forgotten with the page */
  }
}

/** The theme in force: "light" or "dark". */
export const theme = () => document.documentElement.dataset.theme;

/**
 * Follow the system's theme until this button chooses one; then `changed` is called.
 */
export function themeButton(changed = () => {}) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const apply = () => {
    root.dataset.theme = kept("theme") ?? (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", () => {
    apply();
    changed();
  });
  const change = () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    keep("theme", theme());
    changed();
  };
  const label = "Light or dark";
  return el("button.quiet", { "aria-label": label, title: label, onclick: change }, "◐");
}

export const storedName = () => kept("name") ?? "";
export const storeName = (name) => keep("name", name.trim());

export const isOn = (name) => kept(name) !== "off";

export const setOn = (name, is) => keep(name, is ? "on" : "off");

/** Have a checkbox show a setting and change it; `changed()` is called afterwards. */
export function bindSetting(box, name, changed = () => {}) {
  box.checked = isOn(name);
  box.onchange = () => {
    setOn(name, box.checked);
    changed();
  };
}

/** Have radio buttons show a stored choice and store another. */
export function bindChoice(group, name) {
  for (const one of $$("input", group)) one.checked ||= one.value === kept(name);
  group.onchange = ({ target }) => keep(name, target.value);
}

/**
 * Whether the page plays the only legal action by itself; not in a lesson, which explains it.
 * @param {State} state
 */
export const isForced = (state) =>
  state.yours && state.legal.length === 1 && !state.lesson && isOn("forced");

// ---- the record against each agent ----

const PLAYED = "played"; // [agent, seat's address, share of the win] of each game
const MOST_PLAYED = 500;
const games = () => JSON.parse(kept(PLAYED) ?? "[]");

/** Remember a game against an agent, once: this player's share of the win. */
export function playedAgainst(agent, seat, share) {
  if (games().some((one) => one[1] === seat)) return;
  keep(PLAYED, JSON.stringify([...games(), [agent, seat, share]].slice(-MOST_PLAYED)));
}

/** The record against an agent; "" without games. */
export function recordOf(agent) {
  const shares = games().flatMap(([name, , share]) => (name === agent ? [share] : []));
  const [won, lost] = [1, 0].map((share) => shares.filter((one) => one === share).length);
  const shared = shares.length - won - lost;
  return shares.length ? `${won} won, ${lost} lost${shared ? `, ${shared} shared` : ""}` : "";
}

export const forgetPlayed = () => keep(PLAYED, "[]");

// ---- confirmation of moves that can't be taken back ----

/**
 * Ask for confirmation of a move; a promise of the answer. Players can switch these questions off.
 */
export const asked = async (question, yes, no) => !isOn("ask") || confirmed(question, yes, no);

/** Ask in a dialog; a promise of the answer. */
export function confirmed(question, yes, no = "no") {
  const dialog = el(
    "dialog.asked",
    { "aria-labelledby": "asked-text" },
    el("p#asked-text", question),
    el(
      "form.row",
      { method: "dialog" },
      el("button#asked-yes", { type: "submit", value: "yes" }, yes),
      el("button#asked-no.primary", { type: "submit", autofocus: true }, no),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    };
  });
}
