/** Rates over intensities on logarithmic axes, below the roofs that the hardware sets: how far each point is from what is possible, and what limits it. */

import { useMemo, useRef, useState } from "preact/hooks";
import { format, formatNumber, type Unit } from "../../base/units";
import { Floating } from "../tooltip";
import { TOP } from "./axes";
import { multiples } from "./axes";
import { labelPlaces } from "./label_places";
import { keysOfMarks } from "./moves";
import { useWidth } from "./size";

interface Group {
  label: string;
  color: string;
}

interface RooflineProps {
  label: string;
  points: readonly RoofPoint[];
  groups: readonly Group[];
  roofs: readonly Roof[];
  /** Bytes per second; null: not known, then there is no slope. */
  bandwidth: number | null;
  onSelect: (key: string) => void;
  /** What is drawn instead of FLOP/s over FLOP per byte; all marks are of one size then. */
  axes?: { x: string; y: Unit };
}

const HEIGHT = 400;
const LEFT = 84;
const RIGHT = 12;
const BOTTOM = 40;
const LABEL_HEIGHT = 14;

interface Area {
  x: (intensity: number) => number;
  y: (rate: number) => number;
  width: number;
  height: number;
}

export function Roofline(props: RooflineProps) {
  const { label, points, groups, bandwidth, onSelect } = props;
  const root = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const width = Math.max(160, useWidth(root) - LEFT - RIGHT);
  const roofs = useMemo(() => mergedRoofs(props.roofs), [props.roofs]);
  const axes = useMemo(() => axesOf(points, roofs, bandwidth), [points, roofs, bandwidth]);
  const order = useMemo(
    () => [...points].sort((a, b) => a.intensity - b.intensity || a.rate - b.rate),
    [points],
  );
  const drawn = useMemo(() => [...points].sort((a, b) => b.size - a.size), [points]);
  const [active, setActive] = useState<string | null>(null);
  if (!points.length)
    return <p class="chart-nothing">Nothing to show: no row has both FLOPs and bytes.</p>;
  const plot = HEIGHT - TOP - BOTTOM;
  const area: Area = {
    x: (value) => LEFT + axes.x.at(value) * width,
    y: (value) => TOP + (1 - axes.y.at(value)) * plot,
    width,
    height: plot,
  };
  const at = order.findIndex((point) => point.key === active);
  const shown = order[at];
  const leave = (): void => setActive(null);
  const onKeyDown = keysOfMarks(
    Math.max(0, at),
    order.length,
    (next) => pointIn(svg.current, order[next]?.key)?.focus(),
    () => shown && onSelect(shown.key),
    leave,
  );
  const largest = props.axes ? Infinity : (drawn[0]?.size ?? 0);
  return (
    <div class="stacked roofline" ref={root}>
      <MarkLegend groups={groups} />
      <svg
        ref={svg}
        width={LEFT + width + RIGHT}
        height={HEIGHT}
        role="group"
        aria-label={`${label}, ${points.length} points; the arrow keys move, Enter chooses`}
        onKeyDown={onKeyDown}
        onPointerLeave={leave}
      >
        <Ticks axes={axes} area={area} words={props.axes} />
        {drawn.map((point) => (
          <Point
            key={point.key}
            {...{ point, area }}
            color={groups[point.group]?.color}
            radius={radiusOf(point.size, largest)}
            tabStop={point === (shown ?? order[0])}
            activate={setActive}
            onSelect={onSelect}
          />
        ))}
        <Roofs {...{ axes, area, roofs, bandwidth }} />
      </svg>
      {shown ? (
        <PointTip
          point={shown}
          group={groups[shown.group]?.label}
          box={() => pointIn(svg.current, shown.key)?.getBoundingClientRect()}
        />
      ) : null}
    </div>
  );
}

const pointIn = (svg: SVGSVGElement | null, key: string | undefined): SVGElement | undefined =>
  [...(svg?.querySelectorAll<SVGElement>("[data-point]") ?? [])].find(
    (element) => element.dataset.point === key,
  );

function MarkLegend({ groups }: { groups: readonly Group[] }) {
  return (
    <ul class="legend-line">
      {groups.map(({ label, color }, group) => (
        <li key={label}>
          <Mark group={group} color={color} />
          {label}
        </li>
      ))}
    </ul>
  );
}

export function Mark({ group, color }: { group: number; color: string }) {
  return (
    <svg class="swatch" viewBox="-7 -7 14 14" aria-hidden="true">
      <path d={markPath(group, 5)} style={{ fill: color }} />
    </svg>
  );
}

interface TicksProps {
  axes: { x: LogAxis; y: LogAxis };
  area: Area;
  words: RooflineProps["axes"];
}

function Ticks({ axes, area, words }: TicksProps) {
  const bottom = TOP + area.height;
  const every = (axis: LogAxis, room: number, least: number): readonly number[] => {
    const step = Math.max(1, Math.ceil((axis.ticks.length * least) / room));
    return axis.ticks.filter((_, i) => i % step === 0);
  };
  return (
    <g aria-hidden="true">
      {every(axes.x, area.width, 50).map((tick) => (
        <g key={tick}>
          <line class="axis-grid" x1={area.x(tick)} x2={area.x(tick)} y1={TOP} y2={bottom} />
          <text x={area.x(tick)} y={bottom + 16} text-anchor="middle">
            {tick < 1 ? Number(tick.toPrecision(1)) : formatNumber(tick)}
          </text>
        </g>
      ))}
      {every(axes.y, area.height, 24).map((tick) => (
        <g key={tick}>
          <line
            class="axis-grid"
            x1={LEFT}
            x2={LEFT + area.width}
            y1={area.y(tick)}
            y2={area.y(tick)}
          />
          <text x={LEFT - 8} y={area.y(tick) + 4} text-anchor="end">
            {format(tick, words?.y ?? "FLOP/s").replace(/\.0+ /, " ")}
          </text>
        </g>
      ))}
      <text class="axis-unit" x={LEFT + area.width} y={bottom + 33} text-anchor="end">
        {words?.x ?? "FLOP per byte of memory traffic"}
      </text>
    </g>
  );
}

interface RoofsProps {
  axes: { x: LogAxis; y: LogAxis };
  area: Area;
  roofs: readonly Roof[];
  bandwidth: number | null;
}

/** The slope of the memory's bandwidth, and the flat roofs of the precisions to the right of it; over the marks, so that none hides a label. */
function Roofs({ axes: { x, y }, area, roofs, bandwidth }: RoofsProps) {
  const heights = labelPlaces(
    roofs.map(({ rate }) => area.y(rate) - 5),
    LABEL_HEIGHT,
    Infinity,
  );
  const right = LEFT + area.width;
  return (
    <g aria-hidden="true" pointer-events="none">
      {bandwidth ? <Slope {...{ x, y, area, bandwidth }} top={roofs[0]?.rate ?? y.high} /> : null}
      {roofs.map(({ rate, label }, i) => (
        <g key={rate}>
          <line
            class="roof"
            x1={bandwidth ? Math.max(LEFT, area.x(rate / bandwidth)) : LEFT}
            x2={right}
            y1={area.y(rate)}
            y2={area.y(rate)}
          />
          <text class="roof-label" x={right - 4} y={heights[i]} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
    </g>
  );
}

interface SlopeProps {
  x: LogAxis;
  y: LogAxis;
  area: Area;
  bandwidth: number;
  top: number;
}

function Slope({ x, y, area, bandwidth, top }: SlopeProps) {
  const from = Math.max(x.low, y.low / bandwidth);
  const to = Math.min(x.high, top / bandwidth);
  const [x1, x2] = [area.x(from), area.x(to)];
  const [y1, y2] = [area.y(from * bandwidth), area.y(to * bandwidth)];
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const middle = `translate(${(x1 + x2) / 2},${(y1 + y2) / 2}) rotate(${angle})`;
  return (
    <>
      <line class="roof" {...{ x1, y1, x2, y2 }} />
      <text class="roof-label" transform={middle} y={-6} text-anchor="middle">
        {`${format(bandwidth, "B/s")} memory`}
      </text>
    </>
  );
}

interface PointProps {
  point: RoofPoint;
  area: Area;
  color: string | undefined;
  radius: number;
  tabStop: boolean;
  activate: (key: string | null) => void;
  onSelect: (key: string) => void;
}

function Point({ point, area, color, radius, tabStop, activate, onSelect }: PointProps) {
  const { key, title, selected } = point;
  return (
    <g
      class={`roof-point${selected ? " selected" : ""}`}
      data-point={key}
      role="button"
      aria-label={`${title}: ${point.figures.map(([name, text]) => `${name} ${text}`).join(", ")}`}
      aria-pressed={selected}
      tabindex={tabStop ? 0 : -1}
      transform={`translate(${area.x(point.intensity).toFixed(1)},${area.y(point.rate).toFixed(1)})`}
      onPointerEnter={() => activate(key)}
      onFocus={() => activate(key)}
      onBlur={() => activate(null)}
      onClick={() => onSelect(key)}
    >
      <path d={markPath(point.group, radius)} style={{ fill: color }} />
    </g>
  );
}

interface PointTipProps {
  point: RoofPoint;
  group: string | undefined;
  box: () => DOMRect | undefined;
}

function PointTip({ point, group, box }: PointTipProps) {
  return (
    <Floating box={box} class="chart-tip">
      <strong>{point.title}</strong>
      {group ? <div class="muted">{group}</div> : null}
      <dl class="roof-figures">
        {point.figures.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="number">{text}</dd>
          </div>
        ))}
      </dl>
    </Floating>
  );
}

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

interface LogAxis {
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
