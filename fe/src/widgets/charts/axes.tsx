/** What charts have in common: ticks with the lines across. */

import { type Scale, scaleFor, type Unit } from "../../base/units";

/** Room above the plot and to the left of it, px. */
export const TOP = 18;
export const LEFT = 62;

/** The height of a value, sharp for a line of 1 px. */
export function lineY(value: number, axis: Axis, plot: number): number {
  return Math.round(TOP + plot - (value / axis.max) * plot) + 0.5;
}

export function YTicks({ axis, plot }: { axis: Axis; plot: number }) {
  return (
    <>
      {axis.ticks.map((tick) => (
        <text
          key={tick}
          x={LEFT - 8}
          y={TOP + plot - (tick / axis.max) * plot + 4}
          text-anchor="end"
        >
          {axis.scale.text(tick)}
        </text>
      ))}
      <text class="axis-unit" x={LEFT - 8} y={10} text-anchor="end">
        {axis.scale.unit}
      </text>
    </>
  );
}

interface GridLinesProps {
  axis: Axis;
  plot: number;
  left?: number;
  width: number;
}

export function GridLines({ axis, plot, left = 0, width }: GridLinesProps) {
  return (
    <g aria-hidden="true">
      {axis.ticks.map((tick) => (
        <line
          key={tick}
          class={tick === 0 ? "axis-base" : "axis-grid"}
          x1={left}
          x2={left + width}
          y1={lineY(tick, axis, plot)}
          y2={lineY(tick, axis, plot)}
        />
      ))}
    </g>
  );
}

interface XTicksProps extends Pick<Axis, "ticks" | "scale"> {
  x: (value: number) => number;
  height: number;
}

/** Ticks below a plot, and the lines up from them. */
export function XTicks({ ticks, scale, x, height }: XTicksProps) {
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="axis-grid" x1={x(tick)} x2={x(tick)} y1={0} y2={height} />
          <text x={x(tick)} y={height + 15} text-anchor="middle">
            {scale.text(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

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

/** The multiples of a step from `low` to `high`. */
export function multiples(step: number, low: number, high: number): number[] {
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** An axis from 0 to at least `largest`. Nothing to show gives an axis from 0 to 1. */
export function linearAxis(largest: number, unit: Unit, count = 5): Axis {
  if (!(largest > 0) || !Number.isFinite(largest))
    return { max: 1, ticks: [0], scale: scaleFor(0, unit) };
  const { factor } = scaleFor(largest, unit);
  const wanted = tickStep(largest, count, factor);
  // What is counted in whole ones has no ticks between them.
  const step = unit === "count" || (unit === "ns" && factor === 1) ? Math.max(1, wanted) : wanted;
  const steps = Math.ceil(largest / step - 1e-9);
  const ticks = Array.from({ length: steps + 1 }, (_, i) => i * step);
  return { max: steps * step, ticks, scale: scaleFor(largest, unit, step) };
}
