/** How one value is spread over many things: the range, the middle 90 % and the middle half, and the median, a row per series. */

import { useRef } from "preact/hooks";
import { format, type Unit } from "../../base/units";
import { Term } from "../tooltip";
import { XTicks } from "./axes";
import { rangeAxis } from "./axes";
import { useWidth } from "./size";
import type { Series } from "./stack";

const ROW = 34;
const BOTTOM = 20;
const RIGHT = 22;

export interface SpreadRow {
  series: Series;
  spread: Quantiles;
}

interface SpreadProps {
  label: string;
  rows: readonly SpreadRow[];
  unit: Unit;
}

export function Spread({ label, rows, unit }: SpreadProps) {
  const root = useRef<HTMLDivElement>(null);
  const room = Math.max(120, useWidth(root) - RIGHT);
  const all = rows.flatMap(({ spread }) => [spread.least, spread.most]);
  const { ticks, scale, at } = rangeAxis(0, Math.max(0, ...all), unit);
  const x = (value: number): number => 4 + at(value) * room;
  return (
    <div class="spread">
      <ul class="spread-names">
        {rows.map(({ series, spread }) => (
          <li key={series.key} style={{ height: `${ROW}px` }}>
            <span class="swatch" style={{ background: series.color }} />
            {series.term ? <Term id={series.term}>{series.label}</Term> : series.label}
            <span class="number muted">{format(Math.round(spread.median), unit)}</span>
          </li>
        ))}
      </ul>
      <div class="spread-plot" ref={root}>
        <svg
          width={room + RIGHT}
          height={rows.length * ROW + BOTTOM}
          role="img"
          aria-label={`${label}: ${rows.map((row) => spreadText(row, unit)).join("; ")}`}
        >
          <XTicks {...{ ticks, scale, x }} height={rows.length * ROW} />
          {rows.map(({ series, spread }, place) => (
            <SpreadLine key={series.key} {...{ series, spread, x }} y={(place + 0.5) * ROW}>
              {spreadText({ series, spread }, unit)}
            </SpreadLine>
          ))}
        </svg>
        <span class="axis-unit">{scale.unit}</span>
      </div>
    </div>
  );
}

interface SpreadLineProps extends SpreadRow {
  x: (value: number) => number;
  y: number;
  children: string;
}

function SpreadLine({ series, spread, x, y, children }: SpreadLineProps) {
  const { least, low, lower, median, upper, high, most } = spread;
  const box = (from: number, to: number, height: number, opacity: number) => (
    <rect
      x={x(from)}
      y={y - height / 2}
      width={Math.max(1.5, x(to) - x(from))}
      height={height}
      fill-opacity={opacity}
    />
  );
  return (
    <g style={{ fill: series.color }}>
      <title>{children}</title>
      <path class="spread-range" d={`M${x(least)},${y - 4}v8m0,-4H${x(most)}m0,-4v8`} />
      {box(low, high, 10, 0.45)}
      {box(lower, upper, 18, 1)}
      <path class="spread-median" d={`M${x(median)},${y - 12}v24`} />
    </g>
  );
}

/** `Computation: median 60.0 ms, 90 % between 58.1 ms and 62.0 ms, 55.2 ms to 80.3 ms in all`. */
export function spreadText({ series, spread }: SpreadRow, unit: Unit): string {
  const text = (value: number): string => format(Math.round(value), unit);
  return `${series.label}: median ${text(spread.median)}, 90 % between ${text(spread.low)} and ${text(spread.high)}, ${text(spread.least)} to ${text(spread.most)} in all`;
}

/** Quantiles of values: 0, 5, 25, 50, 75, 95 and 100 %. */
export interface Quantiles {
  least: number;
  low: number;
  lower: number;
  median: number;
  upper: number;
  high: number;
  most: number;
}

/** Linear between the two nearest values, as numpy does it; `null` without values. */
export function quantilesOf(values: readonly number[]): Quantiles | null {
  if (!values.length) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? 0;
    return below + ((sorted[Math.ceil(place)] ?? below) - below) * (place % 1);
  };
  return {
    least: at(0),
    low: at(0.05),
    lower: at(0.25),
    median: at(0.5),
    upper: at(0.75),
    high: at(0.95),
    most: at(1),
  };
}
