// Small helpers that all pages share.

/**
 * An address of this server, written from its root: the page may stand below a path, as this script
 * does.
 */
export function at(address) {
  const { pathname, search, hash } = new URL(`..${address}`, import.meta.url);
  return pathname + search + hash;
}

/**
 * Make an element: attributes by name, handlers as onclick etc., then children (texts or elements;
 * null is left out).
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, name === "href" && value[0] === "/" ? at(value) : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** The theme in force: "light" or "dark". */
export const theme = () => document.documentElement.dataset.theme;

/**
 * Follow the system's theme until somebody chooses; returns the button to choose with. `changed` is
 * called afterwards.
 */
export function themeButton(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    } // a page from disk may have no storage
  };
  const apply = () => {
    document.documentElement.dataset.theme = stored() ?? (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", () => {
    apply();
    changed();
  });
  return el(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": "Light or dark",
      title: "Light or dark",
      onclick: () => {
        const next = theme() === "dark" ? "light" : "dark";
        try {
          localStorage.setItem("theme", next);
        } catch {
          /* then it lasts as long as the page */
        }
        document.documentElement.dataset.theme = next;
        changed();
      },
    },
    "◐",
  );
}

let patience = null; // waits for a server that is getting ready

/**
 * Have questions that come too early asked again after `wait(how far the server is)`, a promise.
 */
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

/** The end of an answer that comes bit by bit; `soFar` is told what there is before. */
async function endOf(answer, soFar) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read().catch(unreached);
    if (done) throw new Error("The server has stopped in the middle of an answer.");
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const told = JSON.parse(event.slice("data: ".length));
      if (told.error) throw new Error(told.error);
      if (told.answer) return told.answer;
      soFar?.(told.so_far);
    }
  }
}

/**
 * Ask the server; what it answers, or an Error with its message. `options` as for fetch, and
 * `soFar(answer)` for what comes bit by bit.
 */
export async function ask(address, options = {}) {
  const answer = await fetch(address[0] === "/" ? at(address) : address, options).catch(unreached);
  if (answer.headers.get("Content-Type")?.startsWith("text/event-stream"))
    return endOf(answer, options.soFar);
  const content = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (answer.status === 503 && content.preparing && patience) {
    await patience(content.preparing);
    return ask(address, options);
  }
  if (!answer.ok)
    throw Object.assign(new Error(content.error ?? "The server can't do that."), {
      status: answer.status,
    });
  return content;
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

/**
 * Do something whenever the browser leads back to this page as it was left: it doesn't load it
 * anew, so scripts don't start again.
 */
export const onReturn = (act) =>
  addEventListener("pageshow", (event) => {
    if (event.persisted) act();
  });

/**
 * Disable a button that leads to another page, so that a second click does nothing; who comes back
 * finds it as it was.
 */
export function leaveBy(button) {
  button.disabled = true;
  addEventListener(
    "pageshow",
    () => {
      button.disabled = false;
    },
    { once: true },
  );
}

const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

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

/** Who sits where, in words. */
export const seatNames = (names) =>
  names.map((name, seat) => (name ? `${seat + 1} ${name}` : `seat ${seat + 1}`));

/** A small link to what the rules say, by their ids; rules.js shows it beside the game. */
export const ruleLink = (rules) =>
  rules?.length
    ? el(
        "a",
        {
          class: "rule",
          href: `/rules#${rules[0]}`,
          "data-rule": rules[0],
          title: `the rule: ${rules.join(", ")}`,
        },
        "rule",
      )
    : null;

/** A share of 1 as a per cent that never says more than is known. */
export function percent(share) {
  if (share > 0.999 && share < 1) return "> 99.9 %";
  if (share < 0.001 && share > 0) return "< 0.1 %";
  return `${(100 * share).toFixed(share > 0 && (share < 0.095 || share > 0.99) && share < 1 ? 1 : 0)} %`;
}
