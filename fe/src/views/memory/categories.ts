/** What blocks are for: one order and one colour in the curve, the tiles and their legend. */

import { otherColor, seriesColor } from "../../base/theme";

/** From what stays to what comes and goes, so that stacked bands below do not shake those above. */
const ORDER = [
  "before the recording",
  "parameter",
  "optimizer state",
  "gradient",
  "activation",
  "kept",
  "input",
  "temporary",
  "autograd detail",
];
const COLOURS: Readonly<Record<string, string>> = {
  "before the recording": otherColor,
  parameter: seriesColor(0),
  "optimizer state": seriesColor(3),
  gradient: seriesColor(5),
  activation: seriesColor(2),
  input: seriesColor(6),
  temporary: seriesColor(1),
  "autograd detail": seriesColor(7),
  kept: seriesColor(4),
};

export const categoryColour = (name: string | null): string =>
  COLOURS[name ?? ""] ?? "var(--flame-rest)";

const rank = (name: string): number =>
  (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);

/** Positions of names in the order of the bands. */
export const inOrder = (names: readonly string[]): number[] =>
  [...names.keys()].sort((a, b) => rank(names[a] ?? "") - rank(names[b] ?? ""));
