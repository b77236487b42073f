// The little of a browser that the page's modules need to be imported without one.
class Element {
  attributes = {};
  children = [];
  classList = { add: () => {}, remove: () => {}, toggle: () => false };
  dataset = {};
  style = {};

  constructor(tag) {
    this.tagName = tag;
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  set textContent(text) {
    this.children = [text];
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  after() {}
}

const stored = new Map();
const byId = new Map();

/** The element that a selector names: always the same one; none has attributes. */
function find(selector) {
  if (selector.includes("[")) return null;
  if (!byId.has(selector)) byId.set(selector, new Element(selector));
  return byId.get(selector);
}

Object.assign(globalThis, {
  addEventListener: () => {},
  document: {
    body: new Element("body"),
    createElement: (tag) => new Element(tag),
    documentElement: new Element("html"),
    getElementById: () => null,
    querySelector: find,
  },
  fetch: async () => Response.json({ ready: true, total: 0, agents: [] }),
  localStorage: {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
  },
  location: { pathname: "/seat/token" },
  matchMedia: () => ({ matches: false, addEventListener: () => {} }),
});
