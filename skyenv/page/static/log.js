// The log of the game, a line for each event.
import { $$, $, el, ruleLink } from "./dom.js";

let lines = 0; // that the server has told

/**
 * Show the lines that are new.
 * @param {State} state
 */
export function showLog(state) {
  const list = $("log-lines");
  for (const line of $$(".new", list)) line.classList.remove("new");
  if (state.log.from < lines) list.replaceChildren();
  list.append(
    ...state.log.lines.map((line, i) =>
      el("li", { class: lines ? "new" : null }, `${line} `, ruleLink(state.log.rules[i])),
    ),
  );
  // the page is laid out then, once for all
  if (state.log.lines.length) requestAnimationFrame(scroll);
  lines = state.log.from + state.log.lines.length;
}

/** Add a line of the page's own. */
export function tell(text) {
  $("log-lines").append(el("li.own", text));
  scroll();
}

function scroll() {
  $("log").scrollTop = $("log").scrollHeight;
}
