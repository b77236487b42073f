// A bid in preparation, on the drawing: its cards leave the hand and lie in the bidder's row of the
// auction.
import { $$ } from "./dom.js";
import { shape } from "./board.js";

const [LEFT, STEP, ROOM] = [38, 26, 128]; // user units, as skyenv/render/panels.py draws cards

/** A text whose words are for the time of a draft. */
function reword(text, words) {
  text.dataset.whole ??= text.textContent;
  text.textContent = words ?? text.dataset.whole;
}

/** Cards that are laid down leave the hand. */
function thin(board, seat, tray) {
  for (const pile of $$(`[data-card^="${seat}:"]`, board)) {
    const [, colour, rank] = pile.dataset.card.split(":").map(Number);
    const laid = tray?.count(colour, rank + 4) ?? 0;
    const wordsOf = (text) => text.dataset.whole ?? text.textContent;
    const many = $$("text", pile).find((text) => wordsOf(text).startsWith("×"));
    const all = many ? Number(wordsOf(many).slice(1)) : 1;
    pile.classList.toggle("laid", laid === all);
    if (many) reword(many, laid ? (all - laid > 1 ? `×${all - laid}` : "") : null);
  }
}

/**
 * Show the cards of a tray in the auction's row of a seat; a click takes one back. Without a tray
 * all is as it was drawn.
 */
export function showDraft(board, seat, tray) {
  for (const old of $$(".draft", board)) old.remove();
  thin(board, seat, tray);
  const rows = $$('[data-part^="bidder"] > g', board);
  const titleOf = (row) => row.querySelector("title")?.textContent ?? "";
  const row = rows.find((one) => titleOf(one).startsWith(`seat ${seat + 1}`));
  if (!row) return;
  const cards = tray?.actions ?? [];
  const lie = $$("[data-piece]", row).length;
  for (const text of $$(":scope > text", row)) reword(text, cards.length ? "" : null);
  if (!cards.length) return;
  const width = row.querySelector("rect").width.baseVal.value;
  const step = Math.min(STEP, (width - ROOM) / Math.max(lie + cards.length - 1, 1));
  for (const [i, action] of cards.entries()) {
    const [colour, value] = [Math.floor((action - 79) / 3), ((action - 79) % 3) + 4];
    const transform = `translate(${LEFT + STEP * lie + step * i} 6)`;
    const card = shape(
      "g",
      { class: `draft suit-${colour}`, transform, "aria-hidden": "true" },
      shape("rect", { width: 24, height: 34, rx: 4 }),
      shape("text", { x: 12, y: 23, "text-anchor": "middle" }, `${value}`),
    );
    card.addEventListener("click", (event) => {
      event.stopPropagation();
      tray.add(colour, value, -1);
    });
    row.append(card);
  }
  const sum = { class: "draft sum", x: width - 8, y: 30, "text-anchor": "end" };
  row.append(shape("text", sum, `${tray.bid.laid + tray.sum}`));
}
