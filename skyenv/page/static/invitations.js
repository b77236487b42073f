// Seats that nobody has taken yet, for who made the game.
import { at, copy, el } from "./dom.js";
import { $, note } from "./seat.js";

/**
 * Show the addresses of free seats.
 * @param {State} state
 */
export function showInvitations(state) {
  const address = (one) => new URL(at(one.page), location.href).href;
  const shown = JSON.stringify(state.invitations);
  // lest a link is made anew while somebody clicks it
  if ($("invitations").dataset.shown === shown) return;
  $("invitations").dataset.shown = shown;
  $("invitations").hidden = state.invitations.length === 0;
  $("invitation-list").replaceChildren(
    ...state.invitations.map((one) =>
      el(
        "li",
        {},
        `seat ${one.seat + 1}: `,
        el("a", { href: one.page }, address(one)),
        " ",
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: (event) => copy(address(one), event.target, note),
          },
          "copy",
        ),
      ),
    ),
  );
}
