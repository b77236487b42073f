// A question before something that can't be taken back.
import { el } from "./dom.js";
import { isOn } from "./settings.js";

/** Ask; a promise of whether the answer was yes. Who has switched questions off isn't asked. */
export function asked(question, yes, no = "no") {
  if (!isOn("ask")) return Promise.resolve(true);
  return new Promise((resolve) => {
    const answer = (value) => () => { dialog.close(); resolve(value); };
    const dialog = el("dialog", { class: "asked", "aria-labelledby": "asked-text", oncancel: () => resolve(false), onclose: () => dialog.remove() },
      el("p", { id: "asked-text" }, question),
      el("p", { class: "row" },
        el("button", { type: "button", id: "asked-yes", onclick: answer(true) }, yes),
        el("button", { type: "button", id: "asked-no", class: "primary", autofocus: true, onclick: answer(false) }, no)));
    document.body.append(dialog);
    dialog.showModal();
  });
}
