// Progress of the server's preparation, which every page shows.
import { ask } from "./api.js";
import { el, the } from "./dom.js";
import { themeButton } from "./settings.js";

const OFTEN = 700; // milliseconds
const followers = [];
/** What the server said last. @type {Progress} */
let told = { ready: false, about: "", total: 0, left: 1, whole: 1, agents: [] };

const bar = el("progress", { "aria-label": "getting ready" });
const what = "Compiling the agents, once after installation. You can already play.";
const details = el("span.small");
const named = { hidden: true, "aria-label": "Getting ready" };
const panel = el("section#preparing.preparing", named, el("span.what", what), bar, details);
the("header").after(panel);

/**
 * Have `show(told)` called whenever there is news of what gets ready (Preparation.payload() of the
 * server).
 */
export function follow(show) {
  followers.push(show);
  show(told);
}

/** How ready an agent is, in words: "" if it is. */
export function readiness(agent) {
  if (agent.ready !== false) return "";
  if (agent.state === "failed") return `can't play: ${agent.error}`;
  return agent.state === "preparing" ? "getting ready" : "ready soon";
}

function show() {
  panel.hidden = told.ready || !told.total; // code that is there is loaded at once
  details.textContent = `compiling ${told.about}, about ${Math.ceil(told.left)} s are left`;
  bar.value = 1 - told.left / told.whole;
  for (const one of followers) one(told);
}

async function watch() {
  try {
    told = await ask("/api/preparing");
    show();
  } catch {
    /* the page says so that asked for something */
  }
  if (!told.ready) setTimeout(watch, OFTEN);
}

watch();

// a page in place of one that can't be shown
if (document.querySelector("main[data-refused]")) the("header").append(themeButton());
