// Types that the page's JavaScript is checked with.

/** What a page looks up by an id or a selector: the document alone tells which element that is. */
interface Control
  extends HTMLElement,
    Pick<HTMLInputElement, "checkValidity" | "disabled" | "files" | "max" | "name">,
    Pick<HTMLAnchorElement, "href">,
    Pick<HTMLDialogElement, "close" | "open" | "showModal">,
    Pick<HTMLSelectElement, "options">,
    Pick<HTMLTableElement, "tBodies" | "tHead">,
    Pick<SVGGraphicsElement, "getScreenCTM"> {
  /** Controls of a form, by number and by name. */
  readonly elements: any;
}

interface Document {
  getElementById(id: string): Control | null;
}

interface Node {
  contains(other: EventTarget | null): boolean;
}

interface ParentNode {
  querySelector(selectors: string): Control | null;
  querySelectorAll(selectors: string): NodeListOf<Control>;
}

interface Element {
  hidden: any;
  closest(selectors: string): Control | null;
}

/** Events reach the page from elements alone. */
interface EventTarget {
  checked?: any;
  tagName: string;
  value?: any;
  closest(selectors: string): Control | null;
}
