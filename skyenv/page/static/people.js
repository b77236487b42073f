// The people at a table: who is there, names, invitations to look on, who takes over a seat, rematch, takeback, one screen for several.
import { confirmed } from "./asking.js";
import { ask, at, copy, el, keys, send } from "./dom.js";
import { $, api, attempt, load, note, onNews, onState, seat } from "./seat.js";
import { storedName, storeName } from "./settings.js";

const LONGEST_WAIT = 60;  // seconds until who is there is looked at again
let timer = null;
let agents = null;   // who can take over
let shown = null;    // what the list of people was made of

const when = (seconds) => new Date(1000 * seconds).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
const post = (path, value) => attempt(() => send(`${api}/${path}`, value).then(refresh));
const go = (path, value) => attempt(async () => { location.href = at((await send(`${api}/${path}`, value)).page); });

/** Show the people from now on. */
export function setUpPeople() {
  onState((state) => show(state.people));
  onNews("people", refresh);
  const keyFor = keys();
  $("take-back").onclick = () => go("takeback", { idempotency_key: keyFor(seat.state.step) });
  $("rematch").onclick = () => go("rematch");
  $("invite-spectators").onclick = () => attempt(async () => {
    const { page } = await send(`${api}/spectators`);
    await refresh();
    await copy(new URL(at(page), location.href).href, $("invite-spectators"), note);
  });
  $("withdraw").onclick = () => attempt(async () => {
    if (!await confirmed("Withdraw the link? Spectators who have it see nothing more.", "withdraw")) return;
    await ask(`${api}/spectators`, { method: "DELETE" });
    await refresh();
  });
  $("name-form").onsubmit = (event) => {
    event.preventDefault();
    storeName($("my-name").value);
    post("name", { name: $("my-name").value.trim(), in_record: $("in-record").checked });
    $("name-card").open = false;
  };
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
  if (text === shown) return;  // lest something is made anew while somebody clicks it
  shown = text;
  const persons = people.seats.filter((one) => !one.is_agent || one.person).length;
  $("people-list").replaceChildren(...people.seats.map((seat, number) => describe(seat, number)));
  $("people-list").hidden = persons < 2 && !people.can_invite;
  const others = people.spectators;
  $("lookers").textContent = others ? `${others} ${others === 1 ? "person looks" : "people look"} on; they see no hidden cards.` : "";
  $("invite-spectators").hidden = !people.can_invite;
  $("watch-link").replaceChildren(...(people.watch ? ["to look on: ", el("a", { href: people.watch }, new URL(at(people.watch), location.href).href)] : []));
  $("withdraw").hidden = !people.watch;
  $("take-back").hidden = !people.can_take_back;
  $("taken-back").textContent = people.taken_back
    ? `A copy: ${people.taken_back} ${people.taken_back === 1 ? "decision was" : "decisions were"} taken back on the way to it. Its record says so.` : "";
  $("take-back-help").hidden = !people.can_take_back;
  $("rematch").hidden = !people.can_rematch || people.rematch !== null;
  $("rematch-link").hidden = people.rematch === null;
  if (people.rematch) $("rematch-link").href = at(people.rematch);
  $("name-card").hidden = persons < 2;
  if (!$("name-card").open) {
    $("my-name").value = people.name || storedName();
    $("in-record").checked = people.in_record;
  }
  clearTimeout(timer);
  const now = Date.now() / 1000;
  const next = Math.min(...people.seats.filter((seat) => people.owner && !seat.is_here && seat.replaceable_at > now).map((seat) => seat.replaceable_at - now));
  if (Number.isFinite(next)) timer = setTimeout(refresh, 1000 * Math.min(next + 0.5, LONGEST_WAIT));
}

function describe(seat, number) {
  const state = seat.is_agent ? (seat.person ? `plays for ${seat.person}${seat.is_here ? ", who is here" : ""}` : "")
    : seat.is_free ? "free: nobody has taken it" : seat.is_here ? "here" : seat.seen ? `away since ${when(seat.seen)}` : "not here yet";
  const buttons = [];
  if (seat.can_be_replaced) buttons.push(replacing(number));
  if (seat.can_be_opened) {
    buttons.push(el("button", { type: "button", class: "quiet", onclick: () => post(`people/${number}`, {}) },
      seat.person ? `give the seat back to ${seat.person}` : "let a person play this seat"));
  }
  return el("li", { class: seat.is_here ? "here" : null }, el("span", { class: `dot seat-${number}`, "aria-hidden": "true" }),
    el("span", {}, `seat ${number + 1} `, el("b", {}, seat.is_free ? "" : seat.name), " ", seat.is_agent ? el("span", { class: "mark" }, "agent") : null,
      " ", el("span", { class: "small" }, state)), ...buttons);
}

function replacing(number) {
  const select = el("select", { "aria-label": `agent for seat ${number + 1}` });
  const fill = async () => {
    agents ??= (await ask("/api/options")).agents;
    select.replaceChildren(...agents.map((one) => el("option", { value: one.name, selected: one.name === "greedy" }, one.name)));
  };
  fill().catch((error) => note(error.message));
  return el("span", { class: "row" }, select,
    el("button", { type: "button", onclick: () => post(`people/${number}`, { agent: select.value }) }, "let it play on"));
}

// ---- one screen for several ----

/** Show who is to take the device instead of the table; nothing of any hand is in the page. */
export function cover(curtain) {
  document.title = "Fifth Avenue";
  $("curtain-title").textContent = `Pass the device to ${curtain.name}`;
  $("curtain-text").textContent = `Seat ${curtain.seat + 1} is next. The cards are covered until ${curtain.name} is ready.`;
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
