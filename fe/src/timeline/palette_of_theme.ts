/** The colours that the page's theme gives the canvas, and the news that it changed. */

import type { Theme } from "../base/theme";
import { paletteFor } from "./colours";
import type { Palette } from "./types";

/** More than the style sheet has of either. */
const MOST = 64;

/** The palette of the theme that the document shows now. */
export function paletteOfTheme(root: HTMLElement = document.documentElement): Palette {
  const style = getComputedStyle(root);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  const theme: Theme = root.dataset.theme === "dark" ? "dark" : "light";
  const palette = paletteFor(theme, token);
  const hues = series("--hue-", 0, token);
  const curves = series("--series-", 1, token);
  return {
    ...palette,
    ...(curves.length > 0 ? { curves } : {}),
    band: token("--timeline-band") || palette.band,
    onSlice: token("--on-slice") || palette.onSlice,
    hues: hues.length > 0 ? hues : palette.hues,
  };
}

/** The variables of a numbered family. */
function series(prefix: string, first: number, token: (name: string) => string): string[] {
  const found: string[] = [];
  for (let i = first; i < MOST; i++) {
    const colour = token(`${prefix}${i}`);
    if (!colour) break;
    found.push(colour);
  }
  return found;
}

/** Colours of the two densities of the minimap. */
export function densitiesOfTheme(root: HTMLElement = document.documentElement): { device: string; host: string } {
  const style = getComputedStyle(root);
  const read = (name: string): string => style.getPropertyValue(name).trim() || "#888888";
  return { device: read("--timeline-device"), host: read("--timeline-host") };
}

/** Face of the texts on a canvas: the page's, because a canvas does not inherit it. */
export function fontOfTheme(root: HTMLElement = document.documentElement): string {
  return getComputedStyle(root).getPropertyValue("--font").trim() || "sans-serif";
}

/** Calls back whenever the theme of the document changes; the returned function ends that. */
export function watchTheme(onChange: () => void, root: HTMLElement = document.documentElement): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
