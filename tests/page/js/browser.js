// The little of a browser that the page's modules need to be imported without one.
class Element {
  attributes = {};
  classList = { add: (name) => this.classes.push(name) };
  classes = [];
  children = [];

  constructor(tag) {
    this.tagName = tag;
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(...children) {
    this.children.push(...children);
  }
}

const stored = new Map();

Object.assign(globalThis, {
  matchMedia: () => ({ matches: false, addEventListener: () => {} }),
  document: {
    createElement: (tag) => new Element(tag),
    documentElement: { dataset: {} },
    getElementById: () => null,
  },
  localStorage: {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => stored.set(name, value),
  },
});
