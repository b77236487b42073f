// Tooltips: the thing under the pointer and the effect of a click; after a click on a part that
// can't be chosen, the reason with a link to the rule.
import { PARTS, meant } from "./board.js";
import { isLegal, say, whyNot } from "./choices.js";
import { $, ruleLink, the } from "./dom.js";
import { linked } from "./rules.js";
import { latest, onState } from "./seat.js";

const tip = the(".tip");
/** @type {number | null} */
let refused = null; // the step to which a refusal belongs, which stays until it is put away

function hide() {
  tip.hidden = true;
  tip.id = "";
  refused = null;
}

/** Put the tip above the pointer, or below where there is no room. */
function put({ clientX, clientY }) {
  const { offsetWidth: width, offsetHeight: height, style } = tip;
  const above = clientY - height - 14;
  style.left = `${Math.max(4, Math.min(clientX - width / 2, innerWidth - width - 4))}px`;
  style.top = `${above < 4 ? clientY + 18 : above}px`;
}

function show(event, text) {
  tip.hidden = !text;
  tip.textContent = text;
  if (text) put(event);
}

function refuse(event, text) {
  const { step, why_rules } = latest();
  refused = step;
  tip.hidden = false;
  tip.id = "refusal";
  tip.replaceChildren(...linked(text), " ", ruleLink(why_rules[text]) || "");
  put(event);
}

function hover(event) {
  const part = event.target.closest(PARTS);
  if (refused === null) show(event, part ? say(meant(part, isLegal)) : "");
}

/** Touch screens have no hover. */
function click(event) {
  hide();
  const part = event.target.closest(PARTS);
  if (!part || isLegal(meant(part, isLegal))) return;
  let other = part;
  while (other && !whyNot(other)) other = other.parentElement?.closest(PARTS);
  if (other) refuse(event, whyNot(other));
  else show(event, say(part));
}

export function setUpExplaining() {
  $("board").onclick = click;
  $("board").onpointermove = hover;
  $("board").onpointerleave = () => refused ?? hide();
  addEventListener("scroll", hide, { passive: true });
  addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  document.addEventListener("click", ({ target }) => {
    if (refused !== null && !$("board").contains(target) && !tip.contains(target)) hide();
  });
  onState(({ step }) => {
    if (refused !== null && step !== refused) hide();
  });
}
