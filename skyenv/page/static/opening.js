// Opens a game of the library in the viewer of replays, at the step that the address says. A tournament's may have to be played again first.
import { send, themeButton } from "./dom.js";

const [file, number] = location.pathname.split("/").slice(-2);
const $ = (name) => document.getElementById(name);
document.querySelector("header").append(themeButton(() => {}));
try {
  for (;;) {
    const answer = await send(`/api/library/${encodeURIComponent(file)}/${encodeURIComponent(number)}`);
    if (answer.page) {
      location.replace(answer.page + location.search);
      break;
    }
    $("status").textContent = answer.wait;
  }
} catch (error) {
  $("status").hidden = true;
  $("note").textContent = error.message;
  $("note").hidden = false;
}
