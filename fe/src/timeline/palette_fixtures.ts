/** The palettes of both themes for tests: slices as the style sheet has them, on the page's grounds. */

import type { Theme } from "../base/theme";
import CSS from "./slice_colours.css?raw";
import type { Palette } from "./types";

/** The style sheet's variables of a theme that are colours, without their dashes. */
export function colours(theme: Theme): Map<string, string> {
  const block = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}

/** As in app/tokens.css, which the timeline does not know. */
const PAGE: Readonly<
  Record<Theme, Pick<Palette, "ground" | "grid" | "text" | "muted" | "accent" | "warn">>
> = {
  light: {
    ground: "#ffffff",
    grid: "#e1e5ea",
    text: "#1b2130",
    muted: "#586172",
    accent: "#0b5cad",
    warn: "#7d4a00",
  },
  dark: {
    ground: "#1b1f27",
    grid: "#2d343f",
    text: "#e4e8ef",
    muted: "#9ba5b5",
    accent: "#77b6f5",
    warn: "#f0b95a",
  },
};

export function paletteFor(theme: Theme): Palette {
  const found = colours(theme);
  const family = (prefix: string): string[] =>
    [...found].flatMap(([name, colour]) => (name.startsWith(prefix) ? [colour] : []));
  return {
    ...PAGE[theme],
    band: found.get("timeline-band") ?? "",
    onSlice: found.get("on-slice") ?? "",
    looks: family("look-"),
    hues: family("hue-"),
    curves: family("hue-"),
    device: found.get("timeline-device") ?? "",
    host: found.get("timeline-host") ?? "",
  };
}
