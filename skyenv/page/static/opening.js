// Opens a game of the library in the viewer of replays. One of a tournament may have to be played again first.
import { send, themeButton } from "./dom.js";

const [file, number] = location.pathname.split("/").slice(-2);
const $ = (name) => document.getElementById(name);
document.querySelector("header").append(themeButton(() => {}));
try {
  for (;;) {
    const answer = await send(`/api/library/${encodeURIComponent(file)}/${encodeURIComponent(number)}`);
    if (answer.page) {
      location.replace(answer.page);
      break;
    }
    $("status").textContent = answer.wait;
  }
} catch (error) {
  $("status").hidden = true;
  $("note").textContent = error.message;
  $("note").hidden = false;
}
