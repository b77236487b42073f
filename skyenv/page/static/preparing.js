// Progress of the server's preparation: every page shows it, and repeats requests that came too
// early.
import { ask, setPatience } from "./api.js";
import { el, the } from "./dom.js";
import { themeButton } from "./settings.js";

const OFTEN = 700; // milliseconds
const followers = [];
/** What the server said last. @type {Progress} */
let told = {
  rules: false,
  ready: false,
  error: "",
  about: "",
  total: 0,
  left: 1,
  whole: 1,
  agents: [],
};
/** @type {Promise<void> | null} */
let watching = null; // the watch under way, a promise that ends when everything is ready

const bar = el("progress", { "aria-label": "getting ready" });
const what = el("span.what");
const meanwhile = el("a", { href: "/rules", target: "_blank" }, "Read the rules meanwhile");
const details = el("span.small");
const named = { hidden: true, "aria-label": "Getting ready" };
const panel = el("section#preparing.preparing", named, what, meanwhile, bar, details);
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
  const failed = Boolean(told.error);
  // Code that is there is loaded at once.
  panel.hidden = !failed && (told.rules || !told.total);
  what.textContent =
    told.error || "Compiling the game, once after installation. This page continues automatically.";
  details.textContent = failed
    ? ""
    : `compiling ${told.about}, about ${Math.ceil(told.left)} s are left`;
  meanwhile.hidden = failed || location.pathname.endsWith("/rules");
  bar.hidden = failed;
  bar.value = 1 - told.left / told.whole;
  for (const one of followers) one(told);
}

const nap = (milliseconds) =>
  new Promise((wake) => {
    setTimeout(wake, milliseconds);
  });

async function watch() {
  while (!told.ready && !told.error) {
    try {
      told = await ask("/api/preparing");
      show();
    } catch {
      /* the page says so that asked for something */
    }
    if (!told.ready) await nap(OFTEN);
  }
}

function begin() {
  watching ??= watch().finally(() => {
    watching = null;
  });
}

setPatience(async (preparing) => {
  told = preparing;
  show();
  if (told.error) throw new Error(told.error);
  begin();
  while (!told.rules && !told.error) await nap(OFTEN / 2);
  if (told.error) throw new Error(told.error);
});
begin();

// A page in place of one that can't be shown; it is loaded again when what it waits for is there.
const refused = document.querySelector("main[data-waits]");
if (refused) the("header").append(themeButton());
if (refused?.dataset.waits === "rules") follow(({ rules }) => rules && location.reload());
