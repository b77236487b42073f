// Lines over the time of a training, as SVG.
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 240;
const LEFT = 46;
const TOP = 10;
const BOTTOM = 24;
const LABEL = 14;  // height of a line of text

const part = (tag, attributes, text = "") => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};

/** Steps of an axis from 0 to `most`: four or five round numbers. */
function ticks(most) {
  const rough = most / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, n) => n * step);
}

const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)} M` : value >= 1e4 ? `${+(value / 1e3).toFixed(1)} k` : `${+value.toPrecision(3)}`);

/** Means of as many stretches as there are places for, so that thousands of points cost no more than hundreds. */
function thinned(points, places) {
  const each = Math.max(1, Math.ceil(points.length / places));
  if (each === 1) return points;
  const means = [];
  for (let from = 0; from < points.length; from += each) {
    const some = points.slice(from, from + each);
    means.push([0, 1].map((at) => some.reduce((sum, point) => sum + point[at], 0) / some.length));
  }
  means.push(points.at(-1));  // lines end where the training is
  return means;
}

/**
 * Draw lines into a figure.
 *
 * `lines`: {name, colour, dashes, points: [[x, y], …]}. `options`: label (for who can't see it), unit of x, most (top of the axis; else
 * by the lines), percent, pars (dashes across), picked(x or null): told where the pointer is.
 */
export function draw(figure, lines, options) {
  const width = Math.max(280, Math.round(figure.clientWidth));
  const names = width < 480 ? 84 : 132;
  const right = width - names;
  const end = Math.max(...lines.map((line) => line.points.at(-1)?.[0] ?? 0), 0) || 1;
  const top = options.most ?? (Math.max(...lines.flatMap((line) => thinned(line.points, right / 2).map((point) => point[1])), 0) * 1.05 || 1);
  const x = (value) => LEFT + (right - LEFT) * value / end;
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.min(value, top) / top;
  const svg = part("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: "img", "aria-label": options.label });
  for (const value of ticks(top)) {
    svg.append(part("path", { class: "axis", d: `M${LEFT} ${y(value)}H${right}` }),
      part("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, options.percent ? `${Math.round(100 * value)} %` : short(value)));
  }
  for (const value of ticks(end).filter((one) => x(one) < right - 76)) svg.append(part("text", { x: x(value), y: HEIGHT - 6, "text-anchor": value ? "middle" : "start" }, short(value)));
  svg.append(part("text", { x: right, y: HEIGHT - 6, "text-anchor": "end" }, options.unit));
  const labels = [];
  for (const par of options.pars ?? []) {
    svg.append(part("path", { class: "par", d: `M${LEFT} ${y(par)}H${right}` }));
    labels.push({ at: y(par), name: "par", colour: "var(--faint)" });
  }
  for (const line of lines.filter((one) => one.points.length)) {
    const path = thinned(line.points, right / 2).map(([at, value], n) => `${n ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    svg.append(part("path", { class: "line", d: path, stroke: line.colour, "stroke-dasharray": line.dashes ?? "none" }));
    labels.push({ at: y(line.points.at(-1)[1]), name: line.name, colour: line.colour });
  }
  labels.sort((one, other) => one.at - other.at);
  const room = Math.floor((HEIGHT - TOP) / LABEL);
  let lowest = TOP;
  labels.slice(0, room).forEach((label, n, all) => {
    const at = Math.min(Math.max(label.at + 4, lowest), HEIGHT - 4 - LABEL * (all.length - 1 - n));
    lowest = at + LABEL;
    const most = Math.floor((names - 10) / 6.4);
    const text = part("text", { x: right + 6, y: at, style: `fill:${label.colour}` }, label.name.length > most ? `${label.name.slice(0, most - 1)}…` : label.name);
    text.append(part("title", {}, label.name));
    svg.append(text);
  });
  const cursor = part("path", { class: "at", d: `M0 ${TOP}V${HEIGHT - BOTTOM}`, visibility: "hidden" });
  svg.append(cursor);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) * width / box.width;
    const inside = at >= LEFT && at <= right;
    cursor.setAttribute("visibility", inside ? "visible" : "hidden");
    cursor.setAttribute("transform", `translate(${at})`);
    options.picked(inside ? end * (at - LEFT) / (right - LEFT) : null);
  });
  svg.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); options.picked(null); });
  figure.replaceChildren(svg);
}

/** The value of a line at x: that of the last point up to there. */
export function valueAt(points, x) {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x) low = middle + 1; else high = middle;
  }
  return low ? points[low - 1][1] : null;
}
