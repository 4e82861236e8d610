/** Values of rows × columns as colours: hundreds of rows stay readable, and each value can be reached by pointer and by key. */

import type { TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { format, type Unit } from "../../base/units";
import { Floating } from "../tooltip";
import { MOVES } from "./moves";
import {
  type Cells,
  cellsOf,
  type HeatValues,
  largestIn,
  levelBounds,
  levelOf,
  levelPaths,
  LEVELS,
} from "./heat";
import { useWidth } from "./size";

interface HeatMapProps {
  label: string;
  rows: readonly string[];
  columns: readonly string[];
  columnWord: string;
  values: HeatValues;
  unit: Unit;
  order: readonly number[];
  note?: (row: number, column: number) => string;
}

const HEIGHT = 416;
const HEAD = 20;
const LETTER = 6.8;

export function HeatMap(props: HeatMapProps) {
  const { label, rows, columns, columnWord, values, unit, order } = props;
  const root = useRef<HTMLDivElement>(null);
  const gutter = Math.ceil(
    Math.max(24, ...rows.map((name) => Math.min(name.length, 24) * LETTER)) + 10,
  );
  const width = useWidth(root) - gutter - 2;
  const longest = Math.max(1, ...columns.map((name) => name.length));
  const cells = useMemo(
    () => cellsOf(rows.length, columns.length, { width, height: HEIGHT }, longest * LETTER + 8),
    [rows, columns, width, longest],
  );
  const max = useMemo(() => largestIn(values), [values]);
  const paths = useMemo(() => levelPaths(values, order, max, cells), [values, order, max, cells]);
  const cursor = useRef<SVGRectElement>(null);
  const { at, spoken, point, leave, keys } = useCursor(columns.length, order.length, cells, cursor);
  const row = order[at?.y ?? 0] ?? 0;
  const cellText = at
    ? `${rows[row]}, ${columnWord} ${columns[at.x]}: ${format(values[row]?.[at.x], unit)}`
    : "";
  const note = at ? props.note?.(row, at.x) : "";
  const size = { width: columns.length * cells.width, height: order.length * cells.height };
  return (
    <div class="heat" ref={root}>
      <HeatLegend max={max} unit={unit} unknown={paths.at(-1) !== ""} />
      <div
        class="heat-scroll"
        style={{
          maxHeight: `${HEIGHT + HEAD + 16}px`,
          gridTemplateColumns: `${gutter}px ${size.width}px`,
        }}
        tabIndex={0}
        role="group"
        aria-label={`${label}: ${rows.length} rows, ${columns.length} columns; the arrow keys move`}
        {...keys}
      >
        <span class="heat-corner axis-unit">{columnWord}</span>
        <ColumnLabels {...{ columns, cells }} width={size.width} />
        <RowLabels {...{ rows, order, cells, gutter }} height={size.height} />
        <svg {...size} aria-hidden="true" onPointerMove={point} onPointerLeave={leave}>
          {paths.map((d, level) =>
            d ? (
              <path key={level} class={level > LEVELS ? "heat-unknown" : `heat-${level}`} d={d} />
            ) : null,
          )}
          {cells.texts ? <HeatTexts {...{ values, order, max, cells, unit }} /> : null}
          {at ? (
            <rect
              ref={cursor}
              class="heat-cursor"
              x={at.x * cells.width}
              y={at.y * cells.height}
              width={cells.width}
              height={cells.height}
            />
          ) : null}
        </svg>
      </div>
      <span class="visually-hidden" role="status">
        {spoken ? cellText : ""}
      </span>
      {at ? (
        <Floating box={() => cursor.current?.getBoundingClientRect()}>
          <strong>{cellText}</strong>
          {note ? <div class="muted">{note}</div> : null}
        </Floating>
      ) : null}
    </div>
  );
}

/** `spoken`: whether the keyboard moves it, so that screen readers are told. */
function useCursor(
  columns: number,
  rows: number,
  cells: Cells,
  cursor: { current: Element | null },
) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const [spoken, setSpoken] = useState(false);
  const put = (x: number, y: number): void =>
    setAt({ x: Math.max(0, Math.min(columns - 1, x)), y: Math.max(0, Math.min(rows - 1, y)) });
  const leave = (): void => setAt(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const { x, y } = at ?? { x: 0, y: 0 };
    const down = DOWN[event.key];
    const move = MOVES[event.key];
    if (event.key === "Escape") leave();
    else if (down) put(x, at ? y + down : y);
    else if (move) put(at ? move(x, columns) : x, y);
    else return;
    event.preventDefault();
    requestAnimationFrame(() =>
      cursor.current?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    );
  };
  const point = (event: TargetedPointerEvent<Element>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    put(
      Math.floor((event.clientX - box.left) / cells.width),
      Math.floor((event.clientY - box.top) / cells.height),
    );
  };
  const onBlur = (): void => {
    setSpoken(false);
    leave();
  };
  return { at, spoken, point, leave, keys: { onKeyDown, onFocus: () => setSpoken(true), onBlur } };
}

const DOWN: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
};

interface ColumnLabelsProps {
  columns: readonly string[];
  cells: Cells;
  width: number;
}

function ColumnLabels({ columns, cells, width }: ColumnLabelsProps) {
  return (
    <svg class="heat-head" width={width} height={HEAD} aria-hidden="true">
      {columns.map((name, x) =>
        x % cells.everyColumn ? null : (
          <text
            key={x}
            x={cells.everyColumn > 1 ? x * cells.width : (x + 0.5) * cells.width}
            y={14}
            text-anchor={cells.everyColumn > 1 ? "start" : "middle"}
          >
            {name}
          </text>
        ),
      )}
    </svg>
  );
}

interface RowLabelsProps {
  rows: readonly string[];
  order: readonly number[];
  cells: Cells;
  gutter: number;
  height: number;
}

function RowLabels({ rows, order, cells, gutter, height }: RowLabelsProps) {
  return (
    <svg class="heat-rows" width={gutter} height={height} aria-hidden="true">
      {order.map((row, y) =>
        y % cells.everyRow ? null : (
          <text
            key={row}
            x={gutter - 6}
            y={y * cells.height + (cells.everyRow > 1 ? 10 : cells.height / 2 + 4)}
            text-anchor="end"
          >
            {rows[row]}
          </text>
        ),
      )}
    </svg>
  );
}

interface HeatTextsProps extends Pick<HeatMapProps, "values" | "order" | "unit"> {
  max: number;
  cells: Cells;
}

function HeatTexts({ values, order, max, cells, unit }: HeatTextsProps) {
  return (
    <>
      {order.flatMap((row, y) =>
        (values[row] ?? []).map((value, x) => (
          <text
            key={`${row} ${x}`}
            class={levelOf(value, max) > 4 ? "heat-on" : ""}
            x={(x + 0.5) * cells.width}
            y={(y + 0.5) * cells.height + 3.5}
            text-anchor="middle"
          >
            {format(value, unit)}
          </text>
        )),
      )}
    </>
  );
}

function HeatLegend({ max, unit, unknown }: { max: number; unit: Unit; unknown: boolean }) {
  const classes = [
    format(0, unit),
    ...levelBounds(max).map((bound) => `≤ ${format(Math.round(bound), unit)}`),
  ];
  return (
    <ul class="legend-line">
      {[...classes, ...(unknown ? ["not known"] : [])].map((text, level) => (
        <li key={level}>
          <svg width="14" height="14" aria-hidden="true">
            <rect
              class={level > LEVELS ? "heat-unknown" : `heat-${level}`}
              width="14"
              height="14"
            />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
