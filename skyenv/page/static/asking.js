// Confirmation of moves that can't be taken back.
import { el } from "./dom.js";
import { isOn } from "./settings.js";

/**
 * Ask for confirmation of a move; a promise of the answer. Players can switch these questions off.
 */
export const asked = async (question, yes, no) => !isOn("ask") || confirmed(question, yes, no);

/** Ask in a dialog; a promise of the answer. */
export function confirmed(question, yes, no = "no") {
  const dialog = el(
    "dialog.asked",
    { "aria-labelledby": "asked-text" },
    el("p#asked-text", question),
    el(
      "form.row",
      { method: "dialog" },
      el("button#asked-yes", { type: "submit", value: "yes" }, yes),
      el("button#asked-no.primary", { type: "submit", autofocus: true }, no),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    };
  });
}
