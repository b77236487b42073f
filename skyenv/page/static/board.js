// The drawing of the table, put into the page: what can be clicked, and what is said about the rest.

export const PARTS = "[data-district],[data-plot],[data-stack],[data-place],[data-commissioner],[data-card],[data-row-type]";

/** The number of the action that an element of the drawing stands for, legal or not; null if there is none. */
export function actionOf(part, seat) {
  const data = part.dataset;
  if (data.action !== undefined) return Number(data.action);
  const numbers = (text) => text.split(":").map(Number);
  if (data.plot) { const [district, plot] = numbers(data.plot); return 13 + 6 * district + plot; }
  if (data.district) return 6 + Number(data.district);
  if (data.stack) return Number(data.stack) < 5 ? 55 + Number(data.stack) : null;
  if (data.place) { const [who, place] = numbers(data.place); return 60 + 9 * who + place; }
  if (data.card) { const [whose, colour, rank] = numbers(data.card); return whose === seat ? 79 + 3 * colour + rank : null; }
  if (data.rowType) return 1 + Number(data.rowType);
  return null;
}

/** Whether drawings should stand upright. */
export const isNarrow = () => innerWidth < 700;

const shown = new WeakMap();
const keyOf = (part) => Object.entries({ ...part.dataset }).filter(([name]) => name !== "action").join();

/**
 * Show a drawing in `holder`.
 *
 * Without `play` nothing can be clicked. `play(part)` is called for clicks on any part; `legal(part)` tells which react.
 */
export function showBoard(holder, text, play = null, legal = () => false) {
  if (shown.get(holder) === text) return;  // lest something is made anew while somebody clicks it
  shown.set(holder, text);
  const focused = holder.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  holder.innerHTML = text;  // made by the drawing's own code, which escapes all names
  const svg = holder.querySelector("svg");
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  if (play) svg.setAttribute("role", "group");  // an image's parts can't be reached by screen readers
  for (const part of svg.querySelectorAll(PARTS)) {
    const title = part.querySelector(":scope > title");
    if (title) {  // as a label: the page has its own tooltip, which says more
      part.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    if (!play || !legal(part)) continue;
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", "0");
    part.classList.add("legal");
    if (focused !== null && keyOf(part) === focused) part.focus();
  }
  if (!play) return;
  svg.addEventListener("click", (event) => {
    const part = event.target.closest(PARTS);
    if (part) play(meant(part, legal), event);
  });
  svg.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches(PARTS)) {
      event.preventDefault();
      play(event.target, event);
    }
  });
}

/** A plot lies in its district: the innermost part that is legal is meant, or else the innermost. */
function meant(part, legal) {
  for (let outer = part; outer; outer = outer.parentElement?.closest(PARTS)) if (legal(outer)) return outer;
  return part;
}

/** Say what lies under the pointer: `say(part)` gives the text, or "" for nothing. */
export function explainBoard(holder, say, legal) {
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const show = (event) => {
    const part = event.target.closest?.(PARTS);
    const text = part && holder.contains(part) ? say(meant(part, legal)) : "";
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    const above = event.clientY - height - 14;
    tip.style.left = `${Math.max(4, Math.min(event.clientX - width / 2, innerWidth - width - 4))}px`;
    tip.style.top = `${above < 4 ? event.clientY + 18 : above}px`;
  };
  holder.addEventListener("pointermove", show);
  holder.addEventListener("click", (event) => {  // a finger doesn't hover
    const part = event.target.closest?.(PARTS);
    if (part && !legal(meant(part, legal))) show(event);
    else tip.hidden = true;
  });
  holder.addEventListener("pointerleave", () => { tip.hidden = true; });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
}
