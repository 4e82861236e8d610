/** All ranks of a run as squares by coordinates: coloured by a figure, to be chosen from by pointer and by key. */

import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { OverviewRanksPayload, RankDimension, RankSpread } from "../../api/types.gen";
import { format, formatCount } from "../../base/units";
import type { Params } from "../../state/view";
import { Floating, LEVELS, Select, useWidth } from "../../widgets";
import {
  type Axes,
  colourOf,
  colourRange,
  coordinatesText,
  FIGURE_LABELS,
  type GridLayout,
  layOut,
  levelAt,
  moved,
  placeName,
  rankName,
  readAxes,
} from "./model";

export interface RankGridProps {
  payload: OverviewRanksPayload;
  /** `rows`, `columns`, `colour` and `only.NAME`, as in the address. */
  params: Params;
  setParam: (key: string, value: string | null) => void;
  /** The name of the worker that is open. */
  chosen: string;
  onChoose: (worker: number) => void;
}

const LETTER = 6.8;
const HEAD = 18;

/** The squares with the choice of dimensions and colour above them. */
export function RankGrid(props: RankGridProps) {
  const { payload, params, setParam } = props;
  const { dimensions, spreads } = payload;
  const axes = useMemo(() => readAxes(dimensions, params), [dimensions, params]);
  const spread = colourOf(payload, params.colour);
  return (
    <div class="rank-grid">
      <div class="rank-controls">
        {dimensions.length > 1 ? (
          <>
            <AxisSelect label="Rows" axis="rows" at={axes.rows} {...{ dimensions, setParam }} />
            <AxisSelect
              label="Columns"
              axis="columns"
              at={axes.columns}
              {...{ dimensions, setParam }}
            />
            {dimensions.map((dimension, place) =>
              place === axes.rows ||
              place === axes.columns ||
              dimension.size > MOST_PLACES ? null : (
                <OnlySelect
                  key={dimension.name}
                  at={axes.only[place] ?? -1}
                  {...{ dimension, setParam }}
                />
              ),
            )}
          </>
        ) : null}
        {spreads.length > 1 && spread ? (
          <Select
            label="Colour"
            value={spread.figure}
            options={spreads.map(({ figure }) => ({ value: figure, label: FIGURE_LABELS[figure] }))}
            onChange={(figure) => setParam("colour", figure)}
          />
        ) : null}
      </div>
      <Squares {...props} axes={axes} spread={spread} />
      <Legend payload={payload} spread={spread} />
    </div>
  );
}

/** A select of more places is no help. */
const MOST_PLACES = 256;

interface AxisSelectProps extends Pick<RankGridProps, "setParam"> {
  label: string;
  axis: "rows" | "columns";
  dimensions: readonly RankDimension[];
  at: number;
}

function AxisSelect({ label, axis, dimensions, at, setParam }: AxisSelectProps) {
  return (
    <Select
      label={label}
      value={dimensions[at]?.name ?? "none"}
      options={[
        ...[...dimensions]
          .reverse()
          .map(({ name, size }) => ({ value: name, label: name, note: String(size) })),
        { value: "none", label: "none" },
      ]}
      onChange={(name) => setParam(axis, name)}
    />
  );
}

interface OnlySelectProps extends Pick<RankGridProps, "setParam"> {
  dimension: RankDimension;
  at: number;
}

function OnlySelect({ dimension, at, setParam }: OnlySelectProps) {
  return (
    <Select
      label={dimension.name}
      value={at < 0 ? "" : String(at)}
      options={[
        { value: "", label: `all ${dimension.size}` },
        ...Array.from({ length: dimension.size }, (_, place) => ({
          value: String(place),
          label: placeName(dimension, place),
        })),
      ]}
      onChange={(place) => setParam(`only.${dimension.name}`, place || null)}
    />
  );
}

interface SquaresProps extends RankGridProps {
  axes: Axes;
  spread: RankSpread | null;
}

function Squares({ payload, axes, spread, chosen, onChoose }: SquaresProps) {
  const { workers, dimensions } = payload;
  const root = useRef<HTMLDivElement>(null);
  const cursor = useRef<SVGRectElement>(null);
  const [row, column] = [dimensions[axes.rows], dimensions[axes.columns]];
  const longest = row
    ? Math.max(
        row.name.length,
        ...Array.from({ length: row.size }, (_, i) => placeName(row, i).length),
      )
    : 0;
  const gutter = row ? Math.ceil(Math.min(longest, 20) * LETTER) + 12 : 36;
  const width = Math.max(120, useWidth(root) - gutter - 12);
  const layout = useMemo(
    () => layOut(dimensions, axes, workers, width),
    [dimensions, axes, workers, width],
  );
  const drawn = useMemo(
    () => <Drawn {...{ payload, layout, spread }} />,
    [payload, layout, spread],
  );
  const [at, setAt] = useState<number | null>(null);
  const [spoken, setSpoken] = useState(false);
  const [pointed, setPointed] = useState(false);
  const square = at === null ? undefined : layout.squares[at];
  const text = square ? squareText(payload, spread, square.worker) : "";
  const open = layout.squares.find(({ worker }) => workers[worker]?.worker === chosen);

  const onKeyDown = (event: KeyboardEvent): void => {
    if ((event.key === "Enter" || event.key === " ") && square) onChoose(square.worker);
    else {
      // The first arrow leads to the rank that is open.
      const start = open ? layout.squares.indexOf(open) : 0;
      const arrow = event.key.startsWith("Arrow");
      const next = at === null && arrow ? start : moved(layout.squares, at ?? start, event.key);
      if (next === null) return;
      setPointed(false);
      setAt(next);
      requestAnimationFrame(() =>
        cursor.current?.scrollIntoView({ block: "nearest", inline: "nearest" }),
      );
    }
    event.preventDefault();
  };
  const point = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    setPointed(true);
    setAt(squareAt(layout, event.clientX - box.left - gutter, event.clientY - box.top - head));
  };
  const head = column ? HEAD : 0;
  return (
    <div
      class="rank-scroll"
      ref={root}
      tabIndex={0}
      role="group"
      aria-label={`${formatCount(workers.length)} ranks${axesText(row, column)}; the arrow keys move, Enter opens the rank`}
      onKeyDown={onKeyDown}
      onFocus={() => setSpoken(true)}
      onBlur={() => {
        setSpoken(false);
        setAt(null);
      }}
    >
      <svg
        class={square && pointed ? "rank-pointed" : ""}
        width={gutter + layout.width + 4}
        height={head + layout.height + 4}
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setAt(null)}
        onClick={() => {
          if (square) onChoose(square.worker);
        }}
      >
        <Labels {...{ layout, gutter, row, column }} />
        <g transform={`translate(${gutter} ${head})`}>
          {drawn}
          {open ? <Outline class="rank-open" size={layout.size} {...open} /> : null}
          {square ? (
            <rect
              ref={cursor}
              class="rank-cursor"
              x={square.x}
              y={square.y}
              width={layout.size - 1}
              height={layout.size - 1}
            />
          ) : null}
        </g>
      </svg>
      <span class="visually-hidden" role="status">
        {spoken && !pointed ? text : ""}
      </span>
      {square ? (
        <Floating box={() => cursor.current?.getBoundingClientRect()}>
          <strong>{text}</strong>
          <div class="muted">{coordinatesText(dimensions, square.worker)}</div>
        </Floating>
      ) : null}
    </div>
  );
}

function axesText(row: RankDimension | undefined, column: RankDimension | undefined): string {
  const names = [row, column].flatMap((dimension) => (dimension ? [dimension.name] : []));
  return names.length ? ` by ${names.join(" and ")}` : "";
}

/** Of 1,024 squares the nearest is found faster than the browser finds what is under the pointer. */
function squareAt({ squares, size }: GridLayout, x: number, y: number): number | null {
  const found = squares.findIndex(
    (square) => x >= square.x && x < square.x + size && y >= square.y && y < square.y + size,
  );
  return found < 0 ? null : found;
}

export function squareText(
  { workers }: OverviewRanksPayload,
  spread: RankSpread | null,
  place: number,
): string {
  const worker = workers[place];
  if (!worker) return "";
  const name = [rankName(worker), worker.node].filter(Boolean).join(" · ");
  if (worker.state === "failed") return `${name}: could not be read`;
  if (worker.state === "waiting") return `${name}: not read yet`;
  if (!spread) return name;
  const out = spread.outliers.includes(place) ? ", stands out" : "";
  return `${name}: ${FIGURE_LABELS[spread.figure].toLowerCase()} ${format(spread.values[place], spread.unit)}${out}`;
}

interface DrawnProps {
  payload: OverviewRanksPayload;
  layout: GridLayout;
  spread: RankSpread | null;
}

/** The squares of each colour as one path, and a mark in those that stand out. */
function Drawn({ payload: { workers }, layout: { squares, size }, spread }: DrawnProps) {
  const paths = new Map<string, string>();
  const range = spread ? colourRange(spread) : { low: 0, high: 0 };
  const side = size - 1;
  const out = new Set(spread?.outliers);
  for (const { worker, x, y } of squares) {
    const state = workers[worker]?.state ?? "waiting";
    const level = state === "ready" ? levelAt(spread?.values[worker], range) : -1;
    const name = state === "failed" ? "rank-failed" : level < 0 ? "heat-unknown" : `heat-${level}`;
    paths.set(name, `${paths.get(name) ?? ""}M${x} ${y}h${side}v${side}h-${side}z`);
  }
  return (
    <>
      {[...paths].map(([name, d]) => (
        <path key={name} class={name} d={d} />
      ))}
      {squares
        .filter(({ worker }) => out.has(worker))
        .map(({ worker, x, y }) => (
          <circle
            key={worker}
            class="rank-out"
            cx={x + side / 2}
            cy={y + side / 2}
            r={Math.max(2, side / 5)}
          />
        ))}
    </>
  );
}

function Outline({
  x,
  y,
  size,
  class: name,
}: {
  x: number;
  y: number;
  size: number;
  class: string;
}) {
  return <rect class={name} x={x} y={y} width={size - 1} height={size - 1} />;
}

interface LabelsProps {
  layout: GridLayout;
  gutter: number;
  row: RankDimension | undefined;
  column: RankDimension | undefined;
}

function Labels({ layout, gutter, row, column }: LabelsProps) {
  const head = column ? HEAD : 0;
  const longest = Math.max(1, ...layout.columns.map(({ text }) => text.length));
  const step = (layout.columns[1]?.at ?? Infinity) - (layout.columns[0]?.at ?? 0);
  const every = Math.max(1, Math.ceil((longest * LETTER + 4) / step));
  const down = (layout.rows[1]?.at ?? Infinity) - (layout.rows[0]?.at ?? 0);
  const everyRow = Math.max(1, Math.ceil(13 / down));
  return (
    <g>
      {column
        ? layout.columns.map(({ text, at }, i) =>
            i % every ? null : (
              <text key={i} x={gutter + at} y={12} text-anchor="middle">
                {i === 0 && step > (column.name.length + longest + 1) * LETTER
                  ? `${column.name} ${text}`
                  : text}
              </text>
            ),
          )
        : null}
      {column ? (
        <text x={gutter - 6} y={12} text-anchor="end" class="rank-axis">
          {row ? row.name : ""}
        </text>
      ) : null}
      {layout.rows.map(({ text, at }, i) =>
        i % everyRow ? null : (
          <text key={i} x={gutter - 6} y={head + at + 4} text-anchor="end">
            {text.length > 20 ? `${text.slice(0, 19)}…` : text}
          </text>
        ),
      )}
    </g>
  );
}

function Legend({ payload, spread }: { payload: OverviewRanksPayload; spread: RankSpread | null }) {
  const { low, high } = spread ? colourRange(spread) : { low: 0, high: 0 };
  const states = new Set(payload.workers.map(({ state }) => state));
  return (
    <ul class="legend-line">
      {spread ? (
        <li>
          {format(low, spread.unit)}
          <svg width={14 * LEVELS} height="14" aria-hidden="true">
            {Array.from({ length: LEVELS }, (_, i) => (
              <rect key={i} class={`heat-${i + 1}`} x={i * 14} width="13" height="14" />
            ))}
          </svg>
          {format(high, spread.unit)}
        </li>
      ) : null}
      {spread?.outliers.length ? (
        <LegendItem text="stands out">
          <circle class="rank-out" cx="7" cy="7" r="3" />
        </LegendItem>
      ) : null}
      {states.has("waiting") || spread?.values.includes(null) ? (
        <LegendItem text="not known">
          <rect class="heat-unknown" x="1" y="1" width="12" height="12" />
        </LegendItem>
      ) : null}
      {states.has("failed") ? (
        <LegendItem text="could not be read">
          <rect class="rank-failed" width="14" height="14" />
        </LegendItem>
      ) : null}
    </ul>
  );
}

function LegendItem({ text, children }: { text: string; children: ComponentChildren }) {
  return (
    <li>
      <svg width="14" height="14" aria-hidden="true">
        {children}
      </svg>
      {text}
    </li>
  );
}
