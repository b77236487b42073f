// A replay that carries its drawings with it; see skyenv/page/export.py.
import { themeButton } from "./dom.js";
import { view } from "./viewer.js";

async function unpacked() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const { game, themes, parts, frames } = await unpacked();
const text = (number) => (typeof parts[number] === "string" ? parts[number] : parts[number].map(text).join(""));
const draw = async (step, seat, theme, narrow) =>
  text(frames[`${themes.includes(theme) ? theme : themes[0]}/${seat ?? "all"}/${narrow ? "narrow" : "wide"}`][step]);
let redraw = () => {};
document.querySelector("header").append(themeButton(() => redraw()));
const viewer = view(document.querySelector("main"), game, draw);
redraw = () => viewer.show(false, true);
