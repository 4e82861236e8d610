import { otherColor, seriesColor } from "../../base/theme";

export interface Part {
  key: string;
  label: string;
  value: number;
  color?: string;
  title?: string;
}

export interface DrawnPart extends Part {
  color: string;
  /** Fraction of the whole, 0 to 1. */
  share: number;
  /** How many parts are pooled in it; 1 for a part of its own. */
  pooled: number;
}

export const OTHER = "other";

/** The `top` largest parts in descending order, the rest as one part "other"; parts of 0 are left out. */
export function poolParts(parts: readonly Part[], top: number): DrawnPart[] {
  const sorted = parts.filter((part) => part.value > 0).sort((a, b) => b.value - a.value);
  const whole = sorted.reduce((sum, part) => sum + part.value, 0);
  // A single part too many is shown as itself: "other (1)" would only hide its name.
  const shown = sorted.length === top + 1 ? sorted.length : Math.min(top, sorted.length);
  const drawn: DrawnPart[] = sorted.slice(0, shown).map((part, rank) => ({
    ...part,
    color: part.color ?? (part.key === OTHER ? otherColor : seriesColor(rank)),
    share: part.value / whole,
    pooled: 1,
  }));
  const rest = sorted.slice(shown);
  if (rest.length > 0) {
    const value = rest.reduce((sum, part) => sum + part.value, 0);
    const label = `other (${rest.length})`;
    const share = value / whole;
    drawn.push({ key: OTHER, label, value, color: otherColor, share, pooled: rest.length });
  }
  return drawn;
}

/** The path of a ring's piece between two fractions of the turn, clockwise from the top. */
export function ringPath(from: number, to: number, inner: number, outer: number): string {
  // A whole turn has no start and no end that differ, so it is drawn as two halves.
  if (to - from > 0.99999)
    return `${ringPath(0, 0.5, inner, outer)}${ringPath(0.5, 0.999995, inner, outer)}`;
  const point = (turn: number, radius: number): string => {
    const angle = turn * 2 * Math.PI;
    return `${(radius * Math.sin(angle)).toFixed(3)},${(-radius * Math.cos(angle)).toFixed(3)}`;
  };
  const large = to - from > 0.5 ? 1 : 0;
  return `M${point(from, outer)}A${outer},${outer} 0 ${large} 1 ${point(to, outer)}L${point(to, inner)}A${inner},${inner} 0 ${large} 0 ${point(from, inner)}Z`;
}
