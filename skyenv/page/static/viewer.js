// Looking at a recorded game, step by step. The server's page and exported files share it; they
// differ in where drawings come from.
import { isUpright, showBoard } from "./board.js";
import { el, ruleLink, seatNames, theme } from "./dom.js";

const CHARTS = { now: "if scored now", vp: "VP", win: "chance to win" };

/** One of several, side by side: radio buttons; `changed(value)`. */
export function segments(name, legend, choices, chosen, changed) {
  const radio = ([value, text]) =>
    el(
      "label",
      {},
      el("input", {
        type: "radio",
        name,
        value,
        checked: value === chosen,
        onchange: () => changed(value),
      }),
      text,
    );
  return el(
    "fieldset",
    { class: "segments", id: name },
    el("legend", {}, legend),
    ...choices.map(radio),
  );
}

const isPhone = matchMedia("(max-width: 699px)");

/**
 * Fill `root` with a viewer.
 *
 * `game`: what Replay.payload() gives. `draw(step, seat, theme, narrow)`: the drawing, a promise
 * of its parts; seat null: all hands. `options`: `step` and `seat` to begin with; `tools(viewer)`:
 * more sections, lists of those `beside` the board and those `below` the chart, with the log;
 * `moved(place, jumped)`: told of each step and seat that is shown. Returns the viewer.
 */
export function view(root, game, draw, options = {}) {
  let step = Math.max(0, Math.min(game.steps, options.step ?? 0));
  let timer = null;
  let drawn = 0; // tells late drawings apart
  let drawnChart = null; // the chart that is shown
  let kind = Object.keys(game.charts)[0];
  const charts = { ...game.charts };
  const followers = [];
  const names = seatNames(game.names);

  // ---- the parts of the page ----
  const situation = el("h1", { id: "situation" });
  const board = el("div", { class: "board", id: "board" });
  const over = el("div", { class: "over-board" }, board);
  const slider = el("input", {
    type: "range",
    id: "step",
    min: 0,
    max: game.steps,
    value: 0,
    "aria-label": "step",
    oninput: () => go(Number(slider.value)),
  });
  const count = el("output", { id: "count", for: "step" });
  const button = (id, text, label, onclick) =>
    el("button", { type: "button", id, title: label, "aria-label": label, onclick }, text);
  const play = button("play", "▶ play", "play", () => (timer ? stop() : start()));
  const speed = el(
    "select",
    {
      id: "speed",
      "aria-label": "steps a second",
      onchange: () => {
        if (timer) {
          stop();
          start();
        }
      },
    },
    ...[0.5, 1, 2, 4, 8].map((each) =>
      el("option", { value: each, selected: each === 2 }, `${each} steps/s`),
    ),
  );
  const whose = el(
    "select",
    { id: "whose", onchange: () => show(true) },
    el("option", { value: "" }, "all hands"),
    ...names.map((name, seat) =>
      el("option", { value: seat, selected: seat === options.seat }, `as ${name} sees it`),
    ),
  );
  const log = el(
    "ol",
    { class: "log", id: "log", tabindex: 0, "aria-label": "What happened" },
    ...game.lines.map(([at, text, rules]) =>
      el(
        "li",
        { "data-step": at },
        el("button", { type: "button", class: "line", onclick: () => go(at, true) }, text),
        options.tools ? ruleLink(rules) : null,
      ),
    ),
  ); // a file has no rules
  const chart = el("div", { class: "chart-holder" });
  const choice = el("div", {});
  const jump = (id, text, label, steps, forward) =>
    button(id, text, label, () => {
      const next = forward ? steps.find((at) => at > step) : steps.findLast((at) => at < step);
      if (next !== undefined) go(next, true);
    });
  const viewer = {
    names,
    game,
    board,
    over,
    go,
    show,
    setChart,
    get step() {
      return step;
    },
    get seat() {
      return whose.value === "" ? null : Number(whose.value);
    },
    /** Be there without having moved: for addresses that are gone back to. */
    put(place) {
      whose.value = place.seat ?? "";
      step = Math.max(0, Math.min(game.steps, place.step ?? 0));
      show(false, true);
    },
    /** `follow(step)` is called whenever another position is drawn. */
    follow(follow) {
      followers.push(follow);
    },
  };
  const tools = options.tools?.(viewer);
  const happened = el("section", {}, el("h2", {}, "What happened"), log);
  root.replaceChildren(
    el(
      "section",
      { class: "play" },
      over,
      el(
        "div",
        { class: "transport" },
        situation,
        el(
          "div",
          { class: "row" },
          button("first", "|◀", "to the beginning", () => go(0, true)),
          button("back", "‹", "one choice back", () => go(before())),
          play,
          button("next", "›", "one choice on", () => go(after())),
          button("last", "▶|", "to the end", () => go(game.steps, true)),
          speed,
          count,
          jump("auction-back", "‹ auction", "previous auction", game.auctions, false),
          jump("auction-next", "auction ›", "next auction", game.auctions, true),
          jump("scoring-back", "‹ scoring", "previous scoring", game.scorings, false),
          jump("scoring-next", "scoring ›", "next scoring", game.scorings, true),
          el("label", {}, "show ", whose),
        ),
        slider,
      ),
      el("div", { class: "chart-box" }, choice, chart),
      tools ? el("aside", { class: "below", "aria-label": "the whole game" }, happened) : null,
    ),
    el("aside", { "aria-label": tools ? "tools" : "the whole game" }, ...(tools ?? [happened])),
  );

  // ---- moving: by whole choices, as all cards of a bid are one ----
  const after = () => game.choices.find((at) => at > step) ?? game.steps;
  const before = () => game.choices.findLast((at) => at < step) ?? 0;

  function go(wanted, jumped = false) {
    step = Math.max(0, Math.min(game.steps, wanted));
    show(jumped);
  }

  async function show(jumped = false, quietly = false) {
    const mine = ++drawn;
    const seat = viewer.seat;
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step}: ${game.situations[step]}`);
    count.textContent = `${step} / ${game.steps}`;
    situation.textContent = game.situations[step];
    showChart();
    showLine();
    if (!quietly) options.moved?.({ step, seat }, jumped === true);
    try {
      const drawing = await draw(step, seat, theme(), isUpright.matches);
      if (mine !== drawn) return;
      showBoard(board, drawing);
      for (const follow of followers) follow(step);
    } catch (error) {
      if (mine === drawn) board.textContent = error.message;
    }
  }

  // ---- the chart ----
  function setChart(name, drawings) {
    if (!charts[name]) kind = name; // a new one is shown at once
    charts[name] = drawings;
    showChoice();
    showChart();
  }

  function showChoice() {
    if (choice.querySelectorAll("input").length === Object.keys(charts).length) return;
    const known = Object.entries(CHARTS).filter(([name]) => charts[name]);
    choice.replaceChildren(
      segments("chart", "The chart shows", known, kind, (value) => {
        kind = value;
        showChart();
      }),
    );
  }

  function showChart() {
    const wanted = charts[kind][isPhone.matches ? "narrow" : "wide"];
    // made by the server, which escapes all names
    if (drawnChart !== wanted) chart.innerHTML = drawnChart = wanted;
    const svg = chart.querySelector("svg");
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    svg
      .querySelector(".cursor")
      .setAttribute(
        "transform",
        `translate(${left + ((right - left) * step) / Math.max(1, game.steps)})`,
      );
  }

  function showLine() {
    let current = null;
    for (const line of log.children) {
      const at = Number(line.dataset.step);
      line.classList.toggle("new", at === step);
      line.classList.toggle("later", at > step);
      if (at <= step) current = line;
    }
    if (current) log.scrollTop = current.offsetTop - log.clientHeight + current.offsetHeight + 40;
  }

  // ---- playing by itself ----
  function start() {
    if (step === game.steps) go(0);
    timer = setInterval(
      () => (step < game.steps ? go(after()) : stop()),
      1000 / Number(speed.value),
    );
    showPlay("❚❚ pause", "pause");
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    showPlay("▶ play", "play");
  }

  function showPlay(text, label) {
    play.textContent = text;
    play.title = label;
    play.setAttribute("aria-label", label);
  }

  chart.addEventListener("click", (event) => {
    const svg = chart.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    const x = ((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width;
    go(Math.round(((x - left) / (right - left)) * game.steps), true);
  });
  for (const size of [isPhone, isUpright]) size.addEventListener("change", () => show(false, true));
  showChoice();
  show(false, true);
  return viewer;
}
