/** Rates over intensities on logarithmic axes, below the roofs that the hardware sets: how far each point is from what is possible, and what limits it. */

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { format, formatNumber } from "../../base/units";
import { Floating } from "../tooltip";
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
}

const HEIGHT = 430;
const TOP = 12;
const BOTTOM = 40;
const LABEL_HEIGHT = 16;
/** Of a character of a label, px, about. */
const LETTER = 6.6;
/** Marks with their name beside them, besides the chosen one. */
const NAMED = 3;

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
  const width = Math.max(160, useWidth(root));
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
    x: (value) => axes.x.at(value) * width,
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
  const largest = drawn[0]?.size ?? 0;
  return (
    <div class="stacked roofline" ref={root}>
      <MarkLegend {...{ groups, points }} />
      <svg
        ref={svg}
        width={width}
        height={HEIGHT}
        role="group"
        aria-label={`${label}, ${points.length} points; the arrow keys move, Enter chooses`}
        onKeyDown={onKeyDown}
        onPointerLeave={leave}
      >
        <Ticks axes={axes} area={area} />
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
        <Labels
          {...{ area, largest }}
          roofs={roofLabels(axes, area, roofs, bandwidth)}
          points={[...drawn].sort((a, b) => Number(b.selected) - Number(a.selected))}
        />
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

/** Of the groups that have a mark. */
function MarkLegend({ groups, points }: Pick<RooflineProps, "groups" | "points">) {
  return (
    <ul class="legend-line">
      {groups.map(({ label, color }, group) =>
        points.some((point) => point.group === group) ? (
          <li key={label}>
            <svg class="swatch" viewBox="-7 -7 14 14" aria-hidden="true">
              <path d={markPath(group, 5)} style={{ fill: color }} />
            </svg>
            {label}
          </li>
        ) : null,
      )}
    </ul>
  );
}

interface TicksProps {
  axes: { x: LogAxis; y: LogAxis };
  area: Area;
}

function Ticks({ axes, area }: TicksProps) {
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
          <text x={area.x(tick) + 4} y={bottom + 16}>
            {tick < 1 ? Number(tick.toPrecision(1)) : formatNumber(tick)}
          </text>
        </g>
      ))}
      {every(axes.y, area.height, 24).map((tick) => (
        <g key={tick}>
          <line class="axis-grid" x1={0} x2={area.width} y1={area.y(tick)} y2={area.y(tick)} />
          <text class="roof-label axis-label" x={4} y={area.y(tick) - 5}>
            {format(tick, "FLOP/s").replace(/\.0+ /, " ")}
          </text>
        </g>
      ))}
      <text class="axis-unit" x={area.width} y={bottom + 33} text-anchor="end">
        FLOP per byte of memory traffic
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

/** The slope of the memory's bandwidth, and the flat roofs of the units to the right of it: all but the highest dashed. */
function Roofs({ axes: { x, y }, area, roofs, bandwidth }: RoofsProps) {
  const top = roofs[0]?.rate ?? y.high;
  const slope = bandwidth
    ? [Math.max(x.low, y.low / bandwidth), Math.min(x.high, top / bandwidth)]
    : [];
  const [from, to] = slope;
  return (
    <g aria-hidden="true" pointer-events="none">
      {bandwidth && from && to ? (
        <line
          class="roof"
          x1={area.x(from)}
          x2={area.x(to)}
          y1={area.y(from * bandwidth)}
          y2={area.y(to * bandwidth)}
        />
      ) : null}
      {roofs.map(({ rate }, i) => (
        <line
          key={rate}
          class={`roof roof-flat${i ? " roof-lower" : ""}`}
          x1={bandwidth ? Math.max(0, area.x(rate / bandwidth)) : 0}
          x2={area.width}
          y1={area.y(rate)}
          y2={area.y(rate)}
        />
      ))}
    </g>
  );
}

interface Label {
  text: string;
  /** Of its first or last character, and its base line. */
  x: number;
  y: number;
  end: boolean;
}

/** Of the flat roofs at the right, of the slope to the left of its middle; none covers another. */
function roofLabels(
  { x, y }: RoofsProps["axes"],
  area: Area,
  roofs: readonly Roof[],
  bandwidth: number | null,
): Label[] {
  const heights = labelPlaces(
    roofs.map(({ rate }) => area.y(rate) - 6),
    LABEL_HEIGHT,
    Infinity,
  );
  const flat = roofs.map(({ label }, i) => ({
    text: label,
    x: area.width - 4,
    y: heights[i] ?? 0,
    end: true,
  }));
  if (!bandwidth) return flat;
  const text = `memory · ${format(bandwidth, "B/s")}`;
  const from = Math.max(x.low, y.low / bandwidth);
  const to = Math.min(x.high, (roofs[0]?.rate ?? y.high) / bandwidth);
  const middle = Math.sqrt(from * to);
  const at = Math.max(area.x(middle) - 10, text.length * LETTER);
  return [...flat, { text, x: at, y: area.y(middle * bandwidth) - 6, end: true }];
}

interface LabelsProps {
  area: Area;
  largest: number;
  roofs: readonly Label[];
  /** The chosen ones first, then the largest. */
  points: readonly RoofPoint[];
}

/** Over the marks, so that none hides a label: of the roofs, of the chosen mark with the way to its roof, and of the largest marks where there is room. */
function Labels({ area, largest, roofs, points }: LabelsProps) {
  const placed = [...roofs];
  const named = points.slice(0, NAMED + 1).flatMap((point): JSX.Element[] => {
    const { key, name, selected, limit, intensity, rate, size } = point;
    const [x, y] = [area.x(intensity), area.y(rate)];
    const sides = name ? labelsBeside(area, x, y, radiusOf(size, largest), name) : [];
    const label = sides.find((side) => !placed.some((other) => meet(side, other)));
    const shown = label ?? (selected ? sides[0] : undefined);
    if (shown) placed.push(shown);
    return [
      <g key={key}>
        {selected && limit ? (
          <line class="roof-distance" x1={x} x2={x} y1={y} y2={area.y(limit)} />
        ) : null}
        {shown ? <LabelText {...shown} /> : null}
      </g>,
    ];
  });
  return (
    <g aria-hidden="true" pointer-events="none">
      {roofs.map((label) => (
        <LabelText key={label.text} {...label} />
      ))}
      {named}
    </g>
  );
}

const LabelText = ({ text, x, y, end }: Label) => (
  <text class="roof-label" x={x} y={y} text-anchor={end ? "end" : "start"}>
    {text}
  </text>
);

/** To the right of a mark, and to the left, as far as there is room. */
function labelsBeside(area: Area, x: number, y: number, radius: number, text: string): Label[] {
  const [right, left] = [x + radius + 7, x - radius - 7];
  return [
    { text, x: right, y: y + 4, end: false },
    { text, x: left, y: y + 4, end: true },
  ].filter(({ end }) =>
    end ? left > text.length * LETTER : right + text.length * LETTER < area.width,
  );
}

function meet(a: Label, b: Label): boolean {
  const [[a1, a2], [b1, b2]] = [a, b].map(({ text, x, end }) => {
    const width = text.length * LETTER;
    return end ? [x - width, x] : [x, x + width];
  }) as [[number, number], [number, number]];
  return Math.abs(a.y - b.y) < LABEL_HEIGHT && a1 < b2 && b1 < a2;
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
  point: Pick<RoofPoint, "title" | "figures">;
  group?: string | undefined;
  box: () => DOMRect | undefined;
}

/** The figures of a point beside it. */
export function PointTip({ point, group, box }: PointTipProps) {
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
  /** What stands beside it if it is chosen or among the largest. */
  name?: string;
  /** FLOP/s at its roof, to which the chosen one shows its way. */
  limit?: number | null;
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
    .map(([rate, names]) => ({ rate, label: `${names.join(", ")} · ${format(rate, "FLOP/s")}` }))
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

const circle: Shape = (r) => `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`;
const square: Shape = (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`;

/** Of about the same area, so that none looks more than it is. */
const SHAPES: readonly Shape[] = [
  circle,
  (r) => square(0.89 * r),
  (r) => `M0,${-1.35 * r}l${1.17 * r},${2 * r}h${-2.34 * r}z`,
  (r) =>
    `M0,${-1.25 * r}l${1.25 * r},${1.25 * r}l${-1.25 * r},${1.25 * r}l${-1.25 * r},${-1.25 * r}z`,
];

export function markPath(group: number, r: number): string {
  return (SHAPES[group % SHAPES.length] ?? circle)(r);
}
