// The people at a table: presence, names, spectators, free seats, rematch, a shared screen.
import { ask, at, send, whole } from "./api.js";
import { $, copy, el, isNews, leaveBy } from "./dom.js";
import { many } from "./format.js";
import { api, load, note, onCurtain, onNews, onState } from "./seat.js";

const when = (seconds) =>
  new Date(1000 * seconds).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
const rematch = ({ target }) => leaveBy(target, () => send(`${api}/rematch`), note);

export function setUpPeople() {
  onState((state) => show(state.people));
  onNews("people", refresh);
  $("rematch").onclick = rematch;
  onCurtain(cover);
}

async function refresh() {
  try {
    show(await ask(`${api}/people`));
  } catch (error) {
    note(error.message);
  }
}

function show(people) {
  if (!isNews($("people"), people)) return;
  const persons = people.seats.filter((one) => !one.agent).length;
  $("people-list").replaceChildren(...people.seats.map(describe));
  $("people-list").hidden = persons < 2 && !people.watch;
  const others = people.spectators;
  $("lookers").textContent = others ? `${many(others, "spectator")}: no hidden cards.` : "";
  $("watch-link").replaceChildren(...(people.watch ? invitation("spectators", people.watch) : []));
  const back = people.taken_back;
  const told = `${many(back, "decision")} taken back. The record says so.`;
  $("taken-back").textContent = back ? told : "";
  $("rematch").hidden = !people.can_rematch || people.rematch !== null;
  $("rematch-link").hidden = people.rematch === null;
  if (people.rematch) $("rematch-link").href = at(people.rematch);
}

/** The status of a seat's player, in words. */
function stateOf({ agent, is_here, is_free, seen }) {
  if (agent) return "";
  if (is_free) return "free";
  if (is_here) return "here";
  return seen ? `away since ${when(seen)}` : "not here yet";
}

const describe = (seat, number) =>
  el(
    seat.is_here ? "li.here" : "li",
    el(`span.dot.seat-${number}`, { "aria-hidden": "true" }),
    el(
      "span",
      `seat ${number + 1} `,
      el("b", seat.is_free ? "" : seat.name),
      " ",
      seat.agent && el("span.mark", { title: seat.agent }, "agent"),
      " ",
      el("span.small", stateOf(seat)),
    ),
  );

// ---- one screen for several ----

/** Show the next player's name instead of the table; the page holds no hand then. */
function cover(curtain) {
  document.title = "Fifth Avenue";
  $("curtain-title").textContent = `Pass the device to ${curtain.name}`;
  $("curtain-text").textContent =
    `Seat ${curtain.seat + 1} is next. The cards are covered until ${curtain.name} is ready.`;
  $("curtain-lift").textContent = `I am ${curtain.name}: show my cards`;
  $("curtain-lift").onclick = async () => {
    $("curtain-lift").disabled = true;
    try {
      await send(`${curtain.page.replace("/seat/", "/api/seats/")}/lift`);
      if (curtain.page === location.pathname) await load();
      else location.replace(at(curtain.page));
    } catch (error) {
      $("curtain-text").textContent = error.message;
    } finally {
      $("curtain-lift").disabled = false;
    }
  };
  $("curtain-lift").focus();
}

// ---- invitations: of free seats for the browser that made the game, of spectators for all ----

/** A link to invite somebody with, and a button that copies it. */
function invitation(who, page) {
  const address = whole(page);
  const onclick = (event) => copy(address, event.target, note);
  return [
    `${who}: `,
    el("a", { href: page }, address),
    " ",
    el("button.quiet", { onclick }, "copy"),
    el("details", el("summary", "QR code"), el("img", { alt: address, src: `${address}/qr` })),
  ];
}

/**
 * Show the addresses of free seats.
 * @param {State} state
 */
export function showInvitations({ invitations }) {
  if (!isNews($("invitations"), invitations)) return;
  const line = ({ seat, page }) => el("li", invitation(`seat ${seat + 1}`, page));
  $("invitations").hidden = invitations.length === 0;
  $("invitation-list").replaceChildren(...invitations.map(line));
}
