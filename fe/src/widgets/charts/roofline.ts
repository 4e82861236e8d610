/** Geometry of a roofline chart: two logarithmic axes, roofs, and the marks of points. Pure. */

import { format } from "../../base/units";
import { multiples } from "./axis";

export interface RoofPoint {
  key: string;
  title: string;
  /** FLOP per byte, and FLOP/s; both above 0. */
  intensity: number;
  rate: number;
  /** Makes the mark larger, e.g. the time. */
  size: number;
  group: number;
  figures: readonly (readonly [string, string])[];
  selected: boolean;
}

/** A rate that cannot be passed, FLOP/s. */
export interface Roof {
  label: string;
  rate: number;
}

export interface LogAxis {
  ticks: readonly number[];
  /** The place of a value as a fraction of the axis, not cut off. */
  at: (value: number) => number;
  low: number;
  high: number;
}

/** An axis that holds all values with some air; at least two decades long, as one would show nothing of their order. */
export function logAxis(values: readonly number[]): LogAxis {
  const logs = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
  const [least, most] = logs.length ? [Math.min(...logs), Math.max(...logs)] : [0, 0];
  const lack = Math.max(0, 2 - (most - least)) / 2;
  const [from, to] = [least - lack - 0.2, most + lack + 0.2];
  return {
    ticks: multiples(1, from, to).map((power) => 10 ** power),
    at: (value) => (Math.log10(value) - from) / (to - from),
    low: 10 ** from,
    high: 10 ** to,
  };
}

/** Roofs of one rate share a line; the highest is first. */
export function mergedRoofs(roofs: readonly Roof[]): Roof[] {
  const labels = new Map<number, string[]>();
  for (const { rate, label } of roofs) labels.set(rate, [...(labels.get(rate) ?? []), label]);
  return [...labels]
    .map(([rate, names]) => ({ rate, label: `${format(rate, "FLOP/s")} ${names.join(", ")}` }))
    .sort((a, b) => b.rate - a.rate);
}

export function axesOf(
  points: readonly RoofPoint[],
  roofs: readonly Roof[],
  bandwidth: number | null,
): { x: LogAxis; y: LogAxis } {
  const ridges = bandwidth ? roofs.map(({ rate }) => rate / bandwidth) : [];
  return {
    x: logAxis([
      ...points.map((point) => point.intensity),
      ...ridges.flatMap((ridge) => [ridge / 4, ridge * 6]),
    ]),
    y: logAxis([...points.map((point) => point.rate), ...roofs.map(({ rate }) => rate)]),
  };
}

const SMALLEST = 4;
const LARGEST = 17;

/** The half width of a mark, px: its area grows with the size. */
export function radiusOf(size: number, largest: number): number {
  return largest > 0
    ? Math.max(SMALLEST, LARGEST * Math.sqrt(Math.max(0, size) / largest))
    : SMALLEST;
}

type Shape = (r: number) => string;

/** Corners for a half width of 1, as `x,y`. */
const polygon =
  (corners: string): Shape =>
  (r) =>
    `M${corners.replace(/[^, ]+/g, (value) => (Number(value) * r).toFixed(2)).replaceAll(" ", "L")}z`;

const circle: Shape = (r) => `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`;

/** Of about the same area, so that none looks more than it is. */
const SHAPES: readonly Shape[] = [
  circle,
  polygon("-0.89,-0.89 0.89,-0.89 0.89,0.89 -0.89,0.89"),
  polygon("0,-1.35 1.17,0.67 -1.17,0.67"),
  polygon("0,-1.25 1.25,0 0,1.25 -1.25,0"),
  polygon("0,1.35 1.17,-0.67 -1.17,-0.67"),
  polygon(
    "-0.4,-1.1 0.4,-1.1 0.4,-0.4 1.1,-0.4 1.1,0.4 0.4,0.4 0.4,1.1 -0.4,1.1 -0.4,0.4 -1.1,0.4 -1.1,-0.4 -0.4,-0.4",
  ),
  polygon("0,-1.15 1.09,-0.36 0.68,0.93 -0.68,0.93 -1.09,-0.36"),
  polygon("-1.3,-0.6 1.3,-0.6 1.3,0.6 -1.3,0.6"),
];

export function markPath(group: number, r: number): string {
  return (SHAPES[group % SHAPES.length] ?? circle)(r);
}
