/** What charts have in common: ticks with the lines across. */

import type { Axis } from "./axis";

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
