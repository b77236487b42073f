// Types that the page's JavaScript is checked with.

/** What a page looks up by an id or a selector: the document alone tells which element that is. */
interface Control
  extends
    HTMLElement,
    Pick<
      HTMLInputElement,
      "checkValidity" | "defaultValue" | "disabled" | "files" | "form" | "max" | "name"
    >,
    Pick<HTMLAnchorElement, "hash" | "href" | "pathname">,
    Pick<HTMLDialogElement, "close" | "open" | "show" | "showModal">,
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

interface Option {
  letter: string;
  name: string;
  brings: string;
  choices: { action: number; text: string }[];
  why: string;
}

interface Worth {
  colours: { name: string; vp: number; builds: number; cards: number }[];
  stop: { vp: number; must: boolean; others: { seat: number; vp: number }[] } | null;
  when: string;
  assumes: string;
  laid: number;
  card: number;
  alea: [number, number][] | null;
  others: { seat: number; most: number }[];
}

interface Lead {
  colour: number;
  total: number;
  builds: number;
  vp: number;
  cards: number[];
}

interface Auction {
  text: string;
  own: boolean;
  worth: Worth | null;
}

interface Hand {
  colours: number[];
  is_open: boolean;
  /** Colour, value, number. */
  cards: [number, number, number][];
  laid: number;
  highest: number;
  limits: Record<number, number>;
  builds: number;
  leads: Lead[];
}

interface Decision {
  sentence: string;
  auction: Auction | null;
  options: Option[] | null;
  take: [number, string, number][] | null;
  ends: boolean;
  bid: Hand | null;
}

interface Log {
  from: number;
  lines: string[];
  rules: string[][];
}

interface Scoring {
  text: string;
  vp: number[] | null;
  scores: number[];
  pays: number[] | null;
  place: string | null;
}

interface Ending {
  winners: number[];
  sentences: { step: number; text: string }[];
}

interface Person {
  name: string;
  agent: string | null;
  is_free: boolean;
  is_here: boolean;
  seen: number | null;
}

interface People {
  seats: Person[];
  spectators: number;
  owner: boolean;
  watch: string | null;
  rematch: string | null;
  can_rematch: boolean;
  taken_back: number;
}

interface Lesson {
  number: number;
  title: string;
  text: string;
  todo: string;
  rule: string;
  wanted: number[];
  over: boolean;
}

interface Puzzle {
  number: number;
  title: string;
  goal: string;
  next: number;
  decisions: number;
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
  changed: [string, string][];
  drawing: Drawing;
  legal: Choice[];
  why: Record<string, number[]>;
  why_rules: Record<string, string[]>;
  log: Log;
  final: Scoring[] | null;
  ended: Ending | null;
  step: number;
  behind: number;
  alea: number[][];
  undo: boolean;
  undone: number;
  paused: boolean;
  pause: number;
  trouble: string | null;
  adviser: string;
  lesson: Lesson | null;
  puzzle: Puzzle | null;
  watching: boolean;
  open_hands: boolean;
  owner: boolean;
  people: People;
  invitations: { seat: number; page: string }[];
}

/** The parts of a drawing by their names: digest and SVG text. */
type Drawing = Record<string, [string, string]>;

/** An agent of the catalogue. */
interface Agent {
  name: string;
  description: string;
  ready: boolean;
  state: string;
  error: string;
}

/** How far the server's preparation is. */
interface Progress {
  ready: boolean;
  about: string;
  total: number;
  left: number;
  whole: number;
  agents: Agent[];
}

/** A request to an agent that is under way. */
interface Asked {
  name: string;
  stop: AbortController;
  done: Promise<boolean>;
}

/** What a click on a part of a drawing does. */
type Play = (part: Control, event: Event) => void;

/** A drawing in the page. */
interface Board {
  slots: Map<string, { digest: string; place: Control; inner: Control[] }>;
  flights: { flight: Animation; veil: Animation; flying: Element }[];
  placed: Map<string, any> | null;
  play: Play | null;
  legal: (part: Control) => boolean;
}
