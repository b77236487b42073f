// Free seats, for the browser that made the game.
import { $, copy, el, isNews, whole } from "./dom.js";
import { note } from "./seat.js";

/**
 * Show the addresses of free seats.
 * @param {State} state
 */
export function showInvitations({ invitations }) {
  if (!isNews($("invitations"), invitations)) return;
  const line = ({ seat, page }) => {
    const address = whole(page);
    const onclick = (event) => copy(address, event.target, note);
    const link = el("a", { href: page }, address);
    return el("li", `seat ${seat + 1}: `, link, " ", el("button.quiet", { onclick }, "copy"));
  };
  $("invitations").hidden = invitations.length === 0;
  $("invitation-list").replaceChildren(...invitations.map(line));
}
