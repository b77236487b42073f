// The tabs beside a replay's board: hints, analysis, simulation, export. The markup is the template
// "bench" of replay.html.
import { ask, at, send } from "./api.js";
import { PARTS, actionsOf } from "./board.js";
import { $, $$, el, leaveBy, note, table, the } from "./dom.js";
import { called, percent, signed } from "./format.js";
import { ESTIMATOR, MOVE, NUM_PLACES, PASS, STRONGEST } from "./game.js";
import { theme } from "./settings.js";
import { chanceText, hintTable, sureText, think } from "./thinking.js";

/**
 * The tools of a replay. `place`: API addresses, the names of agents, the parameters in the URL.
 */
export function tools(viewer, place) {
  const bench = the(".bench", document.importNode($("bench").content, true));
  const find = (id) => the(`#${id}`, bench);
  const shared = { ...place, find, marks: marks(viewer) };
  for (const make of [asking, analysis, simulating, continuing, chances, exporting]) {
    make(viewer, shared);
  }
  const show = (tool) => {
    for (const panel of $$("[data-tool]", bench)) panel.hidden = panel.dataset.tool !== tool;
  };
  find("tools").onchange = ({ target }) => show(target?.value);
  if (location.hash === "#analyse") {
    the("[value=analyse]", bench).checked = true;
    show("analyse");
    if (!viewer.game.analysis) find("analyse").click();
  }
  if (viewer.game.task) {
    // the others judge by who wins the whole game
    find("tools").hidden = true;
    show("export");
  }
  return [bench];
}

/** Offer agents to choose from: the strongest first, all others behind "more". */
function offer(select, agents, chosen) {
  const usual = STRONGEST.filter((name) => agents.includes(name));
  const others = agents.filter((name) => !usual.includes(name));
  const option = (name) =>
    el("option", { value: name, title: name, selected: name === chosen }, called(name));
  select.append(...usual.map(option));
  if (others.length) select.append(el("optgroup", { label: "more" }, others.map(option)));
  return select;
}

// ---- marks on the board ----

/** The element of an action on the drawing, and a word where several share it. */
function elementOf(board, seat) {
  const parts = new Map();
  for (const part of $$(PARTS, board)) {
    const [action] = part.dataset.commissioner ? [] : actionsOf(part, seat);
    if (action !== undefined && !parts.has(action)) parts.set(action, { part, word: "" });
  }
  return (action) => {
    const found = parts.get(action);
    if (found || action < MOVE || action >= PASS) return found;
    const place = (action - MOVE) % NUM_PLACES;
    const part = board.querySelector(`[data-district="${place}"]`);
    return part && { part, word: action < MOVE + NUM_PLACES ? "white " : "beige " };
  };
}

/** Badges on parts of the board: `show(seat, choices)` of `{actions, text, isBest}`. */
function marks(viewer) {
  const holder = el("div#badges.badges", { "aria-hidden": "true" }); // lists say the same
  viewer.over.append(holder);
  const show = (seat, choices) => {
    const svg = viewer.board.querySelector("svg");
    holder.replaceChildren();
    if (!svg) return;
    const all = svg.getBoundingClientRect();
    const find = elementOf(svg, seat);
    const taken = new Map(); // moves of both commissioners may lead to one district
    const mark = (action, text, isBest) => {
      const found = find(action);
      if (!found) return;
      const box = found.part.getBoundingClientRect();
      const row = taken.get(found.part) ?? 0;
      taken.set(found.part, row + 1);
      const x = box.left + box.width / 2 - all.left;
      const y = box.top + Math.min(box.height / 2, 22) - all.top + 24 * row;
      const style = `left:${(100 * x) / all.width}%;top:${(100 * y) / all.height}%`;
      const selector = `span.badge${isBest ? ".best" : ""}`;
      holder.append(el(selector, { "data-badge": action, style }, found.word + text));
    };
    for (const { actions, text, isBest } of choices) {
      for (const action of new Set(actions)) mark(action, text, isBest);
    }
  };
  return { show, clear: () => holder.replaceChildren() };
}

/** The badges of a hint. Of choices of several cards only the agent's own has one. */
function hinted({ best, kind, text }) {
  return best
    .map((one) => ({ ...one, isBest: one.text === text }))
    .filter(({ isBest, actions }) => isBest || actions.length === 1)
    .map((one) => ({ ...one, text: sureText(kind, one.sure, one.isBest) }))
    .filter((one) => one.text);
}

// ---- agents asked at a step, side by side ----

function asking(viewer, shared) {
  const { api, agents, agent, noted, marks, find } = shared;
  const ids = ["thinking", "hint", "always", "adviser", "adviser-1", "adviser-2"];
  const [thinking, answers, always, ...choices] = ids.map(find);
  const { adviser } = viewer.game;
  const usual = agents.includes(agent) ? agent : adviser;
  let shown = null; // the step of the answer
  let asked = new AbortController(); // of the requests

  function go() {
    asked.abort();
    const { signal } = (asked = new AbortController());
    const step = (shown = viewer.step);
    const names = [...new Set(choices.map((one) => one.value).filter(Boolean))];
    const holders = names.map(() => el("div"));
    const told = [];
    marks.clear();
    answers.replaceChildren();
    thinking.replaceChildren(...holders);
    names.forEach(async (name, index) => {
      const address = `${api}/${step}/hint?agent=${encodeURIComponent(name)}`;
      const show = (hint) => {
        if (step !== viewer.step) return;
        if (index === 0 && !told[0]) marks.show(hint.seat, hinted(hint));
        told[index] = hint;
        answers.replaceChildren(hintTable(told.filter(Boolean), viewer.names));
        if (hint.mistakes) shared.list(hint.mistakes);
      };
      try {
        await think(holders[index], name, address, signal, show);
      } catch (error) {
        holders[index].replaceChildren(el("p.note", error.message));
      }
    });
  }

  const again = () => {
    if (always.checked) go();
  };
  for (const [number, select] of choices.entries()) {
    offer(select, agents, number ? "" : usual).onchange = () => {
      noted({ agent: choices[0].value === adviser ? null : choices[0].value });
      again();
    };
  }
  always.onchange = again;
  find("ask").onclick = go;
  viewer.follow((step) => {
    if (step === shown) return;
    asked.abort();
    shown = null;
    thinking.replaceChildren();
    answers.replaceChildren();
    marks.clear();
    if (step < viewer.game.steps) again();
  });
}

// ---- background jobs ----

// milliseconds until a job is first polled, and between later polls
const [FIRST_PAUSE, PAUSE] = [100, 700];

/**
 * Have the button `id` start the job at `address()`, show its progress with a button to stop it,
 * and call `show(answer)`.
 */
function job(find, id, address, show) {
  const [begin, stop, line, bar] = ["", "-stop", "-line", "-bar"].map((part) => find(id + part));

  function tell(answer) {
    const { state, doing = "", done, of } = answer;
    line.hidden = state === "done" && done === of;
    begin.disabled = state === "running";
    stop.hidden = !begin.disabled;
    bar.hidden = state === "failed";
    bar.max = of || 1;
    bar.value = done;
    const far = `${doing}${done} of ${of || "…"}${state === "stopped" ? ", stopped" : ""}`;
    line.querySelector("span").textContent = state === "failed" ? answer.trouble : far;
    show(answer);
  }

  begin.onclick = () => {
    const where = address();
    let gone = false;
    const look = async (method) => {
      const failed = ({ message }) => ({ state: "failed", trouble: message, done: 0, of: 0 });
      const answer = await ask(where, { method, keepalive: true }).catch(failed);
      if (gone && method !== "DELETE") return;
      tell(answer);
      const pause = method === "POST" ? FIRST_PAUSE : PAUSE;
      if (answer.state === "running") setTimeout(() => gone || look("GET"), pause);
    };
    stop.onclick = () => {
      gone = true;
      look("DELETE");
    };
    begin.disabled = true;
    look("POST");
  };
  // a job without its page would make others wait
  addEventListener("pagehide", () => stop.hidden || stop.click());
}

// ---- the analysis of a game ----

function analysis(viewer, shared) {
  const { api, agents, agent, marks, find } = shared;
  const mine = viewer.game.names.indexOf("you");
  const earlier = viewer.game.analysis;
  const usual = agents.includes(agent) ? agent : ESTIMATOR;
  const who = offer(find("analyst"), agents, earlier?.agent ?? usual);
  const address = () => `${api}/analysis?agent=${encodeURIComponent(who.value)}`;
  job(find, "analyse", address, show);
  let better; // the mistake whose better choice is shown
  viewer.follow((step) => {
    if (better?.step !== step) return;
    marks.show(better.seat, [{ actions: better.actions, text: "better", isBest: true }]);
    $("situation").append(` — better: ${better.best}`);
  });

  function line(one) {
    const whose = one.seat === mine ? "" : `, ${viewer.names[one.seat]}`;
    return el(
      one.clear ? "li" : "li.unclear",
      el(
        "button.line",
        { "data-step": one.step, onclick: () => viewer.go((better = one).step, true) },
        el("b", chanceText(one.cost, one.interval)),
        ` · ${one.when}${whose}: ${one.played} — better: ${one.best}`,
      ),
    );
  }

  function list(holder, mistakes) {
    const lines = mistakes.map(line);
    const clear = mistakes.filter((one) => one.clear).length; // they come first
    if (lines[clear]) lines.splice(clear, 0, el("li.small", "may be none:"));
    holder.hidden = !lines.length;
    the("ol", holder).replaceChildren(...lines);
  }

  const lists = find("lists");
  let isRead = false; // by pointer or keyboard: its order stays
  let latest;
  function draw() {
    if (isRead) return;
    const { mistakes = [], state } = latest;
    const isOwn = ({ seat }) => mine < 0 || seat === mine;
    list(find("found"), mistakes.filter(isOwn));
    list(
      find("others"),
      mistakes.filter((one) => !isOwn(one)),
    );
    find("faultless").hidden = mistakes.some(isOwn) || state !== "done";
  }
  lists.onpointermove = lists.onfocusin = () => (isRead = true);
  lists.onpointerleave = lists.onfocusout = ({ relatedTarget }) => {
    isRead = lists.contains(relatedTarget);
    draw();
  };

  function show(answer) {
    if (answer.chart) viewer.setChart("win", answer.chart);
    latest = answer;
    draw();
  }
  shared.list = (mistakes) => show({ ...latest, mistakes });
  if (earlier) show(earlier);
}

// ---- simulation and draw odds ----

/** A bar with text at both ends; the longest has a share of 1. */
const bar = (what, share, text) =>
  el(
    "li",
    el("span.what", what),
    el("span.bar", { style: `width:${60 * share}%` }),
    el("span.small", text),
  );

/** The line-up of the simulation: a choice for each seat. */
const chosenAgents = (find) => $$("select", find("out-seats")).map((s) => s.value);

function simulating(viewer, { api, agents, find }) {
  for (const seat of viewer.game.names.keys()) {
    const select = offer(el("select", { id: `out-${seat}` }), agents, ESTIMATOR);
    find("out-seats").append(el("label", el("span", viewer.names[seat]), select));
    find("out-hidden").append(el("option", { value: seat }, `resampled for ${viewer.names[seat]}`));
  }
  const address = () => {
    const query = new URLSearchParams(chosenAgents(find).map((name) => ["agent", name]));
    query.set("number", find("out-number").value);
    if (find("out-hidden").value) query.set("seat", find("out-hidden").value);
    from = viewer.step;
    return `${api}/${from}/playouts?${query}`;
  };
  let from = 0;
  job(find, "play-out", address, show);

  function show(answer) {
    const one = ({ share, interval, vp, margin }, seat) => {
      const within = interval.map(percent).join(" to ");
      const wins = `${called(answer.agents[seat])} wins ${share} (95 % interval ${within})`;
      return el(
        "div",
        el("h2", viewer.names[seat]),
        el("p", `${wins}, ${vp} VP, margin to the best other seat ${signed(margin)}`),
      );
    };
    const told = el("p.small", `From step ${from}, ${answer.done} games.`);
    find("out-results").replaceChildren(...(answer.seats ? [told, ...answer.seats.map(one)] : []));
  }
}

/** Continue the game against the agents chosen above. */
function continuing(viewer, { api, find }) {
  const [mine, hidden, start] = ["on-seat", "on-hidden", "play-myself"].map(find);
  const fail = (text) => note(text, find("on-trouble"));
  mine.prepend(...viewer.names.map((name, value) => el("option", { value }, `I play ${name}`)));
  mine.value = "0";
  mine.onchange = () => {
    hidden.disabled = mine.value === "all";
    if (hidden.disabled) hidden.value = "";
  };
  start.onclick = () => {
    const isMine = (seat) => mine.value === "all" || Number(mine.value) === seat;
    const seats = chosenAgents(find).map((name, seat) => (isMine(seat) ? "me" : `agent:${name}`));
    const resample = hidden.value === "resample";
    leaveBy(start, () => send(`${api}/${viewer.step}/variations`, { seats, resample }), fail);
  };
}

/** The odds of the next cards, and of Alea's next bid. */
function chances(viewer, { api, find }) {
  const [whole, content] = ["chances", "chances-content"].map(find);
  let wanted = "";

  const cell = (share) =>
    el("td.share", el("span.bar", { style: `width:${100 * share}%` }), el("span", percent(share)));
  const row = ({ stack, chances }) =>
    el(
      "tr",
      el("th", { scope: "row" }, stack),
      chances?.map(cell) ?? el("td", { colspan: 3 }, "no cards left"),
    );

  function shown({ cards, alea }) {
    const exact =
      viewer.seat === null
        ? "All hands are open, so this is exact."
        : `From ${viewer.names[viewer.seat]}'s view, within 1 or 2 points.`;
    const most = Math.max(...(alea ?? []).map(([, share]) => share), 0.01);
    const bars = alea?.map(([total, share]) => bar(`${total}`, share / most, percent(share)));
    return [
      el("p.small", exact),
      table("table.chances", ["next card of", "4", "5", "6"], cards.map(row)),
      ...(bars ? [el("h2", "Alea's next bid"), el("ol.bars", bars)] : []),
    ];
  }

  async function show(step) {
    const seen = viewer.seat === null ? "" : `?seat=${viewer.seat}`;
    const address = `${api}/${step}/chances${seen}`;
    if (!whole.open || wanted === address) return;
    wanted = address;
    try {
      const answer = await ask(address);
      if (wanted === address) content.replaceChildren(...shown(answer));
    } catch (error) {
      content.replaceChildren(el("p.note", error.message));
    }
  }

  whole.ontoggle = () => show(viewer.step);
  viewer.follow(show);
}

// ---- files ----

function exporting(viewer, { api, record, find }) {
  find("save-record").href = at(record);
  const made = find("made-page");
  made.href = at(`${api}/made/file`);
  viewer.follow((step) => {
    const look = `theme=${theme()}${viewer.seat === null ? "" : `&seat=${viewer.seat}`}`;
    for (const kind of ["svg", "png"]) {
      find(`save-${kind}`).href = at(`${api}/${step}/picture.${kind}?${look}`);
    }
  });
  const show = ({ state }) => (made.hidden = state !== "done");
  job(find, "make-page", () => `${api}/made`, show);
}
