// What stands beside a replay's board, in tabs: agents that are asked, the analysis of the game,
// playing on from here, files.
import { PARTS, actionsOf } from "./board.js";
import { ask, at, el, leaveBy, onReturn, percent, send, theme } from "./dom.js";
import { hintTable, sureText, think } from "./thinking.js";
import { segments } from "./viewer.js";

// the strongest first
const STRONGEST = ["ismcts-trained", "ismcts", "trained", "appraiser", "greedy"];
const MOVES = 60,
  PLACES = 9,
  DISTRICTS = 7;

/**
 * The tools of a replay, in tabs; `place`: addresses of the interface, the names of agents, what
 * the address says.
 */
export function tools(viewer, place) {
  place.marks = marks(viewer);
  const names = { ask: "Ask", analyse: "Analyse", simulate: "Simulate", export: "Export" };
  const panels = [asking, analysis, simulating, exporting].map((make) => make(viewer, place));
  const open = (wanted) =>
    Object.keys(names).forEach((name, index) => {
      panels[index].hidden = name !== wanted;
    });
  open("ask");
  return [
    el(
      "section",
      { class: "bench" },
      segments("tools", "tools", Object.entries(names), "ask", open),
      ...panels,
    ),
  ];
}

/**
 * A choice of agents: the strongest first, all but five of them behind "more"; `attributes` as for
 * el.
 */
function agentChoice(agents, chosen, attributes, ...first) {
  const usual = STRONGEST.filter((name) => agents.includes(name));
  const others = agents.filter((name) => !usual.includes(name));
  const option = (name) => el("option", { selected: name === chosen }, name);
  return el(
    "select",
    attributes,
    ...first,
    ...usual.map(option),
    others.length ? el("optgroup", { label: "more" }, ...others.map(option)) : null,
  );
}

const strongestOf = (agents) => STRONGEST.find((name) => agents.includes(name)) ?? agents[0];

// ---- marks on the board ----

/**
 * What an action is on the drawing: the element, and what to call it if the element is more than
 * that.
 */
function elementOf(board, seat) {
  const parts = new Map();
  for (const part of board.querySelectorAll(PARTS)) {
    const [action] = part.dataset.commissioner ? [] : actionsOf(part, seat);
    if (action !== undefined && !parts.has(action)) parts.set(action, { part, word: "" });
  }
  return (action) => {
    const found = parts.get(action);
    if (found || action < MOVES || action >= MOVES + 2 * PLACES) return found;
    const [who, place] = [Math.floor((action - MOVES) / PLACES), (action - MOVES) % PLACES];
    const part = place < DISTRICTS ? board.querySelector(`[data-district="${place}"]`) : null;
    return part && { part, word: who ? "beige " : "white " };
  };
}

/**
 * Words on the parts of the board that choices are: `show(seat, choices)` of `{actions, text,
 * isBest}`.
 */
function marks(viewer) {
  // lists say the same
  const holder = el("div", { class: "badges", id: "badges", "aria-hidden": "true" });
  viewer.over.append(holder);
  const show = (seat, choices) => {
    const svg = viewer.board.querySelector("svg");
    holder.replaceChildren();
    if (!svg) return;
    const all = svg.getBoundingClientRect();
    const find = elementOf(svg, seat);
    const taken = new Map(); // moves of both commissioners may lead to one district
    for (const { actions, text, isBest } of choices) {
      for (const action of new Set(actions)) {
        const found = find(action);
        if (!found) continue;
        const box = found.part.getBoundingClientRect();
        const row = taken.get(found.part) ?? 0;
        taken.set(found.part, row + 1);
        const [x, y] = [
          box.left + box.width / 2 - all.left,
          box.top + Math.min(box.height / 2, 22) - all.top + 24 * row,
        ];
        holder.append(
          el(
            "span",
            {
              class: isBest ? "badge best" : "badge",
              "data-badge": action,
              style: `left:${(100 * x) / all.width}%;top:${(100 * y) / all.height}%`,
            },
            found.word + text,
          ),
        );
      }
    }
  };
  return { show, clear: () => holder.replaceChildren() };
}

/** What a hint says on the board: of choices of several cards the agent's own alone. */
function hinted(hint) {
  const shown = hint.best.filter((one) => one.text === hint.text || one.actions.length === 1);
  return shown.map((one) => ({
    actions: one.actions,
    text: sureText(hint.kind, one.sure),
    isBest: one.text === hint.text,
  }));
}

// ---- agents asked at a step, side by side ----

function asking(viewer, { api, agents, agent, noted, marks }) {
  const changed = () => {
    noted({ agent: first.value === strongestOf(agents) ? null : first.value });
    if (always.checked) go();
  };
  const usual = agents.includes(agent) ? agent : strongestOf(agents);
  const chooser = (number) =>
    agentChoice(
      agents,
      number ? "" : usual,
      {
        id: number ? `adviser-${number}` : "adviser",
        "aria-label": `agent ${number + 1}`,
        onchange: changed,
      },
      number ? el("option", { value: "" }, "no other") : null,
    );
  const [first, second, third] = [0, 1, 2].map(chooser);
  const always = el("input", {
    type: "checkbox",
    id: "always",
    onchange: () => {
      if (always.checked) go();
    },
  });
  const button = el(
    "button",
    { type: "button", id: "ask", class: "primary", onclick: go },
    "what would they do here?",
  );
  const thinking = el("div", {});
  const answers = el("div", { id: "hint", "aria-live": "polite" });
  let shown = null; // the step that is answered
  let asked = null; // stops those that are thinking

  async function go() {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    const step = (shown = viewer.step);
    const names = [...new Set([first, second, third].map((one) => one.value).filter(Boolean))];
    const holders = names.map(() => el("div", {}));
    const told = [];
    marks.clear();
    answers.replaceChildren();
    thinking.replaceChildren(...holders);
    await Promise.all(
      names.map(async (name, index) => {
        const mark = (hint) => {
          if (index === 0 && step === viewer.step) marks.show(hint.seat, hinted(hint));
        };
        try {
          const hint = await think(
            holders[index],
            name,
            `${api}/${step}/hint?agent=${encodeURIComponent(name)}`,
            signal,
            mark,
          );
          if (!hint || step !== shown || step !== viewer.step) return;
          told[index] = hint;
          mark(hint);
          holders[index].remove();
          answers.replaceChildren(hintTable(told.filter(Boolean)));
        } catch (error) {
          holders[index].replaceChildren(el("p", { class: "note" }, error.message));
        }
      }),
    );
  }

  viewer.follow((step) => {
    if (step === shown) return;
    asked?.abort();
    shown = null;
    for (const holder of [thinking, answers]) holder.replaceChildren();
    marks.clear();
    if (always.checked && step < viewer.game.steps) go();
  });
  return el(
    "div",
    { id: "asking" },
    el("p", { class: "row" }, first, second, third),
    el("p", { class: "row" }, button, el("label", { class: "check" }, always, " at every step")),
    el(
      "p",
      { class: "small" },
      "Each agent knows what the seat to act can know. Numbers on the board are the first one's.",
    ),
    thinking,
    answers,
  );
}

// ---- works in the background ----

const FIRST_PAUSE = 100,
  // milliseconds until the first question after a work, which may be done already, and between
  // others
  PAUSE = 700;

/**
 * Begin a work at an address and show how it goes: `show(answer)` until it is done or stopped.
 * Returns a function that stops it.
 */
function follow(address, show) {
  let gone = false;
  const look = async (method) => {
    try {
      const answer = await ask(address, { method });
      if (gone && method !== "DELETE") return;
      show(answer);
      if (answer.state === "running" && !gone)
        setTimeout(
          () => {
            if (!gone) look("GET");
          },
          method === "POST" ? FIRST_PAUSE : PAUSE,
        );
    } catch (error) {
      show({ state: "failed", trouble: error.message, done: 0, of: 0 });
    }
  };
  look("POST");
  return () => {
    gone = true;
    look("DELETE");
  };
}

/**
 * A button that begins a work, and a bar of how far it is with a button that ends it; `address()`
 * of the work, `show(answer)`.
 */
function job(id, words, address, show) {
  const bar = el("progress", { id: `${id}-bar`, "aria-label": "progress", max: 1, value: 0 });
  const text = el("span", { class: "small" });
  let end = () => {};
  const stop = el("button", { type: "button", id: `${id}-stop`, onclick: () => end() }, "stop");
  const line = el("p", { class: "row", hidden: true }, bar, text, stop);
  const go = () => {
    begin.disabled = true;
    end = follow(address(), (answer) => {
      line.hidden = answer.state === "done" && answer.done === answer.of;
      begin.disabled = !(stop.hidden = answer.state !== "running");
      bar.hidden = answer.state === "failed";
      bar.max = answer.of || 1;
      bar.value = answer.done;
      text.textContent =
        answer.state === "failed"
          ? answer.trouble
          : `${answer.done} of ${answer.of || "…"}${answer.state === "stopped" ? ", stopped" : ""}`;
      show(answer);
    });
  };
  const begin = el("button", { type: "button", id, onclick: go }, words);
  return { begin, line, go };
}

// ---- the analysis of a game ----

function analysis(viewer, { api, agents, agent, marks }) {
  const who = agentChoice(agents, agents.includes(agent) ? agent : "trained", {
    id: "analyst",
    "aria-label": "agent",
  });
  const lists = el("div", { id: "analysis-lists" });
  const work = job(
    "analyse",
    "analyse the game",
    () => `${api}/analysis?agent=${encodeURIComponent(who.value)}`,
    show,
  );
  let better = null; // the mistake whose better choice is shown
  viewer.follow((step) => {
    if (better?.step === step)
      marks.show(better.seat, [{ actions: better.actions, text: "better", isBest: true }]);
  });

  function line(one, text, more) {
    const go = () => {
      better = one;
      viewer.go(one.step, true);
    };
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "line", "data-step": one.step, onclick: go },
        el("b", {}, `step ${one.step}, ${viewer.names[one.seat]}: `),
        text,
        el("span", { class: "small" }, more),
      ),
    );
  }

  function show(answer) {
    if (answer.chart) viewer.setChart("win", answer.chart);
    const mistakes = (answer.mistakes ?? []).map((one) =>
      line(
        one,
        `${one.played} — better: ${one.best}`,
        ` · costs ${percent(one.cost)} ± ${percent(one.error)} of the chance to win${one.games ? `, by ${one.games} games each` : ""}`,
      ),
    );
    const name = "Mistakes, by what they cost";
    lists.replaceChildren(
      ...(mistakes.length
        ? [
            el("h3", {}, name),
            el(
              "ol",
              { class: "finds", id: "mistakes", tabindex: 0, "aria-label": name },
              ...mistakes,
            ),
          ]
        : []),
      answer.state === "done" && !mistakes.length
        ? el("p", {}, `${answer.agent} knows nothing better than what was played.`)
        : "",
    );
  }

  /** What this browser has begun already goes on being shown. */
  async function showBegun() {
    const { analyses } = await ask(`${api}/analyses`);
    const names = analyses.map((one) => one.agent).filter((name) => agents.includes(name));
    if (!names.length || work.begin.disabled) return;
    who.value = names.includes(agent) ? agent : names[0];
    work.go();
  }
  showBegun().catch((error) => lists.replaceChildren(el("p", { class: "note" }, error.message)));

  return el(
    "div",
    { id: "analysis" },
    el("p", { class: "row" }, el("span", {}, "by"), who, work.begin),
    work.line,
    el(
      "p",
      { class: "small" },
      "What was played is compared with what the agent would do: the chance to win after each, as the seat to act can know it. " +
        "The chance is estimated by “trained”; where that isn't sure, both are played out. ± is a 95 % interval. A click shows the better choice on the board.",
    ),
    lists,
  );
}

// ---- playing on, and what can come ----

function simulating(viewer, { api, agents, agent }) {
  const usual = viewer.game.names.map((name) =>
    agents.includes(name) ? name : (agent ?? strongestOf(agents)),
  );
  const seats = viewer.names.map((_, seat) =>
    el(
      "label",
      { class: "row" },
      el("span", {}, `seat ${seat + 1}`),
      agentChoice(agents, usual[seat], { id: `out-${seat}` }),
    ),
  );
  const hidden = el(
    "select",
    { id: "out-hidden" },
    el("option", { value: "" }, "stay as they were"),
    ...viewer.names.map((name, seat) =>
      el("option", { value: seat }, `are drawn anew for ${name}`),
    ),
  );
  const number = el("input", { type: "number", id: "out-number", min: 1, max: 1000, value: 100 });
  const results = el("div", { id: "out-results" });
  let from = 0;
  const work = job(
    "play-out",
    "simulate",
    () => {
      const query = new URLSearchParams([
        ...seats.map((label) => ["agent", label.querySelector("select").value]),
        ["number", number.value],
      ]);
      if (hidden.value) query.set("seat", hidden.value);
      from = viewer.step;
      return `${api}/${from}/playouts?${query}`;
    },
    show,
  );

  function show(answer) {
    const sign = (text) => String(text).replaceAll("-", "−");
    const bars = (one, seat) => {
      const most = Math.max(...one.bins.map(([, count]) => count), 1);
      const filled = one.bins
        .map(([, count], index) => (count ? index : -1))
        .filter((index) => index >= 0);
      const label = ([low], index) =>
        index === 0
          ? `below ${low + 10}`
          : index === one.bins.length - 1
            ? `${low} or more`
            : `${low} to ${low + 9}`;
      return one.bins.map((bin, index) =>
        index < filled[0] || index > filled.at(-1)
          ? null
          : el(
              "li",
              {},
              el("span", { class: "what" }, sign(label(bin, index))),
              el("span", { class: `bar seat-${seat}`, style: `width:${(60 * bin[1]) / most}%` }),
              el("span", { class: "small" }, `${bin[1]}`),
            ),
      );
    };
    const shown = (answer.seats ?? []).map((one, seat) =>
      el(
        "div",
        {},
        el("h3", {}, viewer.names[seat]),
        el(
          "p",
          {},
          `${answer.agents[seat]} wins ${percent(one.share)} (95 % interval ${one.interval.map(percent).join(" to ")}), ${one.vp} VP, margin ${sign(one.margin)}`,
        ),
        el(
          "ol",
          { class: "bars", "aria-label": `VP ahead of the best other seat, ${answer.done} games` },
          ...bars(one, seat),
        ),
      ),
    );
    results.replaceChildren(
      ...(shown.length
        ? [
            el(
              "p",
              { class: "small" },
              `From step ${from}; bars: games by VP ahead of the best other seat.`,
            ),
          ]
        : []),
      ...shown,
    );
  }

  return el(
    "div",
    { id: "simulate" },
    ...seats,
    el("p", {}, el("label", { for: "out-hidden" }, "Hidden cards "), hidden),
    el("p", { class: "row" }, el("label", { class: "row" }, "times ", number), work.begin),
    work.line,
    el(
      "p",
      { class: "small" },
      "Chance is that of the seeds 0, 1, 2 …, so two line-ups meet the same.",
    ),
    results,
    continuing(viewer, api, seats),
    chances(viewer, api),
  );
}

/** Continue the game oneself, against the agents chosen above. */
function continuing(viewer, api, seats) {
  const mine = el(
    "select",
    { id: "on-seat", "aria-label": "my seat" },
    ...viewer.names.map((_, seat) => el("option", { value: seat }, `I play seat ${seat + 1}`)),
    el("option", { value: "all" }, "I play all seats"),
  );
  const hidden = el(
    "select",
    { id: "on-hidden", "aria-label": "hidden cards in my game" },
    el("option", { value: "" }, "hidden cards stay as they were"),
    el("option", { value: "anew" }, "what I can't know is drawn anew"),
  );
  mine.addEventListener("change", () => {
    hidden.disabled = mine.value === "all";
    if (hidden.disabled) hidden.value = "";
  });
  const trouble = el("p", { class: "note", role: "alert", hidden: true });
  const start = el(
    "button",
    { type: "button", id: "play-myself", onclick: play },
    "continue this game",
  );
  const head = el("h3", { hidden: true }, "Games continued from this one");
  const list = el("ul", { class: "finds", id: "variations" });
  const fail = (error) => {
    trouble.textContent = error.message;
    trouble.hidden = false;
  };

  async function play() {
    leaveBy(start);
    const who = (label, seat) =>
      mine.value === "all" || Number(mine.value) === seat
        ? "me"
        : `agent:${label.querySelector("select").value}`;
    try {
      const made = await send(`${api}/${viewer.step}/variations`, {
        seats: seats.map(who),
        anew: hidden.value === "anew",
      });
      location.assign(at(made.page));
    } catch (error) {
      fail(error);
      start.disabled = false;
    }
  }

  async function showVariations() {
    const { variations } = await ask(`${api}/variations`);
    list.replaceChildren(
      ...variations.map((one) =>
        el(
          "li",
          {},
          el(
            "a",
            { href: one.page },
            `from step ${one.step}${one.seat === null ? "" : `, on seat ${one.seat + 1}`}: ${one.names.join(", ")}`,
          ),
          el(
            "span",
            { class: "small" },
            `${one.drawn_for === null ? "" : ` · hidden cards drawn anew for seat ${one.drawn_for + 1}`} · ${one.over ? "over, " : ""}${one.scores.join(" : ")} VP after ${one.actions} actions`,
          ),
        ),
      ),
    );
    head.hidden = !variations.length;
  }
  const listThem = () => showVariations().catch(fail);
  listThem();
  onReturn(listThem);
  return el(
    "div",
    {},
    el("h3", {}, "Continue this game from here"),
    el("p", { class: "row" }, mine, hidden, start),
    el(
      "p",
      { class: "small" },
      "What chance brings from here on is new. Seats that you don't play have the agents above.",
    ),
    trouble,
    head,
    list,
  );
}

/** The odds of the next cards, and of Alea's next bid. */
function chances(viewer, api) {
  const content = el("div", { id: "chances-content" });
  const whole = el(
    "details",
    { id: "chances", ontoggle: () => show(viewer.step) },
    el("summary", {}, el("h3", {}, "Draw odds")),
    content,
  );
  let wanted = "";

  async function show(step) {
    const address = `${api}/${step}/chances${viewer.seat === null ? "" : `?seat=${viewer.seat}`}`;
    if (!whole.open || wanted === address) return;
    wanted = address;
    try {
      const answer = await ask(address);
      if (wanted !== address) return;
      const cell = (share) =>
        el(
          "td",
          { class: "share" },
          el("span", { class: "bar", style: `width:${100 * share}%` }),
          el("span", {}, percent(share)),
        );
      const row = (one) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, one.stack),
          ...(one.chances ? one.chances.map(cell) : [el("td", { colspan: 3 }, "no card is left")]),
        );
      const most = Math.max(...(answer.alea ?? []).map(([, share]) => share), 0.01);
      const bar = ([total, share]) =>
        el(
          "li",
          {},
          el("span", { class: "what" }, `${total}`),
          el("span", { class: "bar", style: `width:${(60 * share) / most}%` }),
          el("span", { class: "small" }, percent(share)),
        );
      content.replaceChildren(
        el(
          "p",
          { class: "small" },
          answer.seat === null
            ? "All hands are open, so this is exact."
            : `As ${viewer.names[answer.seat]} can expect, within a per cent or two.`,
        ),
        el(
          "table",
          { class: "chances" },
          el("caption", {}, "The next card of each stack"),
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              ...["stack", "4", "5", "6"].map((text) => el("th", { scope: "col" }, text)),
            ),
          ),
          el("tbody", {}, ...answer.cards.map(row)),
        ),
        ...(answer.alea
          ? [el("h3", {}, "Alea's next bid"), el("ol", { class: "bars" }, ...answer.alea.map(bar))]
          : []),
      );
    } catch (error) {
      content.replaceChildren(el("p", { class: "note" }, error.message));
    }
  }

  viewer.follow(show);
  return whole;
}

// ---- files ----

function exporting(viewer, { api, record }) {
  const look = () => `theme=${theme()}${viewer.seat === null ? "" : `&seat=${viewer.seat}`}`;
  const picture = (suffix) => {
    const link = el(
      "a",
      {
        id: `save-${suffix}`,
        class: "button",
        download: true,
        href: "#",
        onclick: () => {
          link.href = at(`${api}/${viewer.step}/picture.${suffix}?${look()}`);
        },
      },
      `this step, ${suffix.toUpperCase()}`,
    );
    return link;
  };
  const ready = el("p", { "aria-live": "polite" });
  const page = job(
    "make-page",
    "make one page of it (HTML)",
    () => `${api}/made`,
    (answer) => {
      ready.replaceChildren(
        answer.state !== "done"
          ? ""
          : el(
              "a",
              { class: "button", id: "made-page", download: true, href: `${api}/made/file` },
              `the page is ready: ${(answer.bytes / 1e6).toFixed(1)} MB`,
            ),
      );
    },
  );
  return el(
    "div",
    { id: "export" },
    el(
      "p",
      { class: "row" },
      picture("svg"),
      picture("png"),
      el("a", { class: "button", download: true, href: record }, "the record"),
    ),
    el("p", { class: "row" }, page.begin),
    page.line,
    ready,
    el(
      "p",
      { class: "small" },
      "Pictures show what is shown here: all hands, or one seat's view. The page has all views of all steps and needs no server.",
    ),
  );
}
