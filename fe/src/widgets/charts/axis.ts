/** Ticks of a linear axis. Pure. */

import { scaleFor, type Scale, type Unit } from "../../base/units";

export interface Axis {
  /** The end of the axis: a round number that is not below the largest value. */
  max: number;
  ticks: readonly number[];
  scale: Scale;
}

const STEPS = [1, 2, 5, 10] as const;

/** A round distance of ticks, so that about `count` of them reach `span`, in steps of 1, 2 or 5 of the axis's own unit. */
export function tickStep(span: number, count: number, factor: number): number {
  const raw = span / factor / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = STEPS.find((candidate) => candidate * power >= raw * 0.999999) ?? 10;
  return step * power * factor;
}

/** An axis from 0 to at least `largest`. Nothing to show gives an axis from 0 to 1. */
export function linearAxis(largest: number, unit: Unit, count = 5): Axis {
  if (!(largest > 0) || !Number.isFinite(largest)) return { max: 1, ticks: [0], scale: scaleFor(0, unit) };
  const { factor } = scaleFor(largest, unit);
  const wanted = tickStep(largest, count, factor);
  // What is counted in whole ones has no ticks between them.
  const step = unit === "count" || (unit === "ns" && factor === 1) ? Math.max(1, wanted) : wanted;
  const steps = Math.ceil(largest / step - 1e-9);
  const ticks = Array.from({ length: steps + 1 }, (_, i) => i * step);
  return { max: steps * step, ticks, scale: scaleFor(largest, unit, step) };
}
