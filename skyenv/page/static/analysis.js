// What stands beside a replay's board: agents that are asked, and what they say on the board itself.
import { PARTS, actionOf } from "./board.js";
import { ask, el, hintList } from "./dom.js";

const MOST_BADGES = 12;
const MOVES = 60, PLACES = 9, DISTRICTS = 7;

/** A number as agents say how sure they are of a choice. */
const sureText = (kind, sure) => (kind === "probability" ? `${(100 * sure).toFixed(sure < 0.095 ? 1 : 0)} %` : sure.toFixed(1).replace("-", "−"));

/** All sections; `place`: addresses of the interface, the names of agents, which one to begin with, and who is told of another one. */
export function tools(viewer, place) {
  if (!place.agents.length) return [];
  return [asking(viewer, place)];
}

// ---- agents asked at a step, side by side, and on the board ----

function asking(viewer, { api, agents, agent, noted }) {
  const badges = el("div", { class: "badges", id: "badges", "aria-hidden": "true" });  // the list says the same
  viewer.over.append(badges);
  const chooser = (number) => el("select", { id: number ? `adviser-${number}` : "adviser", "aria-label": number ? `agent ${number + 1}` : "agent",
    onchange: () => { if (!number) noted(agents.includes(first.value) ? first.value : null); if (always.checked) go(); } },
    number ? el("option", { value: "" }, "nobody else") : null,
    ...agents.map((name) => el("option", { selected: !number && name === agent }, name)));
  const [first, second, third] = [0, 1, 2].map(chooser);
  const always = el("input", { type: "checkbox", id: "always", onchange: () => { if (always.checked) go(); } });
  const button = el("button", { type: "button", id: "ask", class: "primary", onclick: go }, "what would they do here?");
  const answers = el("div", { id: "hint", class: "answers", "aria-live": "polite" });
  let shown = null;  // the step that is answered

  async function go() {
    const step = shown = viewer.step;
    const names = [...new Set([first, second, third].map((one) => one.value).filter(Boolean))];
    const holders = names.map((name) => el("div", { class: "answer" }, el("p", { class: "small" }, `${name} is thinking …`)));
    badges.replaceChildren();
    answers.replaceChildren(...holders);
    await Promise.all(names.map(async (name, index) => {
      try {
        const answer = await ask(`${api}/${step}/hint?agent=${encodeURIComponent(name)}`);
        if (step !== shown || step !== viewer.step) return;
        holders[index].replaceChildren(hintList(answer));
        if (index === 0) showBadges(viewer, badges, answer);
      } catch (error) {
        holders[index].replaceChildren(el("p", { class: "note" }, error.message));
      }
    }));
  }

  viewer.follow((step) => {
    if (step === shown) return;
    shown = null;
    answers.replaceChildren();
    badges.replaceChildren();
    if (always.checked && step < viewer.game.steps) go();
  });
  return el("section", { id: "asking" }, el("h2", {}, "Ask agents"),
    el("p", { class: "row" }, first, second, third), el("p", { class: "row" }, button, el("label", { class: "check" }, always, " at every step")),
    el("p", { class: "small" }, "Each is asked from the view of the seat to act. Numbers on the board are the first one's."), answers);
}

/** What an action is on the drawing: the element, and what to call it if the element is more than that. */
function elementOf(board, seat) {
  const parts = new Map();
  for (const part of board.querySelectorAll(PARTS)) {
    const action = actionOf(part, seat);
    if (action !== null && !parts.has(action)) parts.set(action, { part, word: "" });
  }
  return (action) => {
    const found = parts.get(action);
    if (found || action < MOVES || action >= MOVES + 2 * PLACES) return found;
    const [who, place] = [Math.floor((action - MOVES) / PLACES), (action - MOVES) % PLACES];
    const part = place < DISTRICTS ? board.querySelector(`[data-district="${place}"]`) : null;
    return part && { part, word: who ? "beige " : "white " };
  };
}

/** An agent's numbers on the elements that its actions are. */
function showBadges(viewer, holder, answer) {
  const svg = viewer.board.querySelector("svg");
  if (!svg || answer.kind === "none") return;
  const all = svg.getBoundingClientRect();
  const find = elementOf(svg, answer.seat);
  const taken = new Map();  // moves of both commissioners may lead to one district
  const best = Object.entries(answer.sure).map(([action, sure]) => [Number(action), sure]).sort((a, b) => b[1] - a[1]);
  for (const [action, sure] of best.slice(0, MOST_BADGES)) {
    if (answer.kind === "probability" && sure < 0.005 && action !== answer.action) continue;
    const found = find(action);
    if (!found) continue;
    const box = found.part.getBoundingClientRect();
    const row = taken.get(found.part) ?? 0;
    taken.set(found.part, row + 1);
    const [x, y] = [box.left + box.width / 2 - all.left, box.top + Math.min(box.height / 2, 22) - all.top + 24 * row];
    holder.append(el("span", { class: action === answer.action ? "badge best" : "badge", "data-badge": action,
      style: `left:${100 * x / all.width}%;top:${100 * y / all.height}%` }, found.word + sureText(answer.kind, sure)));
  }
}
