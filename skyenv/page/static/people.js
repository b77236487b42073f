// The people at a table: presence, names, spectators, changes of player, rematch, takeback, a
// shared screen.
import { $, ask, at, copy, el, isNews, keys, many, send, whole } from "./dom.js";
import { api, attempt, load, note, onCurtain, onNews, onState, seat } from "./seat.js";

const LONGEST_WAIT = 60; // seconds until presence is checked again
let timer = null;
let agents = null; // the agents that can play a seat

const when = (seconds) =>
  new Date(1000 * seconds).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
const go = (path, value) =>
  attempt(async () => {
    location.href = at((await send(`${api}/${path}`, value)).page);
  });

/** Show the people from now on. */
export function setUpPeople() {
  onState((state) => show(state.people));
  onNews("people", refresh);
  const keyFor = keys();
  $("take-back").onclick = () => go("takeback", { idempotency_key: keyFor(seat.state.step) });
  $("rematch").onclick = () => go("rematch");
  $("invite-spectators").onclick = () =>
    copy(whole(seat.state.people.watch), $("invite-spectators"), note);
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
  const persons = people.seats.filter((one) => !one.is_agent || one.person).length;
  $("people-list").replaceChildren(...people.seats.map(describe));
  $("people-list").hidden = persons < 2 && !people.watch;
  const others = people.spectators;
  const looking = many(others, "spectator");
  $("lookers").textContent = others ? `${looking}, who can't see hidden cards.` : "";
  $("invite-spectators").hidden = !people.watch;
  const link = people.watch && el("a", { href: people.watch }, whole(people.watch));
  $("watch-link").replaceChildren(...(link ? ["spectator link: ", link] : []));
  $("take-back").hidden = !people.can_take_back;
  const back = people.taken_back;
  const copied = `A copy: ${many(back, "decision")} taken back. Its record says so.`;
  $("taken-back").textContent = back ? copied : "";
  $("take-back-help").hidden = !people.can_take_back;
  $("rematch").hidden = !people.can_rematch || people.rematch !== null;
  $("rematch-link").hidden = people.rematch === null;
  if (people.rematch) $("rematch-link").href = at(people.rematch);
  lookAgain(people);
}

/** Ask again once a player has been away long enough for an agent to take over. */
function lookAgain(people) {
  clearTimeout(timer);
  const now = Date.now() / 1000;
  const isAway = (seat) => people.owner && !seat.is_here && seat.replaceable_at > now;
  const next = Math.min(...people.seats.filter(isAway).map((seat) => seat.replaceable_at - now));
  if (Number.isFinite(next)) timer = setTimeout(refresh, 1000 * Math.min(next + 0.5, LONGEST_WAIT));
}

/** The status of a seat's player, in words. */
function stateOf({ is_agent, person, is_here, is_free, seen }) {
  if (is_agent) return person ? `plays for ${person}${is_here ? ", who is here" : ""}` : "";
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
      seat.is_agent && el("span.mark", "agent"),
      " ",
      el("span.small", stateOf(seat)),
    ),
    (seat.can_be_agents || seat.can_be_persons) && changing(seat, number),
  );

/** The menu that gives a seat to an agent or a person. */
function changing({ name, person, can_be_agents, can_be_persons }, number) {
  const label = "change player";
  const change = async () =>
    show(await send(`${api}/people/${number}`, { agent: select.value || null }));
  const select = el(
    "select",
    { "aria-label": `${label}, seat ${number + 1}`, onchange: () => attempt(change) },
    el("option", { disabled: true, selected: true }, label),
  );
  const add = (value, text) => select.append(el("option", { value }, text));
  const fill = async () => {
    agents ??= (await ask("/api/options")).agents;
    for (const one of agents) if (one.name !== name) add(one.name, one.name);
  };
  if (can_be_persons) add("", person ? `return the seat to ${person}` : "a player with a link");
  if (can_be_agents) fill().catch((error) => note(error.message));
  return select;
}

// ---- one screen for several ----

/** Show the next player's name instead of the table; the page holds no hand then. */
export function cover(curtain) {
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
