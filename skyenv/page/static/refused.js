// The page shown in place of one that can't be; a page that only waits for the rules is loaded
// again once they are ready.
import { themeButton } from "./dom.js";
import { follow } from "./preparing.js";

document.querySelector("header").append(themeButton());
if (document.querySelector("main[data-waits=rules]"))
  follow((told) => {
    if (told.rules) location.reload();
  });
