/** The palettes of both themes for tests, as the style sheet has them. */

import type { Theme } from "../base/theme";
import { colours } from "../base/tokens_fixtures";
import { TIME_GROUPS } from "./palette_of_theme";
import type { Palette } from "./types";

export function paletteFor(theme: Theme): Palette {
  const found = colours(theme);
  const colour = (name: string): string => found.get(name) ?? "";
  const family = (prefix: string): string[] =>
    [...found].flatMap(([name, colour]) => (name.startsWith(prefix) ? [colour] : []));
  return {
    ground: colour("surface"),
    grid: colour("line"),
    text: colour("ink"),
    muted: colour("ink-2"),
    accent: colour("accent"),
    warn: colour("attention"),
    band: colour("timeline-band"),
    onSlice: colour("on-slice"),
    looks: family("look-"),
    hues: family("hue-"),
    groups: TIME_GROUPS.map(colour),
    curve: colour("compute"),
    device: colour("timeline-device"),
    gained: ["#e0ffe0", "#008000"],
    lost: ["#ffe0e0", "#c00000"],
    host: colour("timeline-host"),
  };
}
