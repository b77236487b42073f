// The viewer of a recorded game, shared by the server's page and exported files, which differ in
// the source of drawings.
import { fitHole, handLine, isSmall, stackLine } from "./around.js";
import { isUpright, showBoard } from "./board.js";
import { $$, el, ruleLink } from "./dom.js";
import { seatNames } from "./format.js";
import { theme } from "./settings.js";

const CHARTS = { now: "if scored now", vp: "VP", win: "chance to win" };
const ROOM = 600; // pixels that the wide chart needs

/**
 * Fill `root` with a viewer.
 *
 * `game`: what Replay.payload() gives. `draw(step, seat, theme, narrow)`: the drawing, a promise
 * of its parts; seat null: all hands. `options`: `step` and `seat` to begin with; `tools(viewer)`:
 * sections beside the board; `moved(place, jumped)`: told of each step and seat that is shown.
 */
export function view(root, game, draw, options = {}) {
  const within = (wanted) => Math.max(0, Math.min(game.steps, wanted ?? 0));
  let step = within(options.step);
  let timer = 0;
  let drawn = 0; // tells late drawings apart
  let drawnChart = null; // the chart that is shown
  let shown = {}; // the parts of the drawing
  let kind = Object.keys(game.charts)[0];
  const charts = { ...game.charts };
  const followers = [];
  const names = seatNames(game.names);

  // ---- the parts of the page ----
  const situation = el("h1#situation");
  const board = el("div#board.board");
  const scrolls = { role: "region", "aria-label": "board", tabindex: 0 }; // for the keyboard
  const over = el("div.over-board", scrolls, board);
  const slider = el("input#step", {
    type: "range",
    min: 0,
    max: game.steps,
    value: 0,
    "aria-label": "step",
    oninput: () => go(Number(slider.value)),
  });
  const count = el("output#count", { for: "step" });
  const button = (id, text, label, onclick) =>
    el("button", { id, title: label, "aria-label": label, onclick }, text);
  const play = button("play", "▶ play", "play", () => (timer ? stop() : start()));
  const isChosen = (value, chosen) => ({ value, selected: value === chosen });
  const speeds = [0.5, 1, 2, 4, 8].map((each) =>
    el("option", isChosen(each, 2), `${each} steps/s`),
  );
  const speed = el("select#speed", { "aria-label": "steps a second" }, speeds);
  const whose = el(
    "select#whose",
    { "aria-label": "whose hands", onchange: () => show(true) },
    el("option", { value: "" }, "all hands"),
    names.map((name, seat) => el("option", isChosen(seat, options.seat), `as ${name} sees it`)),
  );
  const line = ([at, text, rules]) =>
    el(
      "li",
      { "data-step": at },
      el("button.line", { onclick: () => go(at, true) }, text),
      options.tools ? ruleLink(rules) : "", // a file has no rules
    );
  const heard = { tabindex: 0, "aria-label": "Log" };
  const log = el("ol#log.log", heard, game.lines.map(line));
  const chart = el("div.chart-holder");
  const choice = el("div");
  const jump = (to) => to !== undefined && go(to, true);
  const back = () => jump(game.auctions.findLast((at) => at < step));
  const next = () => jump(game.auctions.find((at) => at > step));
  const auctions = el(
    "span.pair",
    button("auction-back", "‹", "previous auction", back),
    "auction",
    button("auction-next", "›", "next auction", next),
  );
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
      step = within(place.step);
      show(false, true);
    },
    /** `follow(step)` is called whenever another position is drawn. */
    follow: (follow) => followers.push(follow),
  };
  const tools = options.tools?.(viewer);
  const happened = el("section", el("h2", "Log"), log);
  const below = el("aside.below", { "aria-label": "the whole game" });
  const aside = el("aside", { "aria-label": tools ? "tools" : "the whole game" }, tools ?? []);
  const strip = el("p#strip.small", { "aria-hidden": "true" });
  root.replaceChildren(
    el(
      "section.play",
      over,
      el(
        "div.transport",
        situation,
        el(
          "div.row",
          el(
            "span.pair",
            button("first", "|◀", "to the beginning", () => go(0, true)),
            button("back", "‹", "one choice back", () => go(before())),
            play,
            button("next", "›", "one choice forward", () => go(after())),
            button("last", "▶|", "to the end", () => go(game.steps, true)),
          ),
          count,
          auctions,
          speed,
          whose,
        ),
        slider,
        strip,
      ),
      el("div.chart-box", choice, chart),
      below,
    ),
    aside,
  );

  // ---- moving by whole choices, as all cards of a bid are one ----
  const after = () => game.choices.find((at) => at > step) ?? game.steps;
  const before = () => game.choices.findLast((at) => at < step) ?? 0;

  function go(wanted, jumped = false) {
    step = within(wanted);
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
    if (!quietly) options.moved?.({ step, seat }, jumped === true);
    try {
      const drawing = await draw(step, seat, theme(), isUpright.matches);
      if (mine !== drawn) return;
      showBoard(board, drawing);
      showAround(seat);
      showLine();
      bring(drawing);
      for (const follow of followers) follow(step);
    } catch (error) {
      if (mine === drawn) board.textContent = error.message;
    }
  }

  /** The log fills the empty part of a wide drawing; small screens have the cards in a line. */
  function showAround(seat) {
    const isFull = isSmall.matches || isUpright.matches;
    const place = isFull ? (tools ? below : aside) : over;
    if (happened.parentNode !== place) place.append(happened);
    happened.classList.toggle("hole", place === over);
    if (place === over) fitHole(happened, board);
    if (!isSmall.matches) return;
    const acting = board.querySelector("[data-acting]");
    const whose = seat ?? Number(acting?.dataset.acting ?? 0);
    strip.replaceChildren(handLine(names[whose], whose, board), stackLine(board));
  }

  /** On small screens, bring the auction or the part of the city that has changed into view. */
  function bring(drawing) {
    const partOf = (name) => board.querySelector(`[data-part="${name}"]`);
    const isNew = (name) => /^[A-Z].*\./.test(name) && drawing[name][0] !== shown[name]?.[0];
    const part = partOf("auction") ?? partOf(Object.keys(drawing).find(isNew));
    shown = drawing;
    const nearest = { block: "nearest", inline: "nearest", behavior: "instant" };
    if (isSmall.matches) part?.scrollIntoView(nearest);
  }

  // ---- the chart ----
  function setChart(name, drawings) {
    if (!charts[name]) kind = name; // a new one is shown at once
    charts[name] = drawings;
    showChoice();
    showChart();
  }

  function showChoice() {
    if ($$("input", choice).length === Object.keys(charts).length) return;
    const known = Object.entries(CHARTS).filter(([name]) => charts[name]);
    const radio = ([value, text]) => {
      const show = () => {
        kind = value;
        showChart();
      };
      const checked = value === kind;
      const input = { type: "radio", name: "chart", value, checked, onchange: show };
      return el("label", el("input", input), text);
    };
    choice.replaceChildren(
      el("fieldset#chart.segments", el("legend", "The chart shows"), known.map(radio)),
    );
  }

  function showChart() {
    const wanted = charts[kind][chart.clientWidth < ROOM ? "narrow" : "wide"];
    // made by the server, which escapes all names
    if (drawnChart !== wanted) chart.innerHTML = drawnChart = wanted;
    const svg = chart.querySelector("svg");
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    const x = left + ((right - left) * step) / Math.max(1, game.steps);
    svg.querySelector(".cursor").setAttribute("transform", `translate(${x})`);
    for (const one of $$("tspan", svg)) one.textContent = one.dataset.values.split(",")[step];
  }

  function showLine() {
    /** @type {HTMLElement | null} */
    let current = null;
    for (const line of $$("li", log)) {
      const at = Number(line.dataset.step);
      line.classList.toggle("new", at === step);
      for (const part of line.children) part.tabIndex = at === step ? 0 : -1; // few for Tab
      line.classList.toggle("later", at > step);
      if (at <= step) current = line;
    }
    if (current) log.scrollTop = current.offsetTop - log.clientHeight + current.offsetHeight + 40;
  }

  // ---- playback ----
  function start() {
    if (step === game.steps) go(0);
    const wait = () => {
      timer = setTimeout(goOn, 1000 / Number(speed.value));
    };
    const goOn = () => {
      if (step === game.steps) return stop();
      wait();
      return go(after());
    };
    wait();
    showPlay("❚❚ pause", "pause");
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    showPlay("▶ play", "play");
  }

  function showPlay(text, label) {
    Object.assign(play, { textContent: text, title: label, ariaLabel: label });
  }

  chart.addEventListener("click", (event) => {
    const svg = chart.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    const x = ((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width;
    go(Math.round(((x - left) / (right - left)) * game.steps), true);
  });
  for (const size of [isSmall, isUpright]) size.addEventListener("change", () => show(false, true));
  new ResizeObserver(showChart).observe(chart);
  showChoice();
  show(false, true);
  return viewer;
}
