/**
 * The whole state of the page, in the URL.
 *
 * Inside TensorBoard it is in the parent's hash, beside TensorBoard's own parts and those of other plugins, which are kept:
 * `#pytorch_profiler&p.pytorch_profiler.view=operator&p.pytorch_profiler.run=resnet&…`. Alone it is `#view=operator&run=resnet&…`.
 */

import { createStore } from "./store";
import {
  ALL_STEPS,
  kindOf,
  type Params,
  parseSteps,
  type Selection,
  type StepRange,
  stepsText,
  VIEW_IDS,
  type ViewId,
} from "./view";

export const PLUGIN = "pytorch_profiler";
/** Pause after which small changes (a keystroke in a search) are written: browsers allow about a hundred in half a minute. */
const WRITE_PAUSE = 200;

export interface PageState {
  view: ViewId;
  selection: Selection;
  steps: StepRange;
  params: Params;
}

export const EMPTY_PAGE: PageState = {
  view: "overview",
  selection: { run: "", worker: "", span: "" },
  steps: ALL_STEPS,
  params: {},
};

const OWN_KEYS = new Set(["view", "run", "worker", "span", "steps", "skip_cold", "step_kind"]);

export function fromEntries(entries: ReadonlyMap<string, string>): PageState {
  const get = (key: string): string => entries.get(key) ?? "";
  const view = VIEW_IDS.find((id) => id === get("view")) ?? "overview";
  // Overview's own key of earlier editions.
  const all = view === "overview" && get("of") === "ranks";
  const others = [...entries].filter(([key]) => !OWN_KEYS.has(key) && !(all && key === "of"));
  const params = Object.fromEntries(all ? [...others, ["all", "1"]] : others);
  return {
    view,
    selection: { run: get("run"), worker: get("worker"), span: get("span") },
    steps: {
      ...parseSteps(get("steps")),
      skipCold: get("skip_cold") === "1",
      ...(get("step_kind") ? { kind: get("step_kind") } : {}),
    },
    params,
  };
}

export function toEntries({ view, selection, steps, params }: PageState): [string, string][] {
  const own: [string, string][] = [
    ["view", view],
    ["run", selection.run],
    ["worker", selection.worker],
    ["span", selection.span],
    ["steps", stepsText(steps)],
    ["skip_cold", steps.skipCold ? "1" : ""],
    ["step_kind", kindOf(steps)],
  ];
  const views = Object.entries(params).filter(([key]) => !OWN_KEYS.has(key));
  return [...own, ...views].filter(([, value]) => value !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Everything but what ends a part of the hash, so that run names stay readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2F|3A|2C|40)/g, (code) => decodeURIComponent(code));
}

const partsOf = (hash: string): string[] => hash.replace(/^#/, "").split("&");

const keyOf = (part: string): string => decode(part.split("=", 1)[0] ?? "");

export function readHash(hash: string, prefix: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const part of partsOf(hash)) {
    const cut = part.indexOf("=");
    const key = keyOf(part);
    if (cut > 0 && key.startsWith(prefix))
      entries.set(key.slice(prefix.length), decode(part.slice(cut + 1)));
  }
  return entries;
}

/** The hash with this page's keys replaced and everything else as it was. */
export function writeHash(hash: string, prefix: string, state: PageState): string {
  const own = toEntries(state).map(([key, value]) => `${encode(prefix + key)}=${encode(value)}`);
  if (!prefix) return `#${own.join("&")}`;
  const [tab, ...others] = partsOf(hash).filter(
    (part, place) => place === 0 || (part !== "" && !keyOf(part).startsWith(prefix)),
  );
  return `#${[tab && !tab.includes("=") ? tab : PLUGIN, ...others, ...own].join("&")}`;
}

/** The window whose URL holds the state: TensorBoard's when it may be read, else this one. */
interface Host {
  window: Window;
  prefix: string;
}

export function findHost(own: Window): Host {
  try {
    // Reading the hash throws when the parent is of another origin.
    if (own.parent !== own && typeof own.parent.location.hash === "string")
      return { window: own.parent, prefix: `p.${PLUGIN}.` };
  } catch {
    // Fall through to the own window.
  }
  return { window: own, prefix: "" };
}

let host: Host = { window, prefix: "" };
let timer: ReturnType<typeof setTimeout> | undefined;

export const pageStore = createStore<PageState>(EMPTY_PAGE);

/** Reads the URL, follows the back button, and returns the function that ends it. */
export function startLocation(own: Window = window): () => void {
  host = findHost(own);
  const target = host.window;
  const take = (): boolean => {
    const entries = readHash(target.location.hash, host.prefix);
    if (entries.size > 0) keep(fromEntries(entries));
    return entries.size > 0;
  };
  // TensorBoard may leave the keys out when a tab is pressed; then the page stays as it is and writes them again.
  const read = (): void => {
    if (!take()) write("replace");
  };
  take();
  target.addEventListener("popstate", read);
  target.addEventListener("hashchange", read);
  return () => {
    clearTimeout(timer);
    target.removeEventListener("popstate", read);
    target.removeEventListener("hashchange", read);
  };
}

function endPause(): void {
  clearTimeout(timer);
  timer = undefined;
}

function keep(state: PageState): void {
  endPause();
  if (JSON.stringify(toEntries(state)) !== JSON.stringify(toEntries(pageStore.get())))
    pageStore.set(state);
}

function write(how: "push" | "replace"): void {
  endPause();
  const { history, location } = host.window;
  const hash = writeHash(location.hash, host.prefix, pageStore.get());
  if (hash === location.hash) return;
  try {
    // With the path, because TensorBoard's entry page has a <base> that a lone hash would be resolved against.
    history[`${how}State`](history.state, "", location.pathname + location.search + hash);
  } catch {
    // The browser refuses too many changes in a short time; the next one brings the URL up to date.
  }
}

/** Changes the state. `push` makes a history entry, `replace` does not and is written a moment later. */
export function changePage(change: (state: PageState) => PageState, how: "push" | "replace"): void {
  const next = change(pageStore.get());
  if (how === "push") {
    // What was not written yet belongs to the entry that is left.
    if (timer !== undefined) write("replace");
    pageStore.set(next);
    write("push");
    return;
  }
  pageStore.set(next);
  clearTimeout(timer);
  timer = setTimeout(() => write("replace"), WRITE_PAUSE);
}

const withoutHash = (href: string): string => href.replace(/#.*/s, "");

export function hrefOfPage(state: PageState): string {
  const { location } = host.window;
  return `${withoutHash(location.href)}${writeHash(location.hash, host.prefix, state)}`;
}

/** Where all files and their states are listed. */
export const diagnosisHref = (): string =>
  hrefOfPage({ ...pageStore.get(), view: "diagnosis", params: {} });

/** The state that an absolute URL of this page names; null for any other URL. */
export function pageOfHref(href: string): PageState | null {
  const path = withoutHash(href);
  const hash = href.slice(path.length);
  if (path !== withoutHash(host.window.location.href)) return null;
  const entries = readHash(hash, host.prefix);
  return entries.size > 0 ? fromEntries(entries) : null;
}

/** Goes to an absolute URL of this page; whether it is one. */
export function goTo(href: string): boolean {
  const page = pageOfHref(href);
  if (!page) return false;
  changePage(() => page, "push");
  scrollTo({ top: 0 });
  return true;
}
