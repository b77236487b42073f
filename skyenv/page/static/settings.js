// The settings that this browser remembers.
import { keep, kept } from "./dom.js";

/** The name of the player at this browser. */
export const storedName = () => kept("name") ?? "";
export const storeName = (name) => keep("name", name.trim());

/** Whether a setting is on. */
export const isOn = (name) => kept(name) !== "off";

/** Switch a setting. */
export const setOn = (name, is) => keep(name, is ? "on" : "off");

/** Have a checkbox show a setting and change it; `changed()` is called afterwards. */
export function bindSetting(box, name, changed = () => {}) {
  box.checked = isOn(name);
  box.onchange = () => {
    setOn(name, box.checked);
    changed();
  };
}

/** Whether the page plays the only legal action by itself; not in a lesson, which explains it. */
export const isForced = (state) =>
  state.yours && state.legal.length === 1 && !state.lesson && isOn("forced");
