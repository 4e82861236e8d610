/** All ranks of a run as squares by coordinates: coloured by a figure, to be chosen from by pointer and by key. */

import type { ComponentChildren, RefObject, TargetedPointerEvent } from "preact";
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
  type Label,
  layOut,
  levelAt,
  moved,
  placeNames,
  rankName,
  readAxes,
  type Square,
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

/** A select of more places is no help. */
const MOST_PLACES = 256;

/** The squares with the choice of dimensions and colour above them. */
export function RankGrid(props: RankGridProps) {
  const { payload, params, setParam } = props;
  const { dimensions, spreads } = payload;
  const axes = useMemo(() => readAxes(dimensions, params), [dimensions, params]);
  const spread = colourOf(payload, params.colour);
  const axisSelect = (label: string, axis: "rows" | "columns") => (
    <Select
      label={label}
      value={dimensions[axes[axis]]?.name ?? NONE}
      options={[
        ...dimensions
          .toReversed()
          .map(({ name, size }) => ({ value: name, label: name, note: String(size) })),
        { value: NONE, label: NONE },
      ]}
      onChange={(name) => setParam(axis, name)}
    />
  );
  return (
    <div class="rank-grid">
      <div class="rank-controls">
        {dimensions.length > 1 ? (
          <>
            {axisSelect("Rows", "rows")}
            {axisSelect("Columns", "columns")}
            {dimensions.map((dimension, place) => {
              const { name, size } = dimension;
              const at = axes.only[place] ?? -1;
              return place === axes.rows || place === axes.columns || size > MOST_PLACES ? null : (
                <Select
                  key={name}
                  label={name}
                  value={at < 0 ? "" : String(at)}
                  options={[
                    { value: "", label: `all ${size}` },
                    ...placeNames(dimension).map((label, i) => ({ value: String(i), label })),
                  ]}
                  onChange={(chosen) => setParam(`only.${name}`, chosen)}
                />
              );
            })}
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

const NONE = "none";

const longestOf = (names: readonly string[]): number =>
  Math.max(1, ...names.map(({ length }) => length));

interface SquaresProps extends RankGridProps {
  axes: Axes;
  spread: RankSpread | null;
}

function Squares({ payload, axes, spread, chosen, onChoose }: SquaresProps) {
  const { workers, dimensions } = payload;
  const root = useRef<HTMLDivElement>(null);
  const cursor = useRef<SVGRectElement>(null);
  const [row, column] = [dimensions[axes.rows], dimensions[axes.columns]];
  const longest = row ? longestOf([row.name, ...placeNames(row)]) : 0;
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
  const outline = (name: string, of: Square | undefined, ref?: RefObject<SVGRectElement | null>) =>
    of ? (
      <rect
        ref={ref}
        class={name}
        x={of.x}
        y={of.y}
        width={layout.size - 1}
        height={layout.size - 1}
      />
    ) : null;
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
          {outline("rank-open", open)}
          {outline("rank-cursor", square, cursor)}
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

function axesText(...axes: readonly (RankDimension | undefined)[]): string {
  const names = axes.flatMap((dimension) => dimension?.name ?? []);
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
  const range = colourRange(spread);
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

interface LabelsProps {
  layout: GridLayout;
  gutter: number;
  row: RankDimension | undefined;
  column: RankDimension | undefined;
}

/** From one label to the next, px. */
const stepOf = ([first, second]: readonly Label[]): number =>
  (second?.at ?? Infinity) - (first?.at ?? 0);

function Labels({ layout, gutter, row, column }: LabelsProps) {
  const head = column ? HEAD : 0;
  const longest = longestOf(layout.columns.map(({ text }) => text));
  const step = stepOf(layout.columns);
  const every = Math.max(1, Math.ceil((longest * LETTER + 4) / step));
  const everyRow = Math.max(1, Math.ceil(13 / stepOf(layout.rows)));
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
  const { low, high } = colourRange(spread);
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
