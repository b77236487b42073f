// The drawing of the table, updated part by part: clickable parts, labels, moving pieces.
import { $$, shape } from "./dom.js";
import { kept } from "./settings.js";

/** The parts that can be clicked or have a tooltip. */
export const PARTS = ["district", "plot", "stack", "place", "commissioner", "card", "row-type"]
  .map((name) => `[data-${name}]`)
  .join();

// ---- drawings ----

/**
 * The digests of a drawing (null at the beginning): its parts by name, each [digest, SVG text]. The
 * text names other parts by `data-part`, and "table" holds all others (skyenv/render/parts.py).
 */
export const digestsOf = (drawing) =>
  Object.values(drawing ?? {})
    .map(([digest]) => digest)
    .join("");

/** Whether drawings stand upright: the text of wide ones would be too small here. */
export const isUpright = matchMedia("(max-width: 1262px) and (orientation: portrait)");

// ---- clickable parts ----

/**
 * The numbers of the actions that choosing an element of the drawing can mean, legal or not; a
 * card's are its owner's.
 */
export const actionsOf = ({ dataset }, seat) =>
  !dataset.action || (dataset.card && Number(dataset.card[0]) !== seat)
    ? []
    : dataset.action.split(" ").map(Number);

// ---- display ----

const boards = new WeakMap(); // by their holders
const keyOf = (part) =>
  part
    .getAttributeNames()
    .filter((name) => name.startsWith("data-") && name !== "data-action")
    .map((name) => `${name}=${part.getAttribute(name)}`)
    .join();

/**
 * Show a drawing in `holder`: parts that are there already stay as they are; pieces that have
 * another place move there.
 *
 * Without `play` nothing can be clicked. `play(part)` is called for clicks on any part;
 * `legal(part)` tells which react.
 * @param {Play | null} play
 */
export function showBoard(holder, drawing, play = null, legal = (_part) => false) {
  const board = boards.get(holder) ?? begun(holder);
  if (!holder.querySelector("svg")) {
    board.slots.clear();
    board.placed = null;
  }
  const isFirst = board.slots.size === 0;
  const changed = Object.keys(drawing).some(
    (name) => drawing[name][0] !== board.slots.get(name)?.digest,
  );
  Object.assign(board, { play, legal });
  holder.classList.toggle("knows", kept("knows") !== null); // its legends are tooltips
  const refocus = focused(holder);
  if (changed) redraw(board, drawing, holder, isFirst);
  if (markLegal(holder) || changed)
    for (const part of $$(".faded", holder)) part.classList.remove("faded");
  refocus();
}

/** A function that restores the focus after a redraw. */
function focused(holder) {
  const active = document.activeElement;
  const key = holder.contains(active) ? keyOf(active) : null;
  return () => {
    if (key === null || document.activeElement === active) return;
    $$('[role="button"]', holder)
      .find((one) => keyOf(one) === key)
      ?.focus({ preventScroll: true });
  };
}

function redraw(board, drawing, holder, isFirst) {
  land(board);
  // measuring costs a layout
  const before = isFirst ? null : (board.placed ?? pieces(holder));
  const isNew = board.slots.get("table")?.digest !== drawing.table[0];
  fill(board, drawing, holder, "table");
  if (isNew) setUp(holder.querySelector("svg"), board.play);
  holder
    .querySelector("svg")
    .setAttribute("aria-label", board.slots.get("title").place.textContent);
  if (before) move(board, holder, before);
}

function begun(holder) {
  /** @type {Board} */
  const board = { slots: new Map(), flights: [], placed: null, play: null, legal: () => false };
  boards.set(holder, board);
  holder.addEventListener("click", (event) => {
    const part = event.target.closest(PARTS);
    if (part && board.play) board.play(meant(part, board.legal), event);
  });
  holder.addEventListener("keydown", (event) => {
    if (board.play && (event.key === "Enter" || event.key === " ") && event.target.matches(PARTS)) {
      event.preventDefault();
      board.play(event.target, event);
    }
  });
  return board;
}

/** Bring a part and those in it into their places. What hasn't changed keeps its elements. */
function fill(board, drawing, place, name) {
  const [digest, text] = drawing[name];
  const old = board.slots.get(name);
  let inner = old?.inner;
  if (old?.digest !== digest) {
    const made = shape("g");
    made.innerHTML = text; // made by the drawing's own code, which escapes all names
    inner = $$("[data-part]", made);
    label(made);
    place.replaceChildren(...made.childNodes);
  } else if (old.place !== place) place.replaceChildren(...old.place.childNodes);
  board.slots.set(name, { digest, place, inner });
  for (const slot of inner) fill(board, drawing, slot, slot.dataset.part);
}

/** Turn titles into labels: the page has its own tooltip, which says more. */
function label(root) {
  for (const part of $$(PARTS, root)) {
    const title = part.querySelector(":scope > title");
    if (!title) continue;
    part.setAttribute("role", "group"); // without a role nothing can have a label
    part.setAttribute("aria-label", title.textContent);
    title.remove();
  }
}

function setUp(svg, play) {
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  crop(svg);
  // an image's parts can't be reached by screen readers
  if (play) svg.setAttribute("role", "group");
}

const MARGIN = 12; // user units that are cut off at each side: the page has its own margins

/** Crop the headline, which the page shows, and give style sheets the shape of the rest. */
function crop(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const top =
    svg.querySelector('[data-part="city"]').closest("svg > g").transform.baseVal.consolidate()
      .matrix.f - 6;
  const [left, high] = [width - 2 * MARGIN, height - top - MARGIN];
  svg.setAttribute("viewBox", `${MARGIN} ${top} ${left} ${high}`);
  // style sheets keep it in the window
  document.documentElement.style.setProperty("--ratio", `${left / high}`);
}

/** Make legal parts buttons; returns whether any part's role has changed. */
export function markLegal(holder) {
  const { play, legal } = boards.get(holder);
  let changed = false;
  for (const part of $$(PARTS, holder)) {
    const can = play !== null && legal(part);
    if (can === (part.getAttribute("role") === "button")) continue;
    changed = true;
    part.setAttribute("role", can ? "button" : "group");
    if (can) part.setAttribute("tabindex", "0");
    else part.removeAttribute("tabindex");
    part.classList.toggle("legal", can);
    if (!part.classList.length) part.removeAttribute("class");
  }
  return changed;
}

/**
 * A plot lies in its district: the innermost part that is legal is meant, or else the innermost.
 */
export function meant(part, legal) {
  for (let outer = part; outer; outer = outer.parentElement?.closest(PARTS))
    if (legal(outer)) return outer;
  return part;
}

// ---- animation ----

const MOVING = 380; // milliseconds
export const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
const SMALL = 0.5; // user units: less is no move

/**
 * The positions of the pieces: numbers by place and kind, and the box of each element in the
 * drawing's units.
 */
function pieces(holder) {
  const svg = holder.querySelector("svg");
  const found = new Map();
  const toUnits = svg.getScreenCTM()?.inverse();
  if (!toUnits || isCalm.matches) return found;
  for (const element of $$("[data-piece]", svg)) {
    const key = `${element.closest("[data-part]")?.dataset.part}|${element.dataset.piece}`;
    const box = element.getBoundingClientRect();
    const corner = new DOMPoint(box.left, box.top).matrixTransform(toUnits),
      far = new DOMPoint(box.right, box.bottom).matrixTransform(toUnits);
    const one = {
      element,
      x: (corner.x + far.x) / 2,
      y: (corner.y + far.y) / 2,
      height: far.y - corner.y,
    };
    const [kind] = element.dataset.piece.split(":");
    const group = found.get(key) ?? { kind, count: 0, elements: [] };
    group.count += Number(element.dataset.count ?? 1);
    group.elements.push(one);
    found.set(key, group);
  }
  return found;
}

/** Have pieces measured again. */
export const remeasure = (holder) => {
  boards.get(holder).placed = null;
};

/** Animate pieces to places that have more now, from those that have fewer. */
function move(board, holder, before) {
  const after = (board.placed = pieces(holder));
  const lost = new Map(); // by kind: boxes from which pieces have gone
  for (const [key, { kind, count, elements }] of before) {
    for (let i = after.get(key)?.count ?? 0; i < count; i++) {
      if (!lost.has(kind)) lost.set(kind, []);
      lost.get(kind).push(elements[Math.min(i, elements.length - 1)]);
    }
  }
  for (const [key, { kind, count, elements }] of after) {
    const had = before.get(key)?.count ?? 0;
    for (let i = had; i < count; i++) {
      const from = lost.get(kind)?.shift();
      if (from) fly(board, holder, from, elements[Math.min(i, elements.length - 1)]);
    }
  }
}

/** Move a copy of a piece from a box to its own, above all else; the piece is hidden then. */
function fly(board, holder, from, to) {
  if (Math.hypot(from.x - to.x, from.y - to.y) < SMALL) return;
  const svg = holder.querySelector("svg");
  const likeness = to.element.cloneNode(true);
  const matrix = svg.getScreenCTM().inverse().multiply(to.element.parentNode.getScreenCTM());
  const { a, b, c, d, e, f } = matrix;
  const set = shape("g", { transform: `matrix(${a} ${b} ${c} ${d} ${e} ${f})` }, likeness);
  const flying = shape("g", { class: "flying", "aria-hidden": "true" }, set);
  likeness.removeAttribute("data-piece");
  for (const part of $$(PARTS, flying)) {
    for (const name of Object.keys(part.dataset)) delete part.dataset[name];
  }
  svg.append(flying);
  const scale = from.height / (to.height || 1);
  flying.style.transformOrigin = `${to.x}px ${to.y}px`;
  const way = [
    { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(${scale})` },
    { transform: "none" },
  ];
  const flight = flying.animate(way, { duration: MOVING, easing: "ease-in-out" });
  const veil = to.element.animate([{ opacity: 0 }, { opacity: 0 }], { duration: MOVING });
  flight.onfinish = () => flying.remove();
  board.flights.push({ flight, veil, flying });
}

function land(board) {
  for (const { flight, veil, flying } of board.flights.splice(0)) {
    flight.cancel();
    veil.cancel();
    flying.remove();
  }
}
