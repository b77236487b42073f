// The final scoring of a game, step by step; before the last step nothing on the page tells who
// has won.
import { $$, $, el, signed, table } from "./dom.js";

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
    const texts = $$(`[data-part="seat ${seat + 1}"] text`, $("board"));
    const text = texts.find((one) => /^\d+ VP$/.test(one.textContent));
    if (text) text.textContent = `${vp} VP`;
  }
}

/** Show the end once it is there. */
export function showFinal(state) {
  $("finished").hidden = !state.over;
  $("choices").hidden = state.over;
  if (!state.over || left) return;
  left = [...state.final];
  if (state.task) $("finished").querySelector("h2").textContent = "Task payoffs";
  const head = (name, seat) => el(`th.seat-${seat}`, { scope: "col" }, `${seat + 1} ${name}`);
  const shown = table("table", state.names.map(head), []);
  shown.ariaLive = "polite";
  const step = () => {
    const one = left.shift();
    const cell = (vp, seat) =>
      el("td", one.vp?.[seat] > 0 && el("b", `+${one.vp[seat]} `), `${vp}`);
    const pays = (vp) => el("td", el("b", (vp > 0 ? "+" : "") + signed(vp)));
    const what = { scope: "rowgroup", colspan: state.names.length };
    shown.append(
      el(
        "tbody",
        el("tr", el("th", what, one.text)),
        el("tr", one.pays?.map(pays) ?? one.scores.map(cell)),
      ),
    );
    score(one.scores);
    more.hidden = rest.hidden = isTold();
    document.body.classList.toggle("scoring", !isTold());
    $("final").scrollTop = $("final").scrollHeight;
    if (isTold()) tell();
  };
  const more = el("button#final-next.primary", { onclick: step }, "next step");
  const all = () => {
    while (left.length) step();
  };
  const rest = el("button#final-all", { onclick: all }, "show all");
  $("final").replaceChildren(shown);
  $("final-steps").replaceChildren(more, rest);
  if (left.length) step();
}
