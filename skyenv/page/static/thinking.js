// Agents that think: that they do, for how long, and how to stop one that was asked.
import { ask, el, hintList } from "./dom.js";
import { follow, readiness } from "./preparing.js";

let agents = [];  // what the server says of them
follow((told) => { ({ agents } = told); });

/** What an agent does that has been asked `seconds` ago. */
export function doing(name, seconds) {
  const agent = agents.find((one) => one.name === name);
  const words = agent ? readiness(agent) : "";
  return `${words ? `${name}: ${words}` : `${name} is thinking`} … ${seconds ? `${seconds} s` : ""}`;
}

/**
 * Ask an agent. `holder` shows that it thinks, with a button to stop it, and what it has come to so far, which `soFar` is told, too.
 * Its answer; null if it was stopped, by the button or by `signal`.
 */
export async function think(holder, name, address, signal, soFar = (_answer) => {}) {
  const stop = new AbortController();
  const began = performance.now();
  const words = el("span");
  const show = () => { words.textContent = doing(name, Math.floor((performance.now() - began) / 1000)); };
  const timer = setInterval(show, 1000);
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort);
  show();
  const grown = el("div", { class: "so-far", "aria-live": "off" });
  // Seconds aren't read aloud one by one.
  holder.replaceChildren(el("p", { class: "row thinking", "aria-live": "off" }, words,
    el("button", { type: "button", class: "stop", "aria-label": `stop asking ${name}`, onclick: abort }, "stop")), grown);
  try {
    return await ask(`${address}&live=1`, { signal: stop.signal, soFar: (answer) => { grown.replaceChildren(hintList(answer)); soFar(answer); } });
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    holder.replaceChildren();
    return null;
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", abort);
  }
}
