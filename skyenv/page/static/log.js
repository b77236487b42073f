// What happened, a line each.
import { el, ruleLink } from "./dom.js";
import { $ } from "./seat.js";

let lines = 0;  // that are shown

/** Show the lines that are new. */
export function showLog(state) {
  const list = $("log");
  for (const line of list.querySelectorAll(".new")) line.classList.remove("new");
  if (state.log.from < lines) list.replaceChildren();
  list.append(...state.log.lines.map((line, i) => el("li", { class: lines ? "new" : null }, `${line} `, ruleLink(state.log.rules[i]))));
  if (state.log.lines.length) list.scrollTop = list.scrollHeight;
  lines = state.log.from + state.log.lines.length;
}
