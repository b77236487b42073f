// Types that the page's JavaScript is checked with.

/** What a page looks up by an id or a selector: the document alone tells which element that is. */
interface Control
  extends HTMLElement,
    Pick<HTMLInputElement, "checkValidity" | "disabled" | "files" | "max" | "name">,
    Pick<HTMLAnchorElement, "href" | "pathname">,
    Pick<HTMLDialogElement, "close" | "open" | "showModal">,
    Pick<HTMLSelectElement, "options">,
    Pick<HTMLTableElement, "tBodies" | "tHead">,
    Pick<HTMLTemplateElement, "content">,
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

// What the server tells of a table; tests/page/test_payloads.py holds it to these names.

interface Choice {
  action: number;
  text: string;
  place: boolean;
}

interface Decision {
  sentence: string;
  auction: any;
  options: any[] | null;
  take: [number, string, number][] | null;
  ends: boolean;
  bid: any;
}

interface Log {
  from: number;
  lines: string[];
  rules: string[][];
}

interface State {
  seat: number | null;
  names: string[];
  task: string;
  over: boolean;
  yours: boolean;
  phase: string;
  scores: number[];
  standing: number[];
  decision: Decision;
  recent: any[];
  drawing: Record<string, [string, string]>;
  legal: Choice[];
  why: Record<string, number[]>;
  why_rules: Record<string, string[]>;
  log: Log;
  final: any;
  step: number;
  behind: number;
  alea: number[][];
  undo: boolean;
  undone: number;
  paused: boolean;
  pause: number;
  trouble: string | null;
  lesson: any;
  watching: boolean;
  open_hands: boolean;
  owner: boolean;
  people: any;
  invitations: { seat: number; page: string }[];
}
