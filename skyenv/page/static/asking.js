// A question before something that can't be taken back.
import { el } from "./dom.js";
import { isOn } from "./settings.js";

/**
 * Ask before a move; a promise of whether the answer was yes. Players can switch these questions
 * off.
 */
export const asked = async (question, yes, no) => !isOn("ask") || confirmed(question, yes, no);

/** Ask in a dialog; a promise of whether the answer was yes. */
export function confirmed(question, yes, no = "no") {
  return new Promise((resolve) => {
    const answer = (value) => () => {
      dialog.close();
      resolve(value);
    };
    const dialog = el(
      "dialog",
      {
        class: "asked",
        "aria-labelledby": "asked-text",
        oncancel: () => resolve(false),
        onclose: () => dialog.remove(),
      },
      el("p", { id: "asked-text" }, question),
      el(
        "p",
        { class: "row" },
        el("button", { type: "button", id: "asked-yes", onclick: answer(true) }, yes),
        el(
          "button",
          {
            type: "button",
            id: "asked-no",
            class: "primary",
            autofocus: true,
            onclick: answer(false),
          },
          no,
        ),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}
