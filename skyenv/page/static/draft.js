// A bid that is laid together, on the drawing: its cards leave the hand and lie in the bidder's row
// of the auction.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 38,
  STEP = 26,
  ROOM = 128; // user units, as skyenv/render/panels.py draws cards on the table

/** A text whose words are for the time of a draft. */
function reword(text, words) {
  text.dataset.whole ??= text.textContent;
  text.textContent = words ?? text.dataset.whole;
}

function made(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
  element.append(...children);
  return element;
}

/** Cards that are laid down leave the hand. */
function thin(board, seat, tray) {
  for (const pile of board.querySelectorAll(`[data-card^="${seat}:"]`)) {
    const [, colour, rank] = pile.dataset.card.split(":").map(Number);
    const laid = tray?.count(colour, rank + 4) ?? 0;
    const many = [...pile.querySelectorAll("text")].find((text) =>
      (text.dataset.whole ?? text.textContent).startsWith("×"),
    );
    const all = many ? Number((many.dataset.whole ?? many.textContent).slice(1)) : 1;
    pile.classList.toggle("laid", laid === all);
    if (many) reword(many, laid ? (all - laid > 1 ? `×${all - laid}` : "") : null);
  }
}

/**
 * Show the cards of a tray in the auction's row of a seat; a click takes one back. Without a tray
 * all is as it was drawn.
 */
export function showDraft(board, seat, tray) {
  for (const old of board.querySelectorAll(".draft")) old.remove();
  thin(board, seat, tray);
  const rows = [...board.querySelectorAll('[data-part^="bidder"] > g')];
  const row = rows.find((one) =>
    one.querySelector("title")?.textContent.startsWith(`seat ${seat + 1}`),
  );
  if (!row) return;
  const texts = row.querySelectorAll(":scope > text"),
    cards = tray?.actions ?? [];
  const lie = row.querySelectorAll("[data-piece]").length;
  for (const text of texts) reword(text, cards.length ? "" : null);
  if (!cards.length) return;
  const width = row.querySelector("rect").width.baseVal.value;
  const step = Math.min(STEP, (width - ROOM) / Math.max(lie + cards.length - 1, 1));
  cards.forEach((action, i) => {
    const colour = Math.floor((action - 79) / 3),
      value = ((action - 79) % 3) + 4;
    const card = made(
      "g",
      {
        class: `draft suit-${colour}`,
        transform: `translate(${LEFT + STEP * lie + step * i} 6)`,
        "aria-hidden": "true",
      },
      made("rect", { width: 24, height: 34, rx: 4 }),
      made("text", { x: 12, y: 23, "text-anchor": "middle" }, `${value}`),
    );
    card.addEventListener("click", (event) => {
      event.stopPropagation();
      tray.add(colour, value, -1);
    });
    row.append(card);
  });
  row.append(
    made(
      "text",
      { class: "draft sum", x: width - 8, y: 30, "text-anchor": "end" },
      `${tray.bid.laid + tray.sum}`,
    ),
  );
}
