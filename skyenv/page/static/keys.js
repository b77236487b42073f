// Keyboard shortcuts, and the dialog that lists them.
import { $ } from "./dom.js";
import { choiceKey } from "./choices.js";
import { next, togglePause } from "./follow.js";

const showKeys = () => $("keys").showModal();
const others = new Map([
  ["?", showKeys],
  ["n", next],
  [" ", togglePause],
]);

/** Whether a key belongs to the browser, a field or a button. */
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
  $("keys-open").onclick = showKeys;
  addEventListener("keydown", (event) => {
    const { key } = event;
    if (isMeantElsewhere(event) || $("table").hidden) return;
    if (others.has(key)) others.get(key)();
    else if (!/^[a-z]$/.test(key) || !choiceKey(key)) return;
    event.preventDefault();
  });
}
