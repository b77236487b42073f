// Progress of the server's preparation: every page shows it, and repeats requests that came too
// early.
import { ask, setPatience } from "./api.js";
import { el, the } from "./dom.js";
import { themeButton } from "./settings.js";

const OFTEN = 700; // milliseconds
const followers = [];
/** What the server said last. @type {Progress} */
let told = { rules: false, ready: false, error: "", about: "", done: 0, total: 0, agents: [] };
let wasSmall = false;
/** @type {string[] | null} */
let awaited = null; // the agents of this page's game
/** @type {Promise<void> | null} */
let watching = null; // the watch under way, a promise that ends when everything is ready

const bar = el("progress", { "aria-label": "getting ready" });
const what = el("span.what");
const meanwhile = el("a", { href: "/rules", target: "_blank" }, "Read the rules meanwhile");
const details = el("span.small");
const named = { hidden: true, "aria-label": "Getting ready" };
const panel = el("section#preparing.preparing", named, what, meanwhile, bar, details);
const header = the("header");
header.after(panel);

/**
 * Have `show(told)` called whenever there is news of what gets ready (Preparation.payload() of the
 * server).
 */
export function follow(show) {
  followers.push(show);
  show(told);
}

/** Have the header tell of these agents alone. */
export function expect(names) {
  awaited = names;
}

/** How ready an agent is, in words: "" if it is. */
export function readiness(agent) {
  if (agent.ready !== false) return "";
  if (agent.state === "failed") return `can't play: ${agent.error}`;
  return agent.state === "preparing" ? "getting ready" : "ready soon";
}

/** The sentence of the panel, and what gets ready now. */
function words(isSmall) {
  if (told.error) return [told.error, ""];
  const now = told.agents.find(
    ({ name, state }) => state === "preparing" && (awaited?.includes(name) ?? true),
  );
  if (isSmall) return ["", now ? `${now.name}: ${readiness(now)}` : ""];
  return [
    "Compiling the game, once after installation. This page continues automatically.",
    `compiling ${told.about}, ${told.done} of ${told.total} functions`,
  ];
}

/** Whether there is nothing to tell: code that is there is loaded at once. */
const isNeedless = (isSmall) =>
  told.ready || !(told.total || told.error) || (isSmall && !details.textContent);

function show() {
  const [failed, compiling] = [Boolean(told.error), told.total > 0];
  // The rules keep everything waiting. Agents don't: a line in the header tells of them, which
  // moves nothing else.
  const isSmall = told.rules && !failed;
  if (isSmall && panel.parentElement !== header) header.children[0].after(panel);
  if (panel.classList.toggle("small", isSmall) !== wasSmall) bar.removeAttribute("value");
  wasSmall = isSmall;
  [what.textContent, details.textContent] = words(isSmall);
  panel.hidden = isNeedless(isSmall);
  meanwhile.hidden = isSmall || failed || location.pathname.endsWith("/rules");
  bar.hidden = failed;
  // It doesn't go back when more functions turn out to be needed.
  if (compiling)
    bar.value = Math.max(bar.hasAttribute("value") ? bar.value : 0, told.done / told.total);
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
if (refused) header.append(themeButton());
if (refused?.dataset.waits === "rules") follow(({ rules }) => rules && location.reload());
