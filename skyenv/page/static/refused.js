// A page in the place of one that can't be shown; the one that only waits for the rules is asked
// for again once they are there.
import { themeButton } from "./dom.js";
import { follow } from "./preparing.js";

document.querySelector("header").append(themeButton());
if (document.querySelector("main[data-waits=rules]"))
  follow((told) => {
    if (told.rules) location.reload();
  });
