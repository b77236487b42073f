// What stands beside a replay's board: agents that are asked, and what they say on the board itself.
import { PARTS, actionOf } from "./board.js";
import { ask, at, el, hintList, leaveBy, onReturn, send, theme } from "./dom.js";
import { think } from "./thinking.js";

const MOST_BADGES = 12;
const MOVES = 60, PLACES = 9, DISTRICTS = 7;

/** A number as agents say how sure they are of a choice. */
const sureText = (kind, sure) => (kind === "probability" ? `${(100 * sure).toFixed(sure < 0.095 ? 1 : 0)} %` : sure.toFixed(1).replace("-", "−"));

/**
 * All sections, `beside` the board and `below` the chart; `place`: addresses of the interface, the names of agents, what the address says.
 */
export function tools(viewer, place) {
  return { beside: [asking, chances, playOn, takeAway].map((make) => make(viewer, place)), below: [analysis(viewer, place)] };
}

// ---- agents asked at a step, side by side, and on the board ----

function asking(viewer, place) {
  const { api, agents, agent, noted } = place;
  const badges = el("div", { class: "badges", id: "badges", "aria-hidden": "true" });  // the list says the same
  viewer.over.append(badges);
  const chooser = (number) => el("select", { id: number ? `adviser-${number}` : "adviser", "aria-label": number ? `agent ${number + 1}` : "agent",
    onchange: () => { if (!number) noted({ agent: agents.includes(first.value) ? first.value : null }); if (always.checked) go(); } },
    number ? el("option", { value: "" }, "nobody else") : null,
    ...agents.map((name) => el("option", { selected: !number && name === agent }, name)));
  const [first, second, third] = [0, 1, 2].map(chooser);
  const always = el("input", { type: "checkbox", id: "always", onchange: () => { if (always.checked) go(); } });
  const button = el("button", { type: "button", id: "ask", class: "primary", onclick: go }, "what would they do here?");
  const answers = el("div", { id: "hint", class: "answers", "aria-live": "polite" });
  let shown = null;  // the step that is answered
  let asked = null;  // stops those that are thinking

  async function go() {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    const step = shown = viewer.step;
    const names = [...new Set([first, second, third].map((one) => one.value).filter(Boolean))];
    const holders = names.map(() => el("div", { class: "answer" }));
    badges.replaceChildren();
    answers.replaceChildren(...holders);
    await Promise.all(names.map(async (name, index) => {
      try {
        const show = (answer) => { if (index === 0 && step === viewer.step) showBadges(viewer, badges, answer); };
        const answer = await think(holders[index], name, `${api}/${step}/hint?agent=${encodeURIComponent(name)}`, signal, show);
        if (!answer && index === 0 && step === shown) badges.replaceChildren();
        if (!answer || step !== shown || step !== viewer.step) return;
        holders[index].replaceChildren(hintList(answer));
        show(answer);
      } catch (error) {
        holders[index].replaceChildren(el("p", { class: "note" }, error.message));
      }
    }));
  }

  const begin = (step) => {
    asked?.abort();
    shown = null;
    answers.replaceChildren();
    badges.replaceChildren();
    if (always.checked && step < viewer.game.steps) go();
  };
  viewer.follow((step) => { if (step !== shown) begin(step); });
  return el("section", { id: "asking" }, el("h2", {}, "Ask agents"),
    el("p", { class: "row" }, first, second, third), el("p", { class: "row" }, button, el("label", { class: "check" }, always, " at every step")),
    el("p", { class: "small" }, "Numbers on the board are the first one's."), answers);
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
  holder.replaceChildren();
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

// ---- works in the background ----

const FIRST_PAUSE = 100, PAUSE = 700;  // milliseconds until the first look at a work, which may be done already, and between others

/**
 * Begin a work at an address and show how it goes: `show(answer)` of each look, until it is done or stopped.
 * Returns a function that stops it.
 */
function follow(address, show) {
  let gone = false;
  const look = async (method) => {
    try {
      const answer = await ask(address, { method });
      if (gone && method !== "DELETE") return;
      show(answer);
      if (answer.state === "running" && !gone) setTimeout(() => { if (!gone) look("GET"); }, method === "POST" ? FIRST_PAUSE : PAUSE);
    } catch (error) {
      show({ state: "failed", trouble: error.message, done: 0, of: 0 });
    }
  };
  look("POST");
  return () => { gone = true; look("DELETE"); };
}

/** A bar of how far a work is, with a button that ends it. */
function progress(id) {
  const bar = el("progress", { id: `${id}-bar`, "aria-label": "how far it is", max: 1, value: 0 });
  const text = el("span", { class: "small" });
  const stop = el("button", { type: "button", id: `${id}-stop` }, "stop");
  const line = el("p", { class: "row", hidden: true }, bar, text, stop);
  return {
    line, stop,
    show(answer) {
      line.hidden = answer.state === "done" && answer.done === answer.of;
      stop.hidden = answer.state !== "running";
      bar.hidden = answer.state === "failed";
      bar.max = answer.of || 1;
      bar.value = answer.done;
      text.textContent = answer.state === "failed" ? answer.trouble
        : `${answer.done} of ${answer.of || "…"}${answer.state === "stopped" ? ", stopped" : ""}`;
    },
  };
}

// ---- the analysis of a game ----

const percent = (share) => `${(100 * share).toFixed(0)} %`;

function analysis(viewer, place) {
  const { api, agents, agent } = place;
  const who = el("select", { id: "analyst", "aria-label": "agent" }, ...agents.map((name) => el("option", { selected: name === agent }, name)));
  const begin = el("button", { type: "button", id: "analyse", onclick: go }, "analyse the game");
  const bar = progress("analysis");
  const of = el("p", { class: "small", id: "analysis-of" });
  const lists = el("div", { id: "analysis-lists" });
  let stop = () => {};
  bar.stop.addEventListener("click", () => stop());

  function go() {
    lists.replaceChildren();
    begin.disabled = true;
    stop = follow(`${api}/analysis?agent=${encodeURIComponent(who.value)}`, show);
  }

  function show(answer) {
    bar.show(answer);
    begin.disabled = answer.state === "running";
    if (answer.chart) viewer.setChart("share", answer.chart);
    of.textContent = answer.agent ? `By ${answer.agent}${answer.version ? ` (version ${answer.version})` : ""}, knowing what the seat to act could know.` : "";
    const where = (one) => `step ${one.step}, ${viewer.names[one.seat]}`;
    const line = (one, text, more) => el("li", {}, el("button", { type: "button", class: "line", "data-step": one.step, onclick: () => viewer.go(one.step, true) },
      el("b", {}, `${where(one)}: `), text, el("span", { class: "small" }, more)));
    const mistakes = (answer.mistakes ?? []).map((one) => line(one, `${one.played} — it would: ${one.best}`,
      answer.kind === "vp" ? ` · ${one.loss.toFixed(1)} VP less by its reckoning`
        : ` · its own choice is ${percent(one.sure[0])} probable to it, this one ${percent(one.sure[1])}`));
    const swings = (answer.swings ?? []).map((one) => line(one, `${percent(one.before)} → ${percent(one.after)}`, ` · since step ${one.since}`));
    lists.replaceChildren(...[
      mistakes.length ? el("h3", {}, "Where it disagrees most") : null, mistakes.length ? el("ol", { class: "finds", id: "mistakes", tabindex: 0, "aria-label": "where it disagrees most" }, ...mistakes) : null,
      swings.length ? el("h3", {}, "Biggest swings") : null, swings.length ? el("ol", { class: "finds", id: "swings", tabindex: 0, "aria-label": "biggest swings" }, ...swings) : null,
      answer.state === "done" && !mistakes.length && !swings.length ? el("p", {}, "It agrees with all that was played, or can't tell how sure it is.") : null,
    ].filter(Boolean));
  }

  /** An analysis that the server has kept is there at once: by the agent of the address, else the newest. */
  async function showKept() {
    const { analyses } = await ask(`${api}/analyses`);
    const fitting = analyses.filter((one) => agents.includes(one.agent));
    const one = fitting.find((each) => each.agent === agent) ?? fitting[0];
    if (!one || begin.disabled || lists.children.length) return;
    who.value = one.agent;
    go();
  }
  showKept().catch((error) => { of.textContent = error.message; });

  return el("section", { id: "analysis" }, el("h2", {}, "Analyse the game"),
    el("p", { class: "row" }, el("span", {}, "by"), who, begin), bar.line,
    el("p", { class: "small" }, "Each decision with a choice is judged for the seat to act; what the agent would do instead is measured by "
      + "how sure it is of both. Swings are of the share of the win that it expects; luck is among their causes."), of, lists);
}

// ---- what can come ----

function chances(viewer, { api }) {
  const content = el("div", { id: "chances-content" });
  const whole = el("details", { id: "chances", ontoggle: () => show(viewer.step) }, el("summary", {}, el("h2", {}, "What can come")), content);
  let wanted = "";

  async function show(step) {
    if (!whole.open) return;
    const address = `${api}/${step}/chances${viewer.seat === null ? "" : `?seat=${viewer.seat}`}`;
    if (wanted === address) return;
    wanted = address;
    try {
      const answer = await ask(address);
      if (wanted !== address) return;
      const cell = (share) => el("td", { class: "share" }, el("span", { class: "bar", style: `width:${100 * share}%` }), el("span", {}, percent(share)));
      const row = (one) => el("tr", {}, el("th", { scope: "row" }, one.stack),
        ...(one.chances ? one.chances.map(cell) : [el("td", { colspan: 3 }, "no card is left")]));
      const alea = answer.alea ?? [];
      const most = Math.max(...alea.map(([, share]) => share), 0.01);
      content.replaceChildren(
        el("p", { class: "small" }, answer.seat === null ? "With all hands open, exactly." : `As ${viewer.names[answer.seat]} can expect, within a per cent or two.`),
        el("table", { class: "chances" }, el("caption", {}, "The next card of each stack"),
          el("thead", {}, el("tr", {}, ...["stack", "4", "5", "6"].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...answer.cards.map(row))),
        ...(alea.length ? [el("h3", {}, "Alea's next bid"), el("ol", { class: "bars" }, ...alea.map(([total, share]) => el("li", {},
          el("span", { class: "what" }, `${total}`), el("span", { class: "bar", style: `width:${60 * share / most}%` }), el("span", { class: "small" }, percent(share)))))] : []));
    } catch (error) {
      content.replaceChildren(el("p", { class: "note" }, error.message));
    }
  }

  viewer.follow(show);
  return whole;
}

// ---- playing on ----

function playOn(viewer, { api, agents, agent }) {
  const usual = viewer.game.names.map((name) => (agents.includes(name) ? name : agent ?? agents[0]));
  const seats = viewer.names.map((name, seat) => el("label", { class: "row" }, el("span", {}, `seat ${seat + 1}`),
    el("select", { id: `out-${seat}` }, ...agents.map((each) => el("option", { selected: each === usual[seat] }, each)))));
  const hidden = el("select", { id: "out-hidden" }, el("option", { value: "" }, "stay as they were"),
    ...viewer.names.map((name, seat) => el("option", { value: seat }, `are drawn anew for ${name}`)));
  const number = el("input", { type: "number", id: "out-number", min: 1, max: 1000, value: 100 });
  const begin = el("button", { type: "button", id: "play-out", onclick: go }, "let them play it out");
  const bar = progress("out");
  const results = el("div", { id: "out-results" });
  let stop = () => {};
  bar.stop.addEventListener("click", () => stop());

  function go() {
    const query = new URLSearchParams([...seats.map((label) => ["agent", label.querySelector("select").value]), ["number", number.value]]);
    if (hidden.value) query.set("seat", hidden.value);
    results.replaceChildren();
    begin.disabled = true;
    const step = viewer.step;
    stop = follow(`${api}/${step}/playouts?${query}`, (answer) => show(answer, step));
  }

  function show(answer, step) {
    bar.show(answer);
    begin.disabled = answer.state === "running";
    const shown = (answer.seats ?? []).map((one, seat) => {
      const most = Math.max(...one.bins.map(([, count]) => count), 1);
      const filled = one.bins.map(([, count], index) => (count ? index : -1)).filter((index) => index >= 0);
      const seen = (bin, index) => index >= filled[0] && index <= filled.at(-1);
      const label = ([low], index) => (index === 0 ? `below ${low + 10}` : index === one.bins.length - 1 ? `${low} or more` : `${low} to ${low + 9}`);
      const sign = (text) => text.replaceAll("-", "−");
      return el("div", {}, el("h3", {}, viewer.names[seat]),
        el("p", {}, `${answer.agents[seat]}: ${percent(one.share)} ± ${percent(one.error)} of the wins, ${one.vp} VP, margin ${sign(String(one.margin))}`),
        el("ol", { class: "bars", "aria-label": `VP ahead of the best other seat, ${answer.done} games` }, ...one.bins.map((bin, index) => (seen(bin, index) ? el("li", {},
          el("span", { class: "what" }, sign(label(bin, index))), el("span", { class: `bar seat-${seat}`, style: `width:${60 * bin[1] / most}%` }), el("span", { class: "small" }, `${bin[1]}`)) : null))));
    });
    results.replaceChildren(...(shown.length ? [el("p", { class: "small" }, `From step ${step}; bars: games by VP ahead of the best other seat.`)] : []), ...shown);
  }

  // ---- by oneself ----
  const mine = el("select", { id: "on-seat", "aria-label": "who I am" }, ...viewer.names.map((name, seat) => el("option", { value: seat }, `I play seat ${seat + 1}`)),
    el("option", { value: "all" }, "I play all seats"));
  const mineHidden = el("select", { id: "on-hidden", "aria-label": "hidden cards in my game" },
    el("option", { value: "" }, "hidden cards stay as they were"), el("option", { value: "anew" }, "what I can't know is drawn anew"));
  mine.addEventListener("change", () => {
    mineHidden.disabled = mine.value === "all";
    if (mineHidden.disabled) mineHidden.value = "";
  });
  const trouble = el("p", { class: "note", role: "alert", hidden: true });
  const start = el("button", { type: "button", id: "play-myself", onclick: playMyself }, "play on myself");
  const head = el("h3", { hidden: true }, "Variations of this game");
  const list = el("ul", { class: "finds", id: "variations" });

  async function playMyself() {
    leaveBy(start);
    const who = (label, seat) => (mine.value === "all" || Number(mine.value) === seat ? "me" : `agent:${label.querySelector("select").value}`);
    try {
      const made = await send(`${api}/${viewer.step}/variations`, { seats: seats.map(who), anew: mineHidden.value === "anew" });
      location.assign(at(made.page));
    } catch (error) {
      trouble.textContent = error.message;
      trouble.hidden = false;
      start.disabled = false;
    }
  }

  async function showVariations() {
    const { variations } = await ask(`${api}/variations`);
    list.replaceChildren(...variations.map((one) => el("li", {}, el("a", { href: one.page },
      `from step ${one.step}${one.seat === null ? "" : `, on seat ${one.seat + 1}`}: ${one.names.join(", ")}`),
    one.drawn_for === null ? null : el("span", { class: "small" }, ` · hidden cards drawn anew for seat ${one.drawn_for + 1}`),
    el("span", { class: "small" }, ` · ${one.over ? "over, " : ""}${one.scores.join(" : ")} VP after ${one.actions} actions`))));
    head.hidden = !variations.length;
  }
  const listThem = () => showVariations().catch((error) => { trouble.textContent = error.message; trouble.hidden = false; });
  listThem();
  onReturn(listThem);

  return el("details", { id: "play-on" }, el("summary", {}, el("h2", {}, "Play on from here")),
    el("p", { class: "small" }, "Seats that you don't play have these agents. What chance brings from here on is new. In your own game hidden cards stay as they were, so whoever has looked at "
      + "open hands knows them; or what your seat couldn't know is drawn anew, its past as well, and all that it has seen stays true."),
    ...seats, el("p", { class: "row" }, mine, mineHidden, start), trouble, head, list,
    el("h3", {}, "Played out by agents"),
    el("p", { class: "small" }, "Agents play this position out many times, with other chance each time. Chance is that of the seeds 0, 1, 2 … whoever plays, so two line-ups meet the same."),
    el("p", {}, el("label", { for: "out-hidden" }, "Hidden cards "), hidden),
    el("p", { class: "row" }, el("label", { class: "row" }, "times ", number), begin), bar.line, results);
}

// ---- files to take away ----

function takeAway(viewer, { api, record }) {
  const link = (id, text) => el("a", { id, class: "button", download: true, href: "#" }, text);
  const [svg, png] = [link("save-svg", "this step, SVG"), link("save-png", "this step, PNG")];
  const look = () => `theme=${theme()}${viewer.seat === null ? "" : `&seat=${viewer.seat}`}`;
  for (const [one, suffix] of [[svg, "svg"], [png, "png"]]) {
    one.addEventListener("click", () => { one.href = at(`${api}/${viewer.step}/picture.${suffix}?${look()}`); });
  }
  const make = el("button", { type: "button", id: "make-page", onclick: go }, "make one page of it (HTML)");
  const bar = progress("making");
  const ready = el("p", { "aria-live": "polite" });
  let stop = () => {};
  bar.stop.addEventListener("click", () => stop());

  function go() {
    ready.replaceChildren();
    stop = follow(`${api}/made`, (answer) => {
      bar.show(answer);
      if (answer.state !== "done") return;
      ready.replaceChildren(el("a", { class: "button", id: "made-page", download: true, href: `${api}/made/file` },
        `the page is ready: ${(answer.bytes / 1e6).toFixed(1)} MB`));
    });
  }

  return el("details", { id: "take-away" }, el("summary", {}, el("h2", {}, "Take away")),
    el("p", { class: "row" }, svg, png, el("a", { class: "button", download: true, href: record }, "the record")),
    el("p", { class: "row" }, make),
    el("p", { class: "small" }, "Pictures show what is shown here: all hands, or one seat's view. The page has all views of all steps and needs no server."),
    bar.line, ready);
}
