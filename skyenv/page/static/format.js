// Numbers, times and names as texts.
import { WORDS } from "./game.js";

/** The page's name of an agent. */
export const called = (agent) => WORDS.get(agent) ?? agent;

export const many = (number, unit) =>
  `${number.toLocaleString()} ${unit}${number === 1 ? "" : "s"}`;

/** A number with a proper minus sign. */
export const signed = (number) => `${number}`.replaceAll("-", "−");

/** A time, given in seconds since 1970. */
export const when = (seconds) =>
  new Date(1000 * seconds).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

/** The seats with their players' names. */
export const seatNames = (names) =>
  names.map((name, seat) => (name ? `${seat + 1} ${name}` : `seat ${seat + 1}`));

/** A share of 1 as a per cent that never says more than is known. @param {number} share */
export function percent(share) {
  if (share > 0.999 && share < 1) return ">\u00a099.9\u00a0%";
  if (share < 0.001 && share > 0) return "<\u00a00.1\u00a0%";
  const isFine = (share > 0 && share < 0.095) || (share > 0.99 && share < 1);
  return `${(100 * share).toFixed(isFine ? 1 : 0)}\u00a0%`;
}
