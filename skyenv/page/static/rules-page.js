// The rules as a page of their own: the rule in the address is marked.
import { themeButton } from "./dom.js";
import { show } from "./rules.js";

const showRule = () => show(document, decodeURIComponent(location.hash.slice(1)));

document.querySelector("header").append(themeButton());
addEventListener("hashchange", showRule);
showRule();
