/** Values of rows × columns as colours: hundreds of rows stay readable, and each value can be reached by pointer and by key. */

import type { TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { watchTheme } from "../../base/theme";
import { format, type Unit } from "../../base/units";
import { Floating } from "../tooltip";
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
import { bandRoom, bandSize, bandsOf, labelPlaces, ruleOf } from "./heat_bands";
import { MOVES } from "./moves";
import { useWidth } from "./size";

interface HeatMapProps {
  label: string;
  rows: readonly string[];
  columns: readonly string[];
  rowWord?: string;
  columnWord: string;
  /** How many of these a column holds; the values are the largest of them. */
  perColumn?: number;
  values: HeatValues;
  unit: Unit;
  /** What a cell without a value is. */
  without?: string;
  order: readonly number[];
  note?: (row: number, column: number) => string;
  /** Rows with a name beside them. */
  marks?: readonly HeatMark[];
  /** All rows in sight: where there are too many, several share a band that shows the largest value. */
  fit?: boolean;
  picked?: { row: number; column: number } | null;
  onPick?: (row: number, column: number) => void;
}

export interface HeatMark {
  row: number;
  label: string;
}

const HEIGHT = 416;
const HEAD = 20;
const LETTER = 6.8;
const NO_MARKS: readonly HeatMark[] = [];

/** Bands, their cells and the room for names, for the width that the page leaves. */
function useLayout(props: HeatMapProps, root: { current: HTMLDivElement | null }) {
  const { rows, columns, values, order, fit = false, marks = NO_MARKS } = props;
  const gutter = widthOf(rows, 24);
  const beside = marks.length
    ? widthOf(
        marks.map(({ label }) => label),
        0,
      ) + MARK_LINE
    : 0;
  const width = useWidth(root) - gutter - beside - 2;
  const longest = Math.max(1, ...columns.map((name) => name.length));
  const size = fit ? bandSize(order.length) : 1;
  const bands = useMemo(() => bandsOf(values, order, size), [values, order, size]);
  const room = bandRoom(order.length, fit, HEIGHT);
  const cells = useMemo(
    () =>
      cellsOf(
        bands.values.length,
        columns.length,
        { width, height: room },
        longest * LETTER + 8,
        room > HEIGHT ? 1 : undefined,
      ),
    [bands, columns, width, longest, room],
  );
  return { gutter, beside, bands, cells, room };
}

const widthOf = (names: readonly string[], least: number): number =>
  Math.ceil(Math.max(least, ...names.map((name) => Math.min(name.length, 24) * LETTER)) + 10);

export function HeatMap(props: HeatMapProps) {
  const { label, rows, columns, rowWord = "row", columnWord, perColumn = 1 } = props;
  const { values, unit, order, marks = NO_MARKS, onPick } = props;
  const root = useRef<HTMLDivElement>(null);
  const { gutter, beside, bands, cells, room } = useLayout(props, root);
  const max = useMemo(() => largestIn(values), [values]);
  const unknown = useMemo(() => values.some((row) => row.includes(null)), [values]);
  const cursor = useRef<SVGRectElement>(null);
  const rowAt = (x: number, y: number): number => bands.rows[y]?.[x] ?? 0;
  const pick = onPick ? (x: number, y: number) => onPick(rowAt(x, y), x) : undefined;
  const height = bands.values.length;
  const { at, spoken, point, press, leave, keys } = useCursor(
    { columns: columns.length, rows: height, cells },
    cursor,
    pick,
  );
  const row = at ? rowAt(at.x, at.y) : 0;
  const together = Math.min(bands.size, order.length - (at?.y ?? 0) * bands.size);
  const cellText = at
    ? `${rows[row]}, ${columnWord} ${columns[at.x]}: ${format(values[row]?.[at.x], unit)}${
        together > 1 ? `, the largest of ${together} ${rowWord}s` : ""
      }`
    : "";
  const note = at ? props.note?.(row, at.x) : "";
  const size = { width: columns.length * cells.width, height: height * cells.height };
  const rule = ruleOf(bands.size, perColumn, [rowWord, columnWord]);
  const bandAt = (of: number): number => Math.floor(order.indexOf(of) / bands.size);
  const bitmap = isBitmap(height, columns.length);
  return (
    <div class={`heat${cells.texts ? "" : " heat-plain"}`} ref={root}>
      <HeatLegend max={max} unit={unit} without={unknown ? (props.without ?? "not known") : ""} />
      <div
        class="heat-scroll"
        style={{
          maxHeight: `${room + HEAD + 16}px`,
          gridTemplateColumns: `${gutter}px ${size.width}px ${beside ? `${beside}px` : ""}`,
        }}
        tabIndex={0}
        role="group"
        aria-label={`${label}: ${rows.length} rows, ${columns.length} columns; the arrow keys move${pick ? ", Enter chooses" : ""}`}
        {...keys}
      >
        <span class="heat-corner axis-unit">{columnWord}</span>
        <ColumnLabels {...{ columns, cells }} width={size.width} />
        {beside ? <span /> : null}
        <RowLabels {...{ rows, order, cells, gutter }} perBand={bands.size} height={size.height} />
        <div class="heat-cells" style={{ width: `${size.width}px`, height: `${size.height}px` }}>
          {bitmap ? <HeatBitmap {...{ max, cells }} values={bands.values} {...size} /> : null}
          <svg
            {...size}
            class={pick ? "heat-pickable" : ""}
            aria-hidden="true"
            onPointerMove={point}
            onPointerLeave={leave}
            onClick={press}
          >
            {bitmap ? null : <HeatPaths {...{ max, cells }} values={bands.values} />}
            {cells.texts ? <HeatTexts {...{ max, cells, unit }} values={bands.values} /> : null}
            {props.picked ? (
              <CellBox
                class="heat-picked"
                x={props.picked.column}
                y={bandAt(props.picked.row)}
                {...{ cells }}
              />
            ) : null}
            {at ? <CellBox box={cursor} class="heat-cursor" {...at} {...{ cells }} /> : null}
          </svg>
        </div>
        {beside ? <HeatMarks {...{ marks, bandAt, cells, beside }} height={size.height} /> : null}
      </div>
      {rule ? <p class="heat-rule">{rule}</p> : null}
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

interface CellBoxProps {
  class: string;
  x: number;
  y: number;
  cells: Cells;
  box?: { current: SVGRectElement | null };
}

function CellBox({ class: name, x, y, cells: { width, height }, box }: CellBoxProps) {
  return (
    <rect
      {...(box ? { ref: box } : {})}
      class={name}
      x={x * width}
      y={y * height}
      width={width}
      height={height}
    />
  );
}

/** `spoken`: whether the keyboard moves it, so that screen readers are told. */
function useCursor(
  { columns, rows, cells }: { columns: number; rows: number; cells: Cells },
  cursor: { current: Element | null },
  pick: ((x: number, y: number) => void) | undefined,
) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const [spoken, setSpoken] = useState(false);
  const put = (x: number, y: number): void =>
    setAt({ x: clamp(x, 0, columns - 1), y: clamp(y, 0, rows - 1) });
  const leave = (): void => setAt(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const { x, y } = at ?? { x: 0, y: 0 };
    const down = DOWN[event.key];
    const by = MOVES[event.key];
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && at && pick) pick(x, y);
    else if (down) put(x, at ? y + down : y);
    else if (by) put(at ? x + by : x, y);
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
  const press = (): void => {
    if (at) pick?.(at.x, at.y);
  };
  const onBlur = (): void => {
    setSpoken(false);
    leave();
  };
  return {
    at,
    spoken,
    point,
    press,
    leave,
    keys: { onKeyDown, onFocus: () => setSpoken(true), onBlur },
  };
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
        x % cells.everyColumn ||
        (cells.everyColumn > 1 && x * cells.width + name.length * LETTER > width) ? null : (
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
  perBand: number;
  height: number;
}

/** A label that begins lower would be cut. */
const LABEL_ROOM = 12;

/** Of a band the name of its first row. */
function RowLabels({ rows, order, cells, gutter, perBand, height }: RowLabelsProps) {
  const first = perBand > 1 ? order.filter((_, place) => place % perBand === 0) : order;
  return (
    <svg class="heat-rows" width={gutter} height={height} aria-hidden="true">
      {first.map((row, y) =>
        y % cells.everyRow || (y && y * cells.height + LABEL_ROOM > height) ? null : (
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

const MARK_LINE = 14;
const MARK_HEIGHT = 14;

interface HeatMarksProps {
  marks: readonly HeatMark[];
  bandAt: (row: number) => number;
  cells: Cells;
  beside: number;
  height: number;
}

/** Names of rows, each with a line to its row; where two would cover each other the lower one moves down. */
function HeatMarks({ marks, bandAt, cells, beside, height }: HeatMarksProps) {
  const placed = marks
    .map((mark) => ({ ...mark, y: (bandAt(mark.row) + 0.5) * cells.height }))
    .sort((a, b) => a.y - b.y);
  const all = labelPlaces(
    placed.map(({ y }) => y),
    MARK_HEIGHT,
    height,
  );
  const shown = placed.slice(0, Math.floor(height / MARK_HEIGHT));
  return (
    <svg class="heat-marks" width={beside} height={height} aria-hidden="true">
      {shown.map(({ row, label, y }, i) => (
        <g key={row}>
          <path d={`M0,${y}L${MARK_LINE - 4},${all[i] ?? y}`} />
          <text x={MARK_LINE} y={(all[i] ?? y) + 4}>
            {label}
          </text>
        </g>
      ))}
    </svg>
  );
}

interface HeatTextsProps extends Pick<HeatMapProps, "values" | "unit"> {
  max: number;
  cells: Cells;
}

function HeatTexts({ values, max, cells, unit }: HeatTextsProps) {
  return (
    <>
      {values.flatMap((row, y) =>
        row.map((value, x) => (
          <text
            key={`${y} ${x}`}
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

function HeatLegend({ max, unit, without }: { max: number; unit: Unit; without: string }) {
  const texts = [
    format(0, unit),
    ...levelBounds(max).map((bound) => `≤ ${format(Math.round(bound), unit)}`),
    without,
  ].filter(Boolean);
  return (
    <ul class="legend-line">
      {texts.map((text, level) => (
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

/** A path of more cells than this is slow to draw. */
const MOST_PATHS = 8000;

/** The cells of a heat map: paths where they are few, else a bitmap of one pixel per cell that the browser enlarges. */
export const isBitmap = (rows: number, columns: number): boolean => rows * columns > MOST_PATHS;

interface CellProps {
  values: HeatValues;
  max: number;
  cells: Cells;
}

function HeatPaths({ values, max, cells }: CellProps) {
  const paths = useMemo(
    () => levelPaths(values, [...values.keys()], max, cells),
    [values, max, cells],
  );
  return (
    <>
      {paths.map((d, level) =>
        d ? (
          <path key={level} class={level > LEVELS ? "heat-unknown" : `heat-${level}`} d={d} />
        ) : null,
      )}
    </>
  );
}

interface BitmapProps extends CellProps {
  width: number;
  height: number;
}

function HeatBitmap({ values, max, width, height }: BitmapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = (): void => {
      const context = canvas.current?.getContext("2d");
      if (context) drawCells(context, values, max, coloursOf(canvas.current?.parentElement));
    };
    draw();
    return watchTheme(draw);
  }, [values, max]);
  return (
    <>
      <svg class="heat-probe" aria-hidden="true">
        {Array.from({ length: LEVELS + 1 }, (_, level) => (
          <rect key={level} class={`heat-${level}`} />
        ))}
      </svg>
      <canvas
        ref={canvas}
        class="heat-bitmap"
        width={values[0]?.length ?? 0}
        height={values.length}
        style={{ width: `${width}px`, height: `${height}px` }}
        aria-hidden="true"
      />
    </>
  );
}

/** The colours of the classes as the style sheet gives them: a canvas knows no variables. */
function coloursOf(parent: Element | null | undefined): string[] {
  const rects = parent?.querySelectorAll(".heat-probe rect") ?? [];
  return [...rects].map((rect) => getComputedStyle(rect).fill);
}

/** One pixel per cell; what is not known stays clear. */
export function drawCells(
  context: Pick<CanvasRenderingContext2D, "clearRect" | "fillRect" | "fillStyle">,
  values: HeatValues,
  max: number,
  colours: readonly string[],
): void {
  context.clearRect(0, 0, values[0]?.length ?? 0, values.length);
  values.forEach((row, y) => {
    for (let x = 0; x < row.length;) {
      const level = levelOf(row[x], max);
      let end = x + 1;
      while (end < row.length && levelOf(row[end], max) === level) end++;
      if (level >= 0) {
        context.fillStyle = colours[level] ?? "";
        context.fillRect(x, y, end - x, 1);
      }
      x = end;
    }
  });
}
