// Keys, and the sheet that lists them.
import { choiceKey } from "./choices.js";
import { next, togglePause } from "./follow.js";
import { $ } from "./seat.js";

const others = new Map([["?", () => $("keys").showModal()], ["n", next], [" ", togglePause]]);

/** Listen to keys, but for those meant for a field or a button. */
export function setUpKeys() {
  $("keys-open").onclick = () => $("keys").showModal();
  $("keys-close").onclick = () => $("keys").close();
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || $("table").hidden) return;
    if (target.closest?.("input, select, textarea, dialog") || (key === " " && target.closest?.("button, summary, a, [role=button]"))) return;
    if (others.has(key)) others.get(key)();
    else if (!/^[a-z]$/.test(key) || !choiceKey(key)) return;
    event.preventDefault();
  });
}
