// The people at a table: presence, names, spectators, who plays which seat, rematch, takeback, one
// screen for several.
import { ask, at, copy, el, keys, send } from "./dom.js";
import { $, api, attempt, load, note, onCurtain, onNews, onState, seat } from "./seat.js";
import { storedName, storeName } from "./settings.js";

const LONGEST_WAIT = 60; // seconds until who is there is looked at again
let timer = null;
let agents = null; // that can play a seat
let shown = null; // what the list of people was made of

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
    attempt(async () => {
      const { page } = await send(`${api}/spectators`);
      await refresh();
      await copy(new URL(at(page), location.href).href, $("invite-spectators"), note);
    });
  $("name-form").onsubmit = (event) => {
    event.preventDefault();
    storeName($("my-name").value);
    attempt(() => send(`${api}/claim`, { name: storedName() }));
    $("name-card").open = false;
  };
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
  const text = JSON.stringify(people);
  if (text === shown) return; // lest something is made anew while somebody clicks it
  shown = text;
  const persons = people.seats.filter((one) => !one.is_agent || one.person).length;
  $("people-list").replaceChildren(...people.seats.map((seat, number) => describe(seat, number)));
  $("people-list").hidden = persons < 2 && !people.can_invite;
  const others = people.spectators;
  $("lookers").textContent = others
    ? `${others} ${others === 1 ? "person looks" : "people look"} on; they see no hidden cards.`
    : "";
  $("invite-spectators").hidden = !people.can_invite;
  $("watch-link").replaceChildren(
    ...(people.watch
      ? [
          "to look on: ",
          el("a", { href: people.watch }, new URL(at(people.watch), location.href).href),
        ]
      : []),
  );
  $("take-back").hidden = !people.can_take_back;
  $("taken-back").textContent = people.taken_back
    ? `A copy: ${people.taken_back} ${people.taken_back === 1 ? "decision was" : "decisions were"} taken back on the way to it. Its record says so.`
    : "";
  $("take-back-help").hidden = !people.can_take_back;
  $("rematch").hidden = !people.can_rematch || people.rematch !== null;
  $("rematch-link").hidden = people.rematch === null;
  if (people.rematch) $("rematch-link").href = at(people.rematch);
  $("name-card").hidden = persons < 2;
  if (!$("name-card").open) $("my-name").value = people.name || storedName();
  lookAgain(people);
}

/** Ask again once a seat's player has been away for so long that an agent may play for them. */
function lookAgain(people) {
  clearTimeout(timer);
  const now = Date.now() / 1000;
  const next = Math.min(
    ...people.seats
      .filter((seat) => people.owner && !seat.is_here && seat.replaceable_at > now)
      .map((seat) => seat.replaceable_at - now),
  );
  if (Number.isFinite(next)) timer = setTimeout(refresh, 1000 * Math.min(next + 0.5, LONGEST_WAIT));
}

function describe(seat, number) {
  const state = seat.is_agent
    ? seat.person
      ? `plays for ${seat.person}${seat.is_here ? ", who is here" : ""}`
      : ""
    : seat.is_free
      ? "free: nobody has taken it"
      : seat.is_here
        ? "here"
        : seat.seen
          ? `away since ${when(seat.seen)}`
          : "not here yet";
  return el(
    "li",
    { class: seat.is_here ? "here" : null },
    el("span", { class: `dot seat-${number}`, "aria-hidden": "true" }),
    el(
      "span",
      {},
      `seat ${number + 1} `,
      el("b", {}, seat.is_free ? "" : seat.name),
      " ",
      seat.is_agent ? el("span", { class: "mark" }, "agent") : null,
      " ",
      el("span", { class: "small" }, state),
    ),
    seat.can_be_agents || seat.can_be_persons ? changing(seat, number) : null,
  );
}

/** The menu that changes who plays a seat: an agent, or a person. */
function changing(seat, number) {
  const select = el(
    "select",
    {
      "aria-label": `change who plays seat ${number + 1}`,
      onchange: () =>
        attempt(async () =>
          show(await send(`${api}/people/${number}`, { agent: select.value || null })),
        ),
    },
    el("option", { disabled: true, selected: true }, "change who plays"),
  );
  if (seat.can_be_persons)
    select.append(
      el(
        "option",
        { value: "" },
        seat.person ? `give it back to ${seat.person}` : "a person, by a link",
      ),
    );
  const fill = async () => {
    agents ??= (await ask("/api/options")).agents;
    select.append(
      ...agents
        .filter((one) => one.name !== seat.name)
        .map((one) => el("option", { value: one.name }, one.name)),
    );
  };
  if (seat.can_be_agents) fill().catch((error) => note(error.message));
  return select;
}

// ---- one screen for several ----

/** Show who is to take the device instead of the table; nothing of any hand is in the page. */
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
