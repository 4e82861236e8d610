import type { Palette } from "./types";

/** More than the style sheet has of either. */
const MOST = 64;

/** What a style sheet without the variable is shown by. */
const MISSING = "#888888";

export function paletteOfTheme(root: HTMLElement = document.documentElement): Palette {
  const style = getComputedStyle(root);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  const colour = (name: string): string => token(name) || MISSING;
  const curves = series("--series-", 1, token);
  return {
    ground: colour("--surface"),
    band: colour("--timeline-band"),
    grid: colour("--border"),
    text: colour("--text"),
    muted: colour("--muted"),
    accent: colour("--accent"),
    warn: colour("--warn"),
    onSlice: colour("--on-slice"),
    looks: series("--look-", 0, token),
    hues: series("--hue-", 0, token),
    ...(curves.length > 0 ? { curves } : {}),
  };
}

function series(prefix: string, first: number, token: (name: string) => string): string[] {
  const colours: string[] = [];
  for (let i = first; i < MOST; i++) {
    const colour = token(`${prefix}${i}`);
    if (!colour) break;
    colours.push(colour);
  }
  return colours;
}

export function densitiesOfTheme(root: HTMLElement = document.documentElement): {
  device: string;
  host: string;
} {
  const style = getComputedStyle(root);
  const read = (name: string): string => style.getPropertyValue(name).trim() || MISSING;
  return { device: read("--timeline-device"), host: read("--timeline-host") };
}
