// What this browser remembers of how its person likes to play.

const kept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  } // a page may have no storage
};

const keep = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* then it lasts as long as the page */
  }
};

/** What the person at this browser is called. */
export const storedName = () => kept("name") ?? "";
export const storeName = (name) => keep("name", name.trim());

/** Whether a setting is on. */
export const isOn = (name, otherwise = true) => (kept(name) ?? (otherwise ? "on" : "off")) === "on";

/** Switch a setting. */
export const setOn = (name, is) => keep(name, is ? "on" : "off");

/** Have a checkbox show a setting and change it; `changed()` is called afterwards. */
export function bindSetting(box, name, otherwise = true, changed = () => {}) {
  box.checked = isOn(name, otherwise);
  box.onchange = () => {
    setOn(name, box.checked);
    changed();
  };
}

/**
 * Whether the decision has one legal action, which the page plays by itself; not in a lesson, which
 * explains it.
 */
export const isForced = (state) =>
  state.yours && state.legal.length === 1 && !state.lesson && isOn("forced");
