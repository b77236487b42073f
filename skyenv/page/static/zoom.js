// Small screens: the board is larger than the screen, to be read and moved, or shown as a whole.
import { $ } from "./dom.js";
import { isOn, setOn } from "./settings.js";

function show(isLarge) {
  document.body.classList.toggle("large", isLarge);
  $("zoom").textContent = isLarge ? "fit" : "zoom";
  $("zoom").title = isLarge ? "show the whole board" : "show the board large enough to be read";
}

/** What can be scrolled is to be reached with Tab. */
function showScrolling() {
  const board = $("board");
  if (board.scrollWidth > board.clientWidth) board.tabIndex = 0;
  else board.removeAttribute("tabindex");
}

/** Set the button up; style sheets tell which screens have it. */
export function setUpZoom() {
  show(isOn("large"));
  $("zoom").onclick = () => {
    const isLarge = !document.body.classList.contains("large");
    setOn("large", isLarge);
    show(isLarge);
    showScrolling();
  };
  new ResizeObserver(showScrolling).observe($("board"));
}
