// The end of a game: its final scoring, step by step.
import { el } from "./dom.js";
import { $ } from "./seat.js";

/** Show the end once it is there. */
export function showFinal(state) {
  $("finished").hidden = !state.over;
  $("choices").hidden = state.over;
  if (!state.over || $("final").dataset.shown) return;
  $("final").dataset.shown = "yes";
  const head = el("thead", {}, el("tr", {}, ...state.names.map((name, seat) => el("th", { scope: "col", class: `seat-${seat}` }, `${seat + 1} ${name}`))));
  const table = el("table", { "aria-live": "polite" }, head);
  let next = 0;
  const step = () => {
    const one = state.final[next++];
    table.append(el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", colspan: state.names.length }, one.text)),
      el("tr", {}, ...one.scores.map((score, seat) => el("td", {}, one.vp?.[seat] ? el("b", {}, `+${one.vp[seat]} `) : null, `${score}`)))));
    more.hidden = rest.hidden = next >= state.final.length;
    $("final").scrollTop = $("final").scrollHeight;
  };
  const more = el("button", { type: "button", class: "primary", id: "final-next", onclick: step }, "next step");
  const rest = el("button", { type: "button", id: "final-all", onclick: () => { while (next < state.final.length) step(); } }, "all of it");
  $("final").replaceChildren(table);
  $("final-steps").replaceChildren(more, rest);
  if (state.final.length) step();
}
