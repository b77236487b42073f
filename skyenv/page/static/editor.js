// The position editor: a form of what can be changed during the setup and where a turn begins; what comes of it opens as a page of its own.
import { ask, el, leaveBy, send } from "./dom.js";

const VALUES = [4, 5, 6];
const BUSINESSES = ["boutique", "jeweller", "gallery", "perfumery"];
const PLACES = ["W34", "E34", "W42", "TSQ", "E42", "W52", "E52", "CENTRAL_PARK", "CITY_HALL"];
const ALEA = 4;

/** A number with − and +. */
function counter(label, value, most, changed) {
  const shown = el("output", {}, `${value}`);
  const step = (by) => {
    const next = Math.max(0, Math.min(most, Number(shown.textContent) + by));
    shown.textContent = next;
    changed(next);
  };
  const button = (text, what, by) => el("button", { type: "button", "aria-label": `${what} ${label}`, onclick: () => step(by) }, text);
  return el("span", { class: "counter", role: "group", "aria-label": label }, button("−", "less", -1), shown, button("+", "more", 1));
}

const COLOURS = ["green", "violet", "brown", "orange", "gray"];

const choice = (label, options, chosen, changed) => el("select", { "aria-label": label, onchange: (event) => changed(event.target.value) },
  ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));

/** The section; `api`: the game's address in the interface. */
export function editing(viewer, { api }) {
  const form = el("div", { id: "edit-form" });
  const whole = el("details", { id: "edit", ontoggle: () => show(viewer.step) }, el("summary", {}, el("h2", {}, "Edit this position")), form);
  let shown = null;  // the step that the form is of

  async function show(step) {
    if (!whole.open || shown === step) return;
    shown = step;
    try {
      const edit = await ask(`${api}/${step}/edit`);
      if (shown !== step) return;
      form.replaceChildren(...(edit.why ? [el("p", { class: "note" }, `Here it can't be: ${edit.why}.`)] : fields(edit, step)));
    } catch (error) {
      form.replaceChildren(el("p", { class: "note", role: "alert" }, error.message));
    }
  }

  function fields(edit, step) {
    const changed = new Map();  // plots
    const seats = edit.seats.map((one, seat) => seatFields(viewer.names[seat], one));
    const who = viewer.names.map((name, seat) => [seat, name]);
    const districts = Map.groupBy(edit.plots, (plot) => plot.name.split(" ")[0]);
    const boards = [...districts].map(([district, plots]) => el("details", {}, el("summary", {}, district),
      ...plots.map((plot) => plotFields(plot, who, viewer.names.length, () => changed.set(plot.name, plot)))));
    const trouble = el("p", { class: "note", role: "alert", id: "edit-trouble", hidden: true });
    const open = el("button", { type: "button", class: "primary", id: "edit-open", onclick: async () => {
      leaveBy(open);
      try {
        location.assign((await send(`${api}/${step}/edit`, { ...edit, why: undefined, possible: undefined, plots: [...changed.values()] })).page);
      } catch (error) {
        trouble.textContent = error.message;
        trouble.hidden = false;
        open.disabled = false;
      }
    } }, "look at the edited position");
    return [
      el("p", { class: "small" }, "Cards come from the stacks' face-down cards and go there, skyscrapers from the general supply. An edited position has no record: "
        + "look at it, ask agents, let them play it out."),
      edit.setup ? el("p", { class: "small" }, "The setup is under way: starting skyscrapers can be moved, whose turn it is and where the commissioners stand is fixed.")
        : el("p", { class: "row" }, el("span", {}, "turn of"), choice("whose turn it is", who, edit.turn, (value) => { edit.turn = Number(value); })),
      ...(edit.setup ? [] : ["white", "beige"].map((name, which) => commissionerFields(edit, name, which))),
      ...seats, stackFields(edit), rowFields(edit), ...(edit.setup ? [] : [parkFields(edit, viewer.names)]),
      el("h3", {}, "Plots"), ...boards, trouble, el("p", {}, open),
    ];
  }

  viewer.follow(show);
  return whole;
}

const placeName = (place) => place.replace("_", " ").toLowerCase().replace(/^([we]\d\d|tsq)$/, (text) => text.toUpperCase());

/** Where a commissioner stands, and by which way it came, on which its markers lie. */
function commissionerFields(edit, name, which) {
  const way = el("select", { "aria-label": `markers of the ${name} commissioner`, onchange: () => { edit.ways[which] = possible()[way.selectedIndex]; } });
  const possible = () => edit.possible[edit.places[which]];
  const fill = () => {
    const now = possible().findIndex((one) => one.join() === edit.ways[which].join());
    edit.ways[which] = possible()[Math.max(0, now)];
    way.replaceChildren(...possible().map((one, index) => el("option", { selected: index === Math.max(0, now) }, one.join(", ") || "on no district")));
    way.disabled = possible().length < 2;
  };
  fill();
  return el("p", { class: "row" }, el("span", {}, `${name} commissioner`),
    choice(`place of the ${name} commissioner`, PLACES.map((place) => [place, placeName(place)]), edit.places[which], (value) => { edit.places[which] = value; fill(); }),
    el("span", {}, "markers"), way);
}

/** The visible cards of the coloured stacks. */
function stackFields(edit) {
  const field = (colour, index) => (edit.tops[index] === null ? el("span", {}, `${colour}: no card`) : el("label", { class: "row" }, colour,
    choice(`visible ${colour} card`, VALUES.map((value) => [value, `${value}`]), edit.tops[index], (value) => { edit.tops[index] = Number(value); })));
  return el("details", {}, el("summary", {}, "Visible cards"), el("div", { class: "row" }, ...COLOURS.map(field)));
}

/** The businesses that still lie in the supply row. */
function rowFields(edit) {
  const field = (business, space) => (business === null ? null : choice(`space ${space + 1} of the supply row`, BUSINESSES.map((one) => [one, one]), business,
    (value) => { edit.row[space] = value; }));
  return el("details", {}, el("summary", {}, "Supply row"), el("div", { class: "row" }, ...edit.row.map(field).filter(Boolean)));
}

/** Skyscrapers and businesses in the park area. */
function parkFields(edit, names) {
  const own = edit.seats.map((one, seat) => el("p", { class: "row" }, `skyscrapers of ${names[seat]}`,
    counter(`skyscrapers of ${names[seat]} in the park area`, one.park, 18, (next) => { one.park = next; })));
  const tiles = BUSINESSES.map((business) => el("p", { class: "row" }, business,
    counter(`${business} in the park area`, edit.park_tiles[business], 9, (next) => { edit.park_tiles[business] = next; })));
  return el("details", {}, el("summary", {}, "Park area"), ...own, ...tiles);
}

function seatFields(name, one) {
  const row = ([colour, numbers]) => el("tr", {}, el("th", { scope: "row" }, colour), ...numbers.map((number, rank) => el("td", {},
    counter(`${colour} ${VALUES[rank]}s of ${name}`, number, 20, (next) => { numbers[rank] = next; }))));
  return el("details", {}, el("summary", {}, name),
    el("p", { class: "row" }, "VP", counter(`VP of ${name}`, one.vp, 999, (next) => { one.vp = next; }),
      "supply", counter(`supply of ${name}`, one.supply, 17, (next) => { one.supply = next; })),
    el("table", {}, el("thead", {}, el("tr", {}, ...["cards", ...VALUES].map((text) => el("th", { scope: "col" }, `${text}`)))),
      el("tbody", {}, ...Object.entries(one.hand).map(row))));
}

function plotFields(plot, who, players, note) {
  const kinds = [["", "nothing"], ...BUSINESSES.map((one) => [one, one])];
  const tile = (index) => choice(`business ${index + 1} on ${plot.name}`, kinds, plot.businesses[index] ?? "", (value) => {
    tiles[index] = value;
    plot.businesses = tiles.filter(Boolean);
    note();
  });
  const tiles = [plot.businesses[0] ?? "", plot.businesses[1] ?? ""];
  const owners = [["", "nobody"], ...who, ...(players === 2 ? [[ALEA, "Alea"]] : [])];
  const built = plot.name.endsWith("sixth") ? [] : [
    choice(`owner of ${plot.name}`, owners, plot.owner ?? "", (value) => { plot.owner = value === "" ? null : Number(value); note(); }),
    counter(`skyscrapers on ${plot.name}`, plot.floors, 18, (next) => { plot.floors = next; note(); })];
  return el("fieldset", { class: "plot" }, el("legend", {}, plot.name), tile(0), tile(1), ...built);
}
