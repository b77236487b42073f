// Why something on the table can't be chosen, with a link to the rule: shown where it was clicked.
import { PARTS } from "./board.js";
import { isLegal, whyNot } from "./choices.js";
import { el, ruleLink } from "./dom.js";
import { $, onState, seat } from "./seat.js";
import { linked } from "./terms.js";

let shown = null;
let at = null; // the step to which it belongs

function hide() {
  if (!shown) return;
  shown.remove();
  shown = null;
  document.body.classList.remove("refused");
  document.querySelector(".tip")?.setAttribute("hidden", "");
}

function show(event) {
  hide();
  let part = event.target.closest?.(PARTS);
  for (let outer = part; outer; outer = outer.parentElement?.closest(PARTS))
    if (isLegal(outer)) return; // the outer one is meant
  while (part && !whyNot(part)) part = part.parentElement?.closest(PARTS);
  if (!part) return;
  const text = whyNot(part);
  at = seat.state.step;
  shown = document.body.appendChild(
    el(
      "p",
      { class: "refusal", id: "refusal", role: "status" },
      ...linked(text),
      " ",
      ruleLink(seat.state.why_rules[text]),
    ),
  );
  document.body.classList.add("refused"); // the tooltip says the same
  const { offsetWidth: width, offsetHeight: height } = shown;
  shown.style.left = `${Math.max(4, Math.min(event.clientX - width / 2, innerWidth - width - 4))}px`;
  shown.style.top = `${event.clientY - height - 14 < 4 ? event.clientY + 18 : event.clientY - height - 14}px`;
}

/** Tell refusals from now on. */
export function setUpRefusals() {
  $("board").addEventListener("click", show);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("scroll", hide, { passive: true });
  document.addEventListener("click", (event) => {
    if (shown && !$("board").contains(event.target) && !shown.contains(event.target)) hide();
  });
  onState((state) => {
    if (state.step !== at) hide();
  });
}
