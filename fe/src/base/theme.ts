import { readStored, writeStored } from "./stored";

export type Theme = "light" | "dark";
/** What a person chose here; `system` follows TensorBoard, then the browser. */
export type ThemeChoice = Theme | "system";

const STORAGE_KEY = "pytorch_profiler.theme";

/** The parts of a step's time; their colours are in `tokens.css`. */
export const CATEGORIES = [
  "kernel",
  "memcpy",
  "memset",
  "communication",
  "runtime",
  "dataloader",
  "cpu_exec",
  "other",
] as const;
export type Category = (typeof CATEGORIES)[number];

export function categoryColor(category: Category): string {
  return `var(--category-${category.replace("_", "-")})`;
}

const SERIES = 8;
/** How much of the colour is left the second and the third time it is used, per cent. */
const FADED = [100, 62, 38] as const;

/** The colour of the n-th part of a chart; from the ninth on paler, the pooled rest is `otherColor`. */
export function seriesColor(index: number): string {
  const color = `var(--series-${(index % SERIES) + 1})`;
  const part = FADED[Math.floor(index / SERIES) % FADED.length] ?? 100;
  return part === 100 ? color : `color-mix(in srgb, ${color} ${part}%, var(--ink))`;
}

export const otherColor = "var(--not-recorded)";

export function storedChoice(): ThemeChoice {
  const text = readStored(STORAGE_KEY);
  return text === "light" || text === "dark" ? text : "system";
}

/** The body of TensorBoard's own page, or null when alone or when the host is of another origin. */
function parentBody(): HTMLElement | null {
  try {
    return window.parent === window ? null : window.parent.document.body;
  } catch {
    return null;
  }
}

export function resolveTheme(
  choice: ThemeChoice,
  body: HTMLElement | null,
  prefersDark: boolean,
): Theme {
  if (choice !== "system") return choice;
  if (body) return body.classList.contains("dark-mode") ? "dark" : "light";
  return prefersDark ? "dark" : "light";
}

/** Keeps a choice, and `<html data-theme>` right by it, until the returned function ends that. */
export function followTheme(choice: ThemeChoice): () => void {
  writeStored(STORAGE_KEY, choice === "system" ? null : choice);
  const body = parentBody();
  const query = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    const { dataset, style } = document.documentElement;
    dataset.theme = style.colorScheme = resolveTheme(choice, body, query.matches);
  };
  const observer = new MutationObserver(apply);
  if (body) observer.observe(body, { attributes: true, attributeFilter: ["class"] });
  query.addEventListener("change", apply);
  apply();
  return () => {
    observer.disconnect();
    query.removeEventListener("change", apply);
  };
}

/** Values of the style sheet's variables by name, for a canvas, which inherits none; empty where there is none. */
export function tokensOfTheme(root = document.documentElement): (name: string) => string {
  const style = getComputedStyle(root);
  return (name) => style.getPropertyValue(name).trim();
}

export const fontOfTheme = (): string => tokensOfTheme()("--font") || "sans-serif";

/** Calls back whenever the theme of the document changes; the returned function ends that. */
export function watchTheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
