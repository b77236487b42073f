// Each page names all modules that its scripts import, so that browsers fetch them at once and not
// one import after the other. `make format` writes the links; preloads.test.js checks them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const STATIC = new URL("../../../skyenv/page/static/", import.meta.url);
const IMPORT = /^(?:import|export)\b[^;"]*?"\.\/([\w-]+\.js)"/gm;
const SCRIPT = /  <script type="module" src="\/static\/([\w-]+\.js)"><\/script>\n/g;
const LINK = /  <link rel="modulepreload" href="[^"]*" \/>\n/g;

const read = (name) => readFileSync(new URL(name, STATIC), "utf8");

/** Add what a module imports, and what that imports, to `found`. */
function collect(name, found) {
  for (const [, other] of read(name).matchAll(IMPORT)) {
    if (found.has(other)) continue;
    found.add(other);
    collect(other, found);
  }
}

/** A page's text with the links that it should have, behind its scripts. */
function withPreloads(text) {
  const scripts = [...text.matchAll(SCRIPT)];
  if (!scripts.length) return text;
  const found = new Set();
  for (const [, name] of scripts) collect(name, found);
  for (const [, name] of scripts) found.delete(name);
  const links = [...found]
    .sort()
    .map((name) => `  <link rel="modulepreload" href="/static/${name}" />\n`);
  const last = scripts.at(-1)[0];
  return text.replace(LINK, "").replace(last, last + links.join(""));
}

/** The pages that are written by hand: name, text, and the text that it should have. */
export const pages = () =>
  readdirSync(STATIC)
    .filter((name) => name.endsWith(".html") && name !== "rules.html")
    .concat("../teaching/rules.html")
    .map((name) => [name, read(name), withPreloads(read(name))]);

if (process.argv[1] === import.meta.filename) {
  for (const [name, text, wanted] of pages()) {
    if (text !== wanted) writeFileSync(new URL(name, STATIC), wanted);
  }
}
