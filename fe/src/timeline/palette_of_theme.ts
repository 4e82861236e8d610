import { tokensOfTheme } from "../base/theme";
import type { Palette } from "./types";

/** Names of the tokens of groups of time, in the order of `Highlight.groups`. */
export const TIME_GROUPS = [
  "data",
  "compute",
  "copies",
  "communication",
  "waiting",
  "host",
  "not-recorded",
] as const;

/** What a style sheet without the variable is shown by. */
const MISSING = "#888888";

export function paletteOfTheme(root?: HTMLElement): Palette {
  const token = tokensOfTheme(root);
  const colour = (name: string): string => token(name) || MISSING;
  const series = (prefix: string): string[] => {
    const colours: string[] = [];
    for (let i = 0; token(`${prefix}${i}`); i++) colours.push(token(`${prefix}${i}`));
    return colours;
  };
  return {
    ground: colour("--surface"),
    band: colour("--timeline-band"),
    grid: colour("--line"),
    text: colour("--ink"),
    muted: colour("--ink-2"),
    accent: colour("--accent"),
    warn: colour("--attention"),
    onSlice: colour("--on-slice"),
    looks: series("--look-"),
    hues: series("--hue-"),
    groups: TIME_GROUPS.map((name) => colour(`--${name}`)),
    curve: colour("--compute"),
    device: colour("--timeline-device"),
    host: colour("--timeline-host"),
    gained: [colour("--gained-soft"), colour("--gained")],
    lost: [colour("--lost-soft"), colour("--lost")],
  };
}
