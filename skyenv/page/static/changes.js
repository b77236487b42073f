// What happened since this seat's last turn: listed, and marked on the board. And who leads.
import { el } from "./dom.js";
import { $ } from "./seat.js";
import { linked } from "./terms.js";

const LAST_TURNS = "The last turns";

/**
 * List the turns since this seat's last one, and mark what they changed.
 * @param {State} state
 */
export function showRecent(state) {
  if (state.watching) {
    // who looks on has no turn
    $("recent").querySelector("h2").textContent = LAST_TURNS;
    $("recent").querySelector(".scroll").setAttribute("aria-label", LAST_TURNS);
  }
  const shown = JSON.stringify(state.recent);
  if ($("recent-list").dataset.shown !== shown) {
    $("recent-list").dataset.shown = shown;
    $("recent-list").replaceChildren(
      ...state.recent.map((turn) =>
        el(
          "li",
          { class: `seat-${turn.seat}` },
          ...turn.lines.map((line) => el("span", {}, ...linked(line))),
        ),
      ),
    );
    $("recent-none").hidden = state.recent.length > 0;
  }
  mark(state.recent.flatMap((turn) => turn.parts));
}

/** Mark parts of the drawing: pairs of a data attribute's name and its value. */
function mark(parts) {
  for (const old of $("board").querySelectorAll(".changed")) old.classList.remove("changed");
  for (const [name, value] of parts) {
    for (const part of $("board").querySelectorAll(`[data-${name}="${value}"]`))
      part.classList.add("changed");
  }
}

/**
 * Who leads: VP, what they would be if all districts were scored now.
 * @param {State} state
 */
export function showLeads(state) {
  const shown = JSON.stringify([state.scores, state.standing, state.names]);
  if ($("leads-body").dataset.shown === shown) return;
  $("leads-body").dataset.shown = shown;
  const most = Math.max(...state.standing);
  $("leads-body").replaceChildren(
    ...state.names.map((name, seat) =>
      el(
        "tr",
        { class: `seat-${seat}` },
        el("th", { scope: "row" }, `${seat + 1} ${name}`),
        el("td", {}, `${state.scores[seat]}`),
        el(
          "td",
          { class: state.standing[seat] === most ? "most" : null },
          `${state.standing[seat]}`,
        ),
      ),
    ),
  );
}
