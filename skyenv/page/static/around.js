// The surroundings of a drawing: text in its empty area; on small screens the cards in a
// line.
import { $$, el } from "./dom.js";
import { LOWEST_CARD } from "./game.js";

/** Whether the whole drawing can't be read on this screen at once. */
export const isSmall = matchMedia(
  "(max-width: 699px), (max-height: 560px), (max-width: 860px) and (orientation: landscape)",
);

const GAP = 0.012; // of the drawing's height, between what is drawn and what stands beside it
export const boxOf = (part) => part.getBoundingClientRect();
const ofWhole = (length, of) => `${100 * Math.max(0, length / of)}%`;

/** Place a part in the empty area of a wide drawing; an upright one has none. */
export function fitHole(hole, board) {
  const svg = board.querySelector("svg");
  const [whole, city] = [svg, svg.querySelector('[data-part="city"]')].map(boxOf);
  // their frames: cards that slide into a part make its own box larger
  const parts = $$(":scope > g > [data-part] > rect:first-child", svg).map(boxOf);
  const beside = parts.filter(({ left, top }) => left >= city.right && top < city.bottom);
  const right = Math.max(...beside.map((box) => box.right));
  const bottom = Math.max(...beside.map((box) => box.bottom));
  const gap = GAP * whole.height;
  const inset = [
    ofWhole(bottom - whole.top + gap, whole.height),
    ofWhole(whole.right - right, whole.width),
    ofWhole(whole.bottom - city.bottom, whole.height),
    ofWhole(city.right - whole.left + gap, whole.width),
  ];
  hole.style.setProperty("--inset", beside.length ? inset.join(" ") : "auto");
}

/** The number of a hand's equal cards, which lie in one pile. */
export const copiesOf = (pile) => Number(pile.querySelector("[data-copies]")?.dataset.copies ?? 1);

/** The cards that a selector names on the drawing, in a line behind a name; "" without cards. */
function lineOf(name, selector, board) {
  const chips = $$(selector, board).map((pile) => {
    const { card, stack } = pile.dataset;
    if (!card) {
      const value = pile.querySelector("[data-value]")?.dataset.value ?? "?";
      return el(`span.suit.suit-${stack}`, value);
    }
    const [, colour, rank] = card.split(":").map(Number);
    const copies = copiesOf(pile);
    return el(`span.suit.suit-${colour}`, `${rank + LOWEST_CARD}${copies > 1 ? `×${copies}` : ""}`);
  });
  return chips.length ? el("span", el("b", name), chips) : "";
}

/** The open cards of a seat's hand, and those of the stacks. */
export const handLine = (name, seat, board) => lineOf(name, `[data-card^="${seat}:"]`, board);
export const stackLine = (board) => lineOf("stacks", "[data-stack]:not([data-stack='5'])", board);
