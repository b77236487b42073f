// The lobby: begin a game, go on with one, open a record.
import { ask, el, send, themeButton } from "./dom.js";

const $ = (name) => document.getElementById(name);
const note = (text) => { $("note").textContent = text; $("note").hidden = !text; };
let agents = [];

function showSeats() {
  const before = [...$("seats").querySelectorAll("select")].map((select) => select.value);
  const usual = agents.some((one) => one.name === "greedy") ? "greedy" : agents[0].name;
  const seats = Array.from({ length: Number($("players").value) }, (_, seat) => {
    const select = el("select", { id: `seat-${seat}` },
      el("option", { value: "me" }, "me"), el("option", { value: "human" }, "another person"),
      el("optgroup", { label: "agents" }, ...agents.map((one) => el("option", { value: `agent:${one.name}`, title: one.description }, one.name))));
    select.value = before[seat] ?? (seat === 0 ? "me" : `agent:${usual}`);
    return el("p", { class: "row" }, el("label", {}, `seat ${seat} `, select), seat === 0 ? el("span", { class: "small" }, "begins") : null);
  });
  $("seats").replaceChildren($("seats").firstElementChild, ...seats);
}

function describe(game) {
  const remove = game.owner ? el("button", { type: "button", class: "quiet", onclick: () => forget(game) }, "delete") : null;
  if (game.error) return [game.error, " ", remove].filter(Boolean);
  const names = game.names.map((name, seat) => (name === "human" ? `seat ${seat}` : name)).join(", ");
  return [el("a", { href: game.page }, `${names}; ${game.side} side`), ` ${game.state === "over" ? "over" : `turn ${game.turn + 1}: ${game.state}`}`,
    ` (${game.scores.join(" : ")}) `, el("span", { class: "small" }, new Date(1000 * game.created).toLocaleString()),
    remove].filter(Boolean);
}

async function forget(game) {
  if (!confirm("Delete this game for all who play it?")) return;
  try {
    await ask(game.page.replace("/seat/", "/api/seats/"), { method: "DELETE" });
    await showGames();
  } catch (error) {
    note(error.message);
  }
}

async function showGames() {
  const { games } = await ask("/api/games");
  $("mine").hidden = games.length === 0;
  $("games").replaceChildren(...games.map((game) => el("li", { class: game.state === "your turn" ? "yours" : null }, ...describe(game))));
}

async function open(file) {
  note(`reading ${file.name} …`);
  try {
    location.href = (await ask("/api/replays", { method: "POST", headers: { "Content-Type": "application/jsonl" }, body: file })).page;
  } catch (error) {
    note(`${file.name}: ${error.message}`);
  }
}

$("players").onchange = showSeats;
$("new").onsubmit = async (event) => {
  event.preventDefault();
  try {
    const seats = [...$("seats").querySelectorAll("select")].map((select) => select.value);
    location.href = (await send("/api/games", { players: seats.length, side: $("side").value, seed: $("seed").value.trim(), seats })).page;
  } catch (error) {
    note(error.message);
  }
};
$("file").onchange = () => { if ($("file").files.length) open($("file").files[0]); };
addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
addEventListener("dragleave", () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
});
document.querySelector("header").append(themeButton(() => {}));
try {
  ({ agents } = await ask("/api/options"));
  showSeats();
  await showGames();
} catch (error) {
  note(error.message);
}
