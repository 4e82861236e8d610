/** Values of several groups as dots on one axis, so that their spread can be seen beside their difference. */

import { useRef } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { useId } from "../../base/id";
import { format, type Unit } from "../../base/units";
import { XTicks } from "./axes";
import { rangeAxis } from "./axes";
import { useWidth } from "./size";

export interface StripRow {
  label: string;
  color: string;
  dots: readonly { value: number; title: string; faded: boolean }[];
  mean: number | null;
  /** Half the width of the band around the mean. */
  spread: number | null;
}

/** Px of a letter of a name. */
const LETTER = 7;
const ROW = 52;
const BOTTOM = 24;
/** Of more dots than this one still shows how dense they are. */
const MOST_SOLID = 60;
/** Equal values beside each other would be one dot. */
const offsetOf = (index: number): number => (((index * 7) % 5) - 2) * 6;

interface StripProps {
  label: string;
  rows: readonly StripRow[];
  unit: Unit;
  /** A stretch of the axis that is hatched: the interval of a figure. */
  interval?: readonly [number, number] | null;
}

export function Strip({ label, rows, unit, interval }: StripProps) {
  const root = useRef<HTMLDivElement>(null);
  const left = 16 + LETTER * Math.min(16, Math.max(...rows.map((row) => row.label.length)));
  const room = Math.max(180, useWidth(root) - left - 16);
  const values = rows.flatMap((row) => [
    ...row.dots.map((dot) => dot.value),
    ...(row.mean === null ? [] : [row.mean]),
  ]);
  const hatch = useId("interval");
  if (!values.length) return <p class="chart-nothing">Nothing to show: there are no values.</p>;
  const { ticks, scale, at } = rangeAxis(Math.min(...values), Math.max(...values), unit);
  const x = (value: number): number => left + at(value) * room;
  const inside = (at: number): number => clamp(at, left, left + room);
  const height = rows.length * ROW;
  return (
    <div class="strip" ref={root}>
      <svg
        width={left + room + 16}
        height={height + BOTTOM}
        role="img"
        aria-label={`${label}: ${rows.map((row) => `${row.label} ${row.dots.length} values, mean ${format(row.mean, unit)}`).join("; ")}`}
      >
        <XTicks {...{ ticks, scale, x, height }} />
        {interval ? (
          <Interval
            {...{ hatch, height }}
            from={inside(x(interval[0]))}
            to={inside(x(interval[1]))}
          />
        ) : null}
        <text class="axis-unit" x={4} y={height + 15}>
          {scale.unit}
        </text>
        {rows.map((row, place) => (
          <StripLine
            key={row.label}
            row={row}
            y={(place + 0.5) * ROW}
            x={x}
            ends={[left, left + room]}
            unit={unit}
          />
        ))}
      </svg>
    </div>
  );
}

interface IntervalProps {
  hatch: string;
  from: number;
  to: number;
  height: number;
}

function Interval({ hatch, from, to, height }: IntervalProps) {
  return (
    <g class="strip-interval">
      <pattern
        id={hatch}
        width={6}
        height={6}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line y2={6} />
      </pattern>
      <rect x={from} width={Math.max(0, to - from)} height={height} fill={`url(#${hatch})`} />
    </g>
  );
}

interface StripLineProps {
  row: StripRow;
  y: number;
  x: (value: number) => number;
  ends: readonly [number, number];
  unit: Unit;
}

function StripLine({ row, y, x, ends: [first, last], unit }: StripLineProps) {
  const { mean, spread } = row;
  const inside = (at: number): number => clamp(at, first, last);
  return (
    <g style={{ color: row.color }}>
      <text class="strip-name" x={4} y={y + 5}>
        {row.label}
      </text>
      {mean !== null && spread ? (
        <rect
          class="strip-band"
          x={inside(x(mean - spread))}
          width={inside(x(mean + spread)) - inside(x(mean - spread))}
          y={y - 20}
          height={40}
        />
      ) : null}
      {[...row.dots.entries()]
        .sort(([, a], [, b]) => Number(b.faded) - Number(a.faded))
        .map(([i, dot]) => (
          <circle
            key={i}
            class={dot.faded ? "strip-faded" : ""}
            fill-opacity={row.dots.length > MOST_SOLID ? 0.3 : 1}
            cx={x(dot.value)}
            cy={y + offsetOf(i)}
            r={4.5}
          >
            <title>{dot.title}</title>
          </circle>
        ))}
      {mean === null ? null : (
        <path class="strip-mean" d={`M${x(mean)},${y - 22}v44`}>
          <title>{`mean ${format(mean, unit)}`}</title>
        </path>
      )}
    </g>
  );
}
