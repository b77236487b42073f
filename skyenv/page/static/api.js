// Requests to the server.

/** An address of this server, which may stand below a path, as this script does. */
export function at(address) {
  const { pathname, search, hash } = new URL(`..${address}`, import.meta.url);
  return pathname + search + hash;
}

/** The absolute form of an address of this server, for sharing. */
export const whole = (address) => new URL(at(address), location.href).href;

/**
 * What an error of the network becomes; that of an abort stays.
 * @returns {never}
 */
function unreached(error) {
  if (error.name === "AbortError") throw error;
  throw new Error("The server can't be reached.");
}

/** Send a request; returns the answer, or throws an Error with its message. */
export async function ask(address, options = {}) {
  const answer = await fetch(address[0] === "/" ? at(address) : address, options).catch(unreached);
  const content = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (answer.ok) return content;
  const error = new Error(content.error ?? "The server can't do that.");
  throw Object.assign(error, { status: answer.status });
}

const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

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

export const send = (address, value = {}) =>
  ask(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
