// Helpers of all pages: elements, requests, stored values, texts.

/** An address of this server, which may stand below a path, as this script does. */
export function at(address) {
  const { pathname, search, hash } = new URL(`..${address}`, import.meta.url);
  return pathname + search + hash;
}

/** An element of the page, by its id. */
export const $ = (name) => document.getElementById(name);

/**
 * The elements that a selector names.
 * @param {ParentNode} root
 */
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The absolute form of an address of this server, for sharing. */
export const whole = (address) => new URL(at(address), location.href).href;

function set(element, name, value) {
  if (typeof value === "function") element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined)
    element.setAttribute(name, name === "href" && value[0] === "/" ? at(value) : value);
}

/**
 * Make an element. `selector`: its tag, #id and .classes. Then, if it has any, an object of
 * attributes, with handlers as onclick etc.; then children: texts, elements, lists of them; null
 * and false are left out. Buttons submit no form unless their type says so.
 */
export function el(selector, ...rest) {
  const [tag, ...marks] = selector.split(/(?=[.#])/);
  const attributes = rest[0]?.constructor === Object ? rest.shift() : {};
  const made = document.createElement(tag);
  if (tag === "button") made.type = "button";
  for (const mark of marks) {
    if (mark[0] === "#") made.id = mark.slice(1);
    else made.classList.add(mark.slice(1));
  }
  for (const [name, value] of Object.entries(attributes)) set(made, name, value);
  made.append(...rest.flat().filter((child) => child !== false && child !== null));
  return made;
}

/** A table with a line of heads (texts, or cells) above its rows. */
export const table = (selector, heads, rows) =>
  el(
    selector,
    el(
      "thead",
      el(
        "tr",
        heads.map((head) => (head.tagName ? head : el("th", { scope: "col" }, head))),
      ),
    ),
    el("tbody", rows),
  );

/** Show a message, or take it away. */
export function note(text = "", place = $("note")) {
  place.textContent = text;
  place.hidden = !text;
}

/**
 * Whether an element shows something other than `value`, which it then will: an element that is
 * being clicked should not be replaced without need.
 */
export function isNews(place, value) {
  const text = JSON.stringify(value);
  const isNew = place.dataset.shown !== text;
  place.dataset.shown = text;
  return isNew;
}

/** A number with its unit, in one or several. */
export const many = (number, unit) =>
  `${number.toLocaleString()} ${unit}${number === 1 ? "" : "s"}`;

/** A number with a proper minus sign. */
export const signed = (number) => `${number}`.replaceAll("-", "−");

/** A time, given in seconds since 1970. */
export const when = (seconds) =>
  new Date(1000 * seconds).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

/** A value stored in this browser; null if there is none, or pages may store nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Store a value in this browser, if pages may. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* then it is forgotten with the page */
  }
}

/** The theme in force: "light" or "dark". */
export const theme = () => document.documentElement.dataset.theme;

/**
 * Follow the system's theme until this button chooses one; then `changed` is called.
 */
export function themeButton(changed = () => {}) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const apply = () => {
    root.dataset.theme = kept("theme") ?? (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", () => {
    apply();
    changed();
  });
  const change = () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    keep("theme", theme());
    changed();
  };
  const label = "Light or dark";
  return el("button.quiet", { "aria-label": label, title: label, onclick: change }, "◐");
}

let patience = null; // waits for a server in preparation

/** Have requests that come too early repeated after the promise `wait(progress)`. */
export const setPatience = (wait) => {
  patience = wait;
};

/**
 * What an error of the network becomes; that of an abort stays.
 * @returns {never}
 */
function unreached(error) {
  if (error.name === "AbortError") throw error;
  throw new Error("The server can't be reached.");
}

/** Send a request; returns the answer, or throws an Error with its message. */
export async function ask(address, options = {}) {
  const answer = await fetch(address[0] === "/" ? at(address) : address, options).catch(unreached);
  const content = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (answer.status === 503 && content.preparing && patience) {
    await patience(content.preparing);
    return ask(address, options);
  }
  if (answer.ok) return content;
  const error = new Error(content.error ?? "The server can't do that.");
  throw Object.assign(error, { status: answer.status });
}

/**
 * Copy a text; the button that was clicked says so for a while. `fail(why)` is called if the
 * browser doesn't let pages copy.
 */
export async function copy(text, button, fail) {
  const words = (button.dataset.words ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
    setTimeout(() => {
      button.textContent = words;
    }, 2000);
  } catch {
    fail("This browser doesn't let pages copy; mark the address instead.");
  }
}

/** Do something whenever the browser restores this page without loading it. */
export const onReturn = (act) =>
  addEventListener("pageshow", (event) => {
    if (event.persisted) act();
  });

/**
 * Go to the page in the answer to `ask()`, by a button. A second click does nothing, "back" finds
 * the page as it was, and `fail` gets the reason of a failure.
 */
export async function leaveBy(button, ask, fail = note) {
  const enable = () => {
    button.disabled = false;
  };
  button.disabled = true;
  onReturn(enable);
  try {
    location.href = at((await ask()).page);
  } catch (error) {
    enable();
    fail(error.message);
  }
}

/** Have a link of this page followed by `go(address)`, without loading the page anew. */
export const followedBy = (go) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(event.currentTarget.href);
};

const newKey = () =>
  [...crypto.getRandomValues(new Uint32Array(4))]
    .map((n) => n.toString(16).padStart(8, "0"))
    .join("");

/**
 * Idempotency keys, so that a request that is sent twice is carried out once: the same key for the
 * same `what`, else another one.
 */
export function keys() {
  const names = new Map();
  return (what) => {
    const text = JSON.stringify(what);
    if (!names.has(text)) names.set(text, newKey());
    return names.get(text);
  };
}

/** Send JSON. */
export const send = (address, value = {}) =>
  ask(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });

/** The seats with their players' names. */
export const seatNames = (names) =>
  names.map((name, seat) => (name ? `${seat + 1} ${name}` : `seat ${seat + 1}`));

/** A small link to what the rules say, by their ids; rules.js shows it beside the game. */
export const ruleLink = (rules) => rules?.length > 0 && ruleNamed("a.rule", rules, "rule");

/** A text that links to rules. */
export const ruleNamed = (selector, rules, text) =>
  el(
    selector,
    { href: `/rules#${rules[0]}`, "data-rule": rules[0], title: `the rule: ${rules.join(", ")}` },
    text,
  );

/** A share of 1 as a per cent that never says more than is known. */
export function percent(share) {
  if (share > 0.999 && share < 1) return "> 99.9 %";
  if (share < 0.001 && share > 0) return "< 0.1 %";
  const isFine = (share > 0 && share < 0.095) || (share > 0.99 && share < 1);
  return `${(100 * share).toFixed(isFine ? 1 : 0)} %`;
}
