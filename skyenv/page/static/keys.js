// Keys, and the sheet that lists them.
import { choiceKey } from "./choices.js";
import { next, togglePause } from "./follow.js";
import { $ } from "./seat.js";

const others = new Map([
  ["?", () => $("keys").showModal()],
  ["n", next],
  [" ", togglePause],
]);

/** Whether a key is meant for something else: the browser, a field, or a button. */
function isMeantElsewhere(event) {
  const inside = (selector) => event.target.closest?.(selector);
  return (
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.defaultPrevented ||
    inside("input, select, textarea, dialog") ||
    (event.key === " " && inside("button, summary, a, [role=button]"))
  );
}

/** Listen to keys. */
export function setUpKeys() {
  $("keys-open").onclick = () => $("keys").showModal();
  $("keys-close").onclick = () => $("keys").close();
  addEventListener("keydown", (event) => {
    const { key } = event;
    if (isMeantElsewhere(event) || $("table").hidden) return;
    if (others.has(key)) others.get(key)();
    else if (!/^[a-z]$/.test(key) || !choiceKey(key)) return;
    event.preventDefault();
  });
}
