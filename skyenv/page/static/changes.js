// Events since this seat's last turn, listed and marked on the board; and the standings.
import { $$, $, el, isNews } from "./dom.js";
import { linked } from "./terms.js";

const LAST_TURNS = "The last turns";

/**
 * List the turns since this seat's last one, and mark what they changed.
 * @param {State} state
 */
export function showRecent(state) {
  if (state.watching) {
    // a spectator has no turn
    $("recent").querySelector("h2").textContent = LAST_TURNS;
    $("recent").querySelector(".scroll").setAttribute("aria-label", LAST_TURNS);
  }
  if (isNews($("recent-list"), state.recent)) {
    const line = (text) => el("span", linked(text));
    const turns = state.recent.map(({ seat, lines }) => el(`li.seat-${seat}`, lines.map(line)));
    $("recent-list").replaceChildren(...turns);
    $("recent-none").hidden = turns.length > 0;
  }
  mark(state.recent.flatMap((turn) => turn.parts));
}

/** Mark parts of the drawing: pairs of a data attribute's name and its value. */
function mark(parts) {
  for (const old of $$(".changed", $("board"))) old.classList.remove("changed");
  for (const [name, value] of parts) {
    for (const part of $$(`[data-${name}="${value}"]`, $("board"))) part.classList.add("changed");
  }
}

/**
 * Show the standings: VP, and VP if all districts were scored now.
 * @param {State} state
 */
export function showLeads({ scores, standing, names }) {
  if (!isNews($("leads-body"), [scores, standing, names])) return;
  const most = Math.max(...standing);
  const row = (name, seat) =>
    el(
      `tr.seat-${seat}`,
      el("th", { scope: "row" }, `${seat + 1} ${name}`),
      el("td", `${scores[seat]}`),
      el(standing[seat] === most ? "td.most" : "td", `${standing[seat]}`),
    );
  $("leads-body").replaceChildren(...names.map(row));
}
