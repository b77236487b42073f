// The end of a game: its final scoring, step by step; before its last step nothing tells who has
// won.
import { el } from "./dom.js";
import { $ } from "./seat.js";

let left = null; // steps that haven't been shown; null: the game isn't over
let tell = () => {}; // what is done once all have been

/** Whether all steps of the final scoring have been shown. */
export const isTold = () => left?.length === 0;

/** Have `act()` called once they have. */
export const whenTold = (act) => {
  tell = act;
};

/** Have the drawing say the points that have been told so far. */
function score(scores) {
  for (const [seat, vp] of scores.entries()) {
    const text = [...$("board").querySelectorAll(`[data-part="seat ${seat + 1}"] text`)].find(
      (one) => /^\d+ VP$/.test(one.textContent),
    );
    if (text) text.textContent = `${vp} VP`;
  }
}

/** Show the end once it is there. */
export function showFinal(state) {
  $("finished").hidden = !state.over;
  $("choices").hidden = state.over;
  if (!state.over || left) return;
  left = [...state.final];
  const head = el(
    "thead",
    {},
    el(
      "tr",
      {},
      ...state.names.map((name, seat) =>
        el("th", { scope: "col", class: `seat-${seat}` }, `${seat + 1} ${name}`),
      ),
    ),
  );
  const table = el("table", { "aria-live": "polite" }, head);
  const step = () => {
    const one = left.shift();
    table.append(
      el(
        "tbody",
        {},
        el("tr", {}, el("th", { scope: "rowgroup", colspan: state.names.length }, one.text)),
        el(
          "tr",
          {},
          ...one.scores.map((vp, seat) =>
            el("td", {}, one.vp?.[seat] ? el("b", {}, `+${one.vp[seat]} `) : null, `${vp}`),
          ),
        ),
      ),
    );
    score(one.scores);
    more.hidden = rest.hidden = isTold();
    document.body.classList.toggle("scoring", !isTold());
    $("final").scrollTop = $("final").scrollHeight;
    if (isTold()) tell();
  };
  const more = el(
    "button",
    { type: "button", class: "primary", id: "final-next", onclick: step },
    "next step",
  );
  const rest = el(
    "button",
    {
      type: "button",
      id: "final-all",
      onclick: () => {
        while (left.length) step();
      },
    },
    "all of it",
  );
  $("final").replaceChildren(table);
  $("final-steps").replaceChildren(more, rest);
  if (left.length) step();
}
