// The lobby: begin a game, go on with one, open a record.
import { confirmed } from "./asking.js";
import { ask, at, el, keys, onReturn, seatNames, send, themeButton } from "./dom.js";
import { follow, readiness } from "./preparing.js";
import { rulesButton } from "./rules.js";
import { storedName, storeName } from "./settings.js";

const $ = (name) => document.getElementById(name);
const note = (text) => {
  $("note").textContent = text;
  $("note").hidden = !text;
};
const canPlay = (name) => agents.find((one) => one.name === name)?.state !== "failed";
let agents = [];

// ---- beginning a game ----

$("name").value = storedName();
$("name").oninput = () => storeName($("name").value);

const keyFor = keys();

/** Begin a game and go to its table; nothing can be begun meanwhile. */
async function begin(form, game) {
  if (document.body.classList.contains("leaving")) return;
  const button = form.querySelector("button:not([type])"),
    words = button.textContent;
  leave(true);
  button.textContent = "setting up the table …";
  note("");
  try {
    location.href = at((await send("/api/games", { ...game, idempotency_key: keyFor(game) })).page);
  } catch (error) {
    leave(false);
    button.textContent = words;
    note(error.message);
  }
}

function leave(leaving) {
  document.body.classList.toggle("leaving", leaving);
  for (const button of document.querySelectorAll("form button")) button.disabled = leaving;
}
onReturn(() => location.reload()); // from a table: games have changed

// ---- what is on offer ----

function showStrengths(strengths) {
  const usual = strengths.find((one) => canPlay(one.agent))?.agent;
  $("strengths").replaceChildren(
    ...strengths.map((one) =>
      el(
        "label",
        { class: "strength" },
        el("input", {
          type: "radio",
          name: "strength",
          value: one.agent,
          checked: one.agent === usual,
          disabled: !canPlay(one.agent),
        }),
        el("b", {}, one.word),
        el(
          "span",
          { class: "rating" },
          `${one.agent}${one.rating === null ? "" : `, ${`${Math.round(one.rating)}`.replace("-", "−")} points`}`,
        ),
        el("span", { class: "style" }, one.style, el("span", { "data-readiness": one.agent })),
      ),
    ),
  );
  $("points").hidden = strengths.every((one) => one.rating === null);
}

const options = () => agents.map((one) => el("option", { value: `agent:${one.name}` }, one.name));

/**
 * Say of every agent whether it is ready; one that isn't yet can be chosen, and the game begins
 * when it is.
 */
function showReadiness() {
  for (const one of agents) {
    const words = readiness(one);
    for (const option of document.querySelectorAll(
      `option[value="agent:${CSS.escape(one.name)}"]`,
    )) {
      option.textContent = words ? `${one.name} (${words})` : one.name;
      option.title = one.description;
      option.disabled = one.state === "failed";
    }
    for (const place of document.querySelectorAll(`[data-readiness="${CSS.escape(one.name)}"]`)) {
      place.textContent = words ? ` It is ${words}.`.replace("is can't play", "can't play") : "";
      place.closest("label").querySelector("input").disabled = one.state === "failed";
    }
  }
}

function showSeats() {
  const before = [...$("seats").querySelectorAll("select")].map((select) => select.value);
  const usual = agents.some((one) => one.name === "greedy") ? "greedy" : agents[0].name;
  const seats = Array.from({ length: Number($("players").value) }, (_, seat) => {
    const select = el(
      "select",
      { id: `seat-${seat}`, onchange: showHot },
      el("option", { value: "me" }, seat === 0 ? "me" : "me, or somebody at this screen"),
      el("option", { value: "human" }, "another person, by a link"),
      el("optgroup", { label: "agents" }, ...options()),
    );
    select.value = before[seat] ?? (seat === 0 ? "me" : `agent:${usual}`);
    const name = el("input", {
      id: `name-${seat}`,
      maxlength: 24,
      placeholder: `Player ${seat + 1}`,
      size: 14,
      "aria-label": `name of who sits on seat ${seat + 1}`,
      value: seat === 0 ? $("name").value : "",
    });
    return el(
      "p",
      { class: "row" },
      el("label", {}, `seat ${seat + 1} `, select),
      name,
      seat === 0 ? el("span", { class: "small" }, "begins") : null,
    );
  });
  $("seats").replaceChildren($("seats").firstElementChild, ...seats);
  showHot();
}

/** Who sits at this screen has a name; several share the screen. */
function showHot() {
  const selects = [...$("seats").querySelectorAll("select")];
  const here = selects.filter((select) => select.value === "me");
  for (const select of selects)
    select.closest("p").querySelector("input").hidden = !here.includes(select);
  $("hot").hidden = here.length < 2;
}

// ---- games under way ----

const when = (seconds) =>
  new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

function describe(game) {
  const button = game.owner
    ? el(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-label": "delete this game",
          onclick: () => forget(game),
        },
        "delete",
      )
    : null;
  if (game.error) return [el("span", { class: "what bad" }, game.error), button].filter(Boolean);
  const names = game.names.flatMap((name, seat) => [
    seat ? ", " : "",
    name,
    ...(game.agents[seat] ? [" ", el("span", { class: "mark" }, "agent")] : []),
  ]);
  const state =
    game.state === "over"
      ? "over"
      : game.state === "your turn"
        ? el("span", { class: "yours" }, "your turn")
        : game.state;
  const back = game.taken_back
    ? ` · a copy, ${game.taken_back} ${game.taken_back === 1 ? "decision" : "decisions"} taken back`
    : "";
  const watched = game.seat === null ? " · you look on" : "";
  return [
    el(
      "span",
      { class: "what" },
      el("a", { href: game.page }, ...names),
      el(
        "span",
        { class: "small" },
        `${game.side} side · begun ${when(game.created)}${back}${watched}`,
      ),
    ),
    el("span", { class: "small" }, game.state === "over" ? "" : `turn ${game.turn + 1}`),
    el("span", {}, state),
    el("span", { class: "score", title: "points" }, game.scores.join(" : ")),
    button,
  ].filter(Boolean);
}

async function remove(question, address, showRest) {
  if (!(await confirmed(question, "delete"))) return;
  try {
    await ask(address, { method: "DELETE" });
    await showRest();
  } catch (error) {
    note(error.message);
  }
}

const forget = (game) =>
  remove(
    "Delete this game for all who play it?",
    game.page.replace("/seat/", "/api/seats/"),
    showGames,
  );

async function showGames() {
  const { games } = await ask("/api/games");
  $("mine").hidden = games.length === 0;
  $("games").replaceChildren(...games.map((game) => el("li", {}, ...describe(game))));
}

function describeReplay(replay) {
  const games = replay.games > 1 ? ` · ${replay.games} games` : "";
  return [
    el(
      "span",
      { class: "what" },
      el("a", { href: replay.page }, seatNames(replay.names).join(", ") || "a record"),
      el("span", { class: "small" }, `opened ${when(replay.created)}${games}`),
    ),
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": "delete this replay",
        onclick: () => forgetReplay(replay),
      },
      "delete",
    ),
  ];
}

const forgetReplay = (replay) =>
  remove(
    "Delete this replay? The file that it came from stays.",
    replay.page.replace("/replay/", "/api/replays/"),
    showReplays,
  );

async function showReplays() {
  const { replays } = await ask("/api/replays");
  $("kept").hidden = replays.length === 0;
  $("replays").replaceChildren(...replays.map((replay) => el("li", {}, ...describeReplay(replay))));
}

async function open(file) {
  note(`reading ${file.name} …`);
  try {
    location.href = at(
      (
        await ask("/api/replays", {
          method: "POST",
          headers: { "Content-Type": "application/jsonl" },
          body: file,
        })
      ).page,
    );
  } catch (error) {
    note(`${file.name}: ${error.message}`);
  }
}

// ---- setting up ----

$("players").onchange = () => {
  showSeats();
  showReadiness();
};
$("play").onsubmit = (event) => {
  event.preventDefault();
  const agent = $("play").elements.strength.value;
  begin($("play"), {
    players: 2,
    side: "front",
    seats: ["me", `agent:${agent}`],
    names: [$("name").value.trim(), ""],
  });
};
$("watch").onsubmit = (event) => {
  event.preventDefault();
  begin($("watch"), { players: 2, side: "front", seats: [$("watch-0").value, $("watch-1").value] });
};
$("new").onsubmit = (event) => {
  event.preventDefault();
  const seats = [...$("seats").querySelectorAll("select")].map((select) => select.value);
  const names = seats.map((kind, seat) => (kind === "me" ? $(`name-${seat}`).value.trim() : ""));
  begin($("new"), {
    players: seats.length,
    side: $("side").value,
    seed: $("seed").value.trim(),
    seats,
    names,
  });
};
$("file").onchange = () => {
  if ($("file").files.length) open($("file").files[0]);
};
addEventListener("dragover", (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
});
addEventListener("dragleave", () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
});
document.querySelector("header").append(
  rulesButton(),
  themeButton(() => {}),
);
const openCustom = () => {
  if (location.hash === "#custom") $("custom").open = true;
};
addEventListener("hashchange", openCustom);
openCustom();

async function load() {
  try {
    const offer = await ask("/api/options");
    agents = offer.agents;
    showStrengths(offer.strengths);
    for (const way of $("ways").children)
      way.hidden = !offer.pages.includes(way.getAttribute("href"));
    $("ways").hidden = [...$("ways").children].every((way) => way.hidden);
    if (offer.pages.includes("/ladder")) $("to-ladder").href = at("/ladder");
    showSeats();
    for (const [seat, name] of [
      [0, "trained"],
      [1, "greedy"],
    ]) {
      $(`watch-${seat}`).replaceChildren(...options());
      if (agents.some((one) => one.name === name && canPlay(name)))
        $(`watch-${seat}`).value = `agent:${name}`;
    }
    showReadiness();
    $("waiting").textContent = "";
    $("play").removeAttribute("aria-busy");
    leave(false);
    $("play-now").disabled =
      $("play").elements.strength === undefined || !$("play").querySelector(":checked");
    await showGames();
    await showReplays();
  } catch (error) {
    $("waiting").replaceChildren(
      `${error.message} `,
      el("button", { type: "button", onclick: load }, "try again"),
    );
  }
}
follow((told) => {
  if (!agents.length) return; // nothing is shown yet
  ({ agents } = told);
  showReadiness();
});
await load();
