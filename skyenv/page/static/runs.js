// Trainings while they go on: which there are, their curves over each other, their networks as opponents.
import { ask, at, el, leaveBy, send, themeButton } from "./dom.js";
import { draw, valueAt } from "./curves.js";
import { offered, watch } from "./match.js";
import { rulesButton } from "./rules.js";

const $ = (name) => document.getElementById(name);
const note = (text) => { $("note").textContent = text; $("note").hidden = !text; };
const COLOURS = 8;
const DASHES = ["none", "7 3", "2 3", "10 3 2 3", "12 4", "4 2 1 2"];
const MOST_LINES = 8;
const PACE = 4000;  // milliseconds between looks
const curves = new Map();  // of a run's key: {age, points, complaint}
let runs = [];
let agents = [];
let chosen = new Set(new URLSearchParams(location.search).getAll("run"));
let kinds = null;  // opponents whose lines are drawn; null: as many as fit
let about = null;  // the key of the run whose details are shown
let shownAbout = "";

const colour = (number) => `var(--line-${number % COLOURS})`;
const picked = () => runs.filter((run) => chosen.has(run.key));
const points = (run) => curves.get(run.key)?.points ?? [];
const across = (point) => ($("over").value === "minutes" ? point.seconds / 60 : point.decisions);

function keepAddress() {
  const next = new URLSearchParams([...chosen].map((key) => ["run", key]));
  history.replaceState(null, "", next.size ? `?${next}` : location.pathname);
}

// ---- the list ----

const fields = new Map();  // of a run's key: its entry in the list

function entry(run) {
  const box = el("input", { type: "checkbox", onchange: () => choose(run.key, box.checked) });
  const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
  const badge = el("span", { class: "badge" });
  const bar = el("progress", { max: 1, "aria-label": `${run.name}: how much of it is done` });
  const facts = el("span", { class: "small" });
  const complaint = el("span", { class: "small" });
  const more = el("button", { type: "button", class: "quiet", onclick: () => showAbout(run.key, true) }, "details");
  const item = el("li", { class: "run", "data-run": run.key },
    el("div", { class: "row" }, el("label", {}, box, swatch, run.name), badge), bar,
    el("div", { class: "row between" }, facts, more), complaint);
  return { box, swatch, badge, bar, facts, complaint, item };
}

function showList() {
  for (const run of runs) {
    if (!fields.has(run.key)) fields.set(run.key, entry(run));
    const one = fields.get(run.key);
    const at = picked().indexOf(run);
    one.box.checked = chosen.has(run.key);
    one.item.classList.toggle("chosen", chosen.has(run.key));
    one.swatch.style.background = at < 0 || picked().length < 2 ? "" : colour(at);
    one.badge.textContent = run.state;
    one.badge.className = `badge ${run.state === "running" ? "running" : ""}`;
    one.bar.value = run.progress ?? 0;
    one.facts.textContent = run.minutes === null ? "no checkpoint yet"
      : `${run.minutes.toFixed(1)} min · ${(run.decisions / 1e6).toFixed(2)} M decisions`;
    one.complaint.textContent = run.complaint;
  }
  const wanted = runs.map((run) => fields.get(run.key).item);
  if (wanted.length !== $("runs").children.length || wanted.some((item, at) => $("runs").children[at] !== item)) $("runs").replaceChildren(...wanted);
}

function choose(key, on) {
  if (on) chosen.add(key); else chosen.delete(key);
  kinds = null;
  keepAddress();
  showList();
  look();
}

// ---- curves ----

/** The opponents of the chosen runs, the hardest ones first. */
function allKinds() {
  const last = new Map();
  for (const run of picked()) for (const [kind, share] of Object.entries(points(run).at(-1)?.shares ?? run.shares)) last.set(kind, Math.min(share, last.get(kind) ?? 1));
  return [...last].sort((one, other) => one[1] - other[1] || one[0].localeCompare(other[0])).map(([kind]) => kind);
}

function showKinds() {
  const all = allKinds();
  const room = Math.max(1, Math.floor(MOST_LINES / Math.max(1, picked().length)));
  const usual = all.filter((kind) => picked().length < 2 || kind !== "past").slice(0, room);
  const drawn = (kinds ?? usual).filter((kind) => all.includes(kind));
  const boxes = [...$("kinds").querySelectorAll("input")];
  if (boxes.map((box) => box.value).join() !== all.join()) {
    $("kinds").replaceChildren($("kinds").firstElementChild, ...all.map((kind) => el("label", {}, el("input", {
      type: "checkbox", value: kind, onchange: () => {
        kinds = [...$("kinds").querySelectorAll("input:checked")].map((box) => box.value);
        showCurves();
      },
    }), kind, el("span", { class: "swatch", "aria-hidden": "true" }))));
  }
  for (const label of $("kinds").querySelectorAll("label")) {
    const box = label.querySelector("input");
    box.checked = drawn.includes(box.value);
    label.querySelector(".swatch").style.background = box.checked && picked().length < 2 ? colour(all.indexOf(box.value)) : "none";
  }
  return { all, drawn };
}

function showCurves() {
  const { all, drawn } = showKinds();
  const several = picked().length > 1;
  const lines = (value, name, style) => picked().map((run, at) => ({
    name: several ? run.name.split("/").at(-1) : name, run: run.name, colour: several ? colour(at) : style,
    points: points(run).map((point) => [across(point), value(point)]).filter((point) => point[1] !== undefined),
  }));
  const wins = picked().flatMap((run, at) => drawn.map((kind, number) => ({
    name: several ? (drawn.length > 1 ? `${run.name.split("/").at(-1)}, ${kind}` : run.name.split("/").at(-1)) : kind,
    colour: several ? colour(at) : colour(all.indexOf(kind)), dashes: several ? DASHES[number % DASHES.length] : "none",
    points: points(run).filter((point) => point.shares[kind] !== undefined).map((point) => [across(point), point.shares[kind]]),
  })));
  const unit = $("over").value === "minutes" ? "minutes" : "decisions";
  const pars = [...new Set(picked().flatMap((run) => points(run).at(-1)?.players ?? []))].map((players) => 1 / players);
  const tell = (shown, format) => (x) => {
    $("reading-of").textContent = x === null ? "" : `at ${x.toFixed(unit === "minutes" ? 1 : 0)} ${unit}: `
      + shown.map((line) => [line.name, valueAt(line.points, x)]).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${format(value)}`).join(", ");
  };
  const latest = (shown, format) => shown.filter((line) => line.points.length).map((line) => `${line.name} ${format(line.points.at(-1)[1])}`).join(", ") || "nothing yet";
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const charts = [
    ["wins", wins, "Share of wins", percent, { most: 1, percent: true, pars }],
    ["entropy", lines((point) => point.entropy, "entropy", "var(--line-0)"), "Entropy in nats", (value) => value.toFixed(3), {}],
    ["pace", lines((point) => point.pace, "decisions/s", "var(--line-2)"), "Decisions a second", (value) => Math.round(value).toLocaleString(), {}]];
  for (const [place, shown, title, format, options] of /** @type {any[][]} */ (charts)) {
    draw($(place), shown, { ...options, unit, label: `${title}. At the end: ${latest(shown, format)}`, picked: tell(shown, format) });
  }
}

// ---- one run ----

async function offer(run, seconds) {
  const { name } = await send(`/api/runs/${run.key}/networks`, { seconds });
  return name;
}

function showAbout(key, go = false) {
  about = key;
  const run = runs.find((one) => one.key === key);
  if (!run) return;
  const state = JSON.stringify([key, run.networks, run.evaluation, run.games, run.complaint]);
  if (state === shownAbout || (!go && $("about").contains(document.activeElement))) return;
  shownAbout = state;
  const players = Number(run.players.split(",")[0]) || 2;
  const failed = el("p", { class: "note", role: "alert", hidden: true });
  const fail = (text) => { failed.textContent = text; failed.hidden = !text; };
  const which = el("select", { id: "network" }, ...run.networks.map((one, at) => el("option", { value: at }, `${one.name}${one.seconds === null ? " (newest)" : ""}`)));
  const whom = el("select", { id: "opponent" }, ...agents.map((name) => el("option", { selected: name === "greedy" }, name)));
  const side = run.options.side?.split(",")[0].trim() || "front";
  const begin = (seats) => async (event) => {
    leaveBy(event.target);
    fail("");
    try {
      const name = await offer(run, run.networks[Number(which.value)].seconds);
      await seats(name);
    } catch (error) {
      event.target.disabled = false;
      fail(error.message);
    }
  };
  const others = (name) => Array.from({ length: players - 1 }, () => name);
  const playIt = begin(async (name) => {
    const { page } = await send("/api/games", { players, side, seed: "", seats: ["me", ...others(`agent:${name}`)] });
    location.href = at(page);
  });
  $("about").replaceChildren(el("div", { class: "card" }, el("h2", { id: "about-head", tabindex: -1 }, `${run.name}${run.players ? `, ${run.players} players` : ""}`),
    run.complaint ? el("p", { class: "note" }, run.complaint) : null,
    run.networks.length ? el("div", {}, el("div", { class: "filters match" }, el("label", {}, "network", which),
      el("button", { type: "button", class: "primary", id: "play-it", onclick: playIt }, "play against it"),
      el("label", {}, "opponent", whom),
      el("button", { type: "button", id: "watch-it", onclick: begin((name) => watch([name, ...others(whom.value)], side)) }, "watch them play")), failed)
      : el("p", {}, "It has kept no network yet."),
    run.games.length ? el("p", {}, ...run.games.map((file) => el("a", { href: `/library?file=${file}` }, "Look through its games"))) : null,
    run.evaluation ? el("details", { open: true }, el("summary", {}, "how it plays in the end"), el("pre", { class: "output", tabindex: 0 }, run.evaluation)) : null,
    el("details", {}, el("summary", {}, "options"), el("dl", { class: "options" },
      ...Object.entries(run.options).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value || "none")])))));
  if (go) { $("about").scrollIntoView({ block: "nearest" }); $("about-head").focus({ preventScroll: true }); }
}

// ---- as it goes on ----

let timer = null;
let looking = false;
let again = false;  // something was chosen meanwhile

async function look() {
  clearTimeout(timer);
  again = looking;
  if (looking) return;
  looking = true;
  try {
    const told = await ask("/api/runs");
    runs = told.runs;
    note(told.trouble || (runs.length ? "" : "There is no training in the folders yet."));
    $("content").hidden = !runs.length;
    if (runs.length && !picked().length && !fields.size) chosen = new Set([runs[0].key]);
    showList();
    for (const run of picked()) {
      const known = curves.get(run.key) ?? { age: 0, points: [] };
      const news = await ask(`/api/runs/${run.key}/curve?from=${known.points.length}&age=${known.age}`);
      curves.set(run.key, { age: news.age, points: [...known.points.slice(0, news.from), ...news.points] });
    }
    if (runs.length) {
      showCurves();
      showAbout(about ?? picked()[0]?.key ?? runs[0].key);
    }
  } catch (error) {
    note(error.message);
  }
  looking = false;
  timer = setTimeout(look, again ? 0 : document.hidden ? 5 * PACE : PACE);
}

document.querySelector("header").append(rulesButton(), themeButton(() => {}));
$("over").onchange = showCurves;
new ResizeObserver(() => { if (runs.length) showCurves(); }).observe($("curves"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
try {
  agents = await offered();
} catch (error) {
  note(error.message);
}
look();
