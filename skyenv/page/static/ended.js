// After a whole game: what decided it, its analysis, and this browser's record against the agent.
import { send } from "./api.js";
import { $, el, leaveBy } from "./dom.js";
import { isTold } from "./events.js";
import { api, latest, note } from "./seat.js";
import { playedAgainst, recordOf } from "./settings.js";

/** Go to this game's replay; `place`: where in it, the rest of the address. */
function replay(button, place = "") {
  const ask = async () => ({ page: (await send(`${api}/replay`)).page + place });
  return leaveBy(button, ask, note);
}

const sentence = ({ step, text }) =>
  el("li", el("button.line", { onclick: ({ target }) => replay(target, `?step=${step}`) }, text));

/** Tell how the game went, once its scoring has been. */
export function showEnded() {
  const { ended, seat, people, watching } = latest();
  $("ended").hidden = $("analyse").hidden = !ended || !isTold();
  if (!ended || !isTold()) return;
  const others = people.seats.filter(({ agent }) => agent);
  const told = ended.sentences.map(sentence);
  if (!watching && others.length === 1 && people.seats.length === 2) {
    const [{ name, agent }] = others;
    playedAgainst(agent, api, ended.winners.includes(seat ?? -1) ? 1 / ended.winners.length : 0);
    told.push(el("li", `Your record against ${name}: ${recordOf(agent)}.`));
  }
  $("ended").replaceChildren(...told);
}

export function setUpEnded() {
  $("replay").onclick = () => replay($("replay"));
  $("analyse").onclick = () => replay($("analyse"), "#analyse");
}
