// Helpers of all pages: elements and texts.
import { at } from "./api.js";

/**
 * The element that a selector names; an Error says that there is none.
 * @param {ParentNode} root
 */
export function the(selector, root = document) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`there is no ${selector} here`);
  return found;
}

/** An element of the page, by its id. */
export const $ = (name) => the(`#${name}`);

/**
 * The elements that a selector names.
 * @param {ParentNode} root
 */
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

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

export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, `${value}`);
  made.append(...children);
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
 * Whether an element shows something other than `value`, which it then will. What is clicked
 * shouldn't be replaced.
 */
export function isNews(place, value) {
  const text = JSON.stringify(value);
  const isNew = place.dataset.shown !== text;
  place.dataset.shown = text;
  return isNew;
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

/** A small link to what the rules say, by their ids; rules.js shows it beside the game. */
export const ruleLink = (rules) => rules?.length > 0 && ruleNamed("a.rule", rules, "rule");

/** A text that links to rules. */
export const ruleNamed = (selector, rules, text) =>
  el(
    selector,
    { href: `/rules#${rules[0]}`, "data-rule": rules[0], title: `the rule: ${rules.join(", ")}` },
    text,
  );
