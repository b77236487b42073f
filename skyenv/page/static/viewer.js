// Looking at a recorded game, step by step. The server's page and exported files share it; they differ in where drawings come from.
import { isNarrow, showBoard } from "./board.js";
import { el, hintList, seatNames, theme } from "./dom.js";

/**
 * Fill `root` with a viewer.
 *
 * `game`: what Replay.payload() gives. `draw(step, seat, theme, narrow)`: the drawing, a promise of text; seat null: all hands.
 * `agents`: names of agents to ask with `hint(step, name)`; none: nobody can be asked. Returns a function that draws anew.
 */
export function view(root, game, draw, agents = [], hint = null) {
  let step = 0;
  let timer = null;
  let drawn = 0;  // tells late drawings apart
  let drawnChart = null;  // the chart that is shown
  const names = seatNames(game.names);

  // ---- the parts of the page ----
  const situation = el("h1", { id: "situation", class: "unseen" });
  const board = el("div", { class: "board", id: "board" });
  const slider = el("input", { type: "range", id: "step", min: 0, max: game.steps, value: 0, "aria-label": "step", oninput: () => go(Number(slider.value)) });
  const count = el("output", { id: "count", for: "step" });
  const button = (id, text, label, onclick) => el("button", { type: "button", id, title: label, "aria-label": label, onclick }, text);
  const play = button("play", "▶ play", "play", () => (timer ? stop() : start()));
  const speed = el("select", { id: "speed", "aria-label": "steps a second", onchange: () => { if (timer) { stop(); start(); } } },
    ...[0.5, 1, 2, 4, 8].map((each) => el("option", { value: each, selected: each === 2 }, `${each} steps/s`)));
  const whose = el("select", { id: "whose", onchange: () => show() },
    el("option", { value: "" }, "all hands"), ...names.map((name, seat) => el("option", { value: seat }, `as ${name} sees it`)));
  const log = el("ol", { class: "log", id: "log", tabindex: 0, "aria-label": "What happened" },
    ...game.lines.map(([at, text]) => el("li", { "data-step": at }, el("button", { type: "button", class: "line", onclick: () => go(at) }, text))));
  const chart = el("div", { class: "chart-holder" });
  const adviser = el("select", { id: "adviser" }, ...agents.map((name) => el("option", {}, name)));
  const hints = el("div", { id: "hint", "aria-live": "polite" });
  const asking = el("section", { hidden: agents.length === 0 }, el("h2", {}, "A hint"),
    el("p", { class: "row" }, el("label", { for: "adviser" }, "of"), adviser, button("ask", "what would it do here?", "ask the agent", ask)), hints);
  const jump = (id, text, label, steps, forward) => button(id, text, label, () => {
    const next = forward ? steps.find((at) => at > step) : steps.findLast((at) => at < step);
    if (next !== undefined) go(next);
  });
  root.replaceChildren(
    el("section", { class: "play" }, situation, board,
      el("div", { class: "transport" },
        el("div", { class: "row" },
          button("first", "|◀", "to the beginning", () => go(0)), button("back", "‹", "one step back", () => go(step - 1)), play,
          button("next", "›", "one step on", () => go(step + 1)), button("last", "▶|", "to the end", () => go(game.steps)), speed, count,
          jump("auction-back", "‹ auction", "previous auction", game.auctions, false), jump("auction-next", "auction ›", "next auction", game.auctions, true),
          jump("scoring-back", "‹ scoring", "previous scoring", game.scorings, false), jump("scoring-next", "scoring ›", "next scoring", game.scorings, true),
          el("label", {}, "show ", whose)),
        slider),
      chart),
    el("aside", {}, asking, el("section", {}, el("h2", {}, "What happened"), log)));

  // ---- moving ----
  function go(wanted) {
    const next = Math.max(0, Math.min(game.steps, wanted));
    if (next !== step) hints.replaceChildren();
    step = next;
    show();
  }

  async function show() {
    const mine = ++drawn;
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step}: ${game.situations[step]}`);
    count.textContent = `${step} / ${game.steps}`;
    situation.textContent = game.situations[step];
    showChart();
    showLine();
    const seat = whose.value === "" ? null : Number(whose.value);
    try {
      const text = await draw(step, seat, theme(), isNarrow());
      if (mine === drawn) showBoard(board, text);
    } catch (error) {
      if (mine === drawn) board.textContent = error.message;
    }
  }

  function showChart() {
    const wanted = isNarrow() ? game.narrow_chart : game.chart;
    if (drawnChart !== wanted) chart.innerHTML = drawnChart = wanted;
    const svg = chart.querySelector("svg");
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    svg.querySelector(".cursor").setAttribute("transform", `translate(${left + (right - left) * step / Math.max(1, game.steps)})`);
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

  function start() {
    if (step === game.steps) go(0);
    timer = setInterval(() => (step < game.steps ? go(step + 1) : stop()), 1000 / Number(speed.value));
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

  async function ask() {
    const at = step;
    try {
      const answer = await hint(at, adviser.value);
      if (at === step) hints.replaceChildren(hintList(answer));
    } catch (error) {
      hints.textContent = error.message;
    }
  }

  chart.addEventListener("click", (event) => {
    const svg = chart.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const [left, right] = [Number(svg.dataset.left), Number(svg.dataset.right)];
    const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    go(Math.round((x - left) / (right - left) * game.steps));
  });
  matchMedia("(max-width: 699px)").addEventListener("change", show);
  show();
  return show;
}
