// The replay of an exported file, which contains its drawings (skyenv/page/library/export.py).
import { $, the } from "./dom.js";
import { themeButton } from "./settings.js";
import { view } from "./viewer.js";

async function unpacked() {
  const packed = Uint8Array.from(atob($("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const { game, themes, parts, names, views } = await unpacked();
const drawings = new Map(); // of every step, by view

/** The drawings of a view: of each step only what has changed is kept. */
function drawingsOf(view) {
  if (!drawings.has(view)) {
    let drawing = {};
    drawings.set(
      view,
      views[view].map((changed) => {
        drawing = { ...drawing };
        for (let i = 0; i < changed.length; i += 2)
          drawing[names[changed[i]]] = [changed[i + 1], parts[changed[i + 1]]];
        return drawing;
      }),
    );
  }
  return drawings.get(view);
}

const draw = async (step, seat, theme, narrow) =>
  drawingsOf(`${seat ?? "all"}/${narrow ? "narrow" : "wide"}`)[step];
if (themes.length === 1) document.documentElement.dataset.theme = themes[0];
else the("header").append(themeButton());
view(the("main"), game, draw);
