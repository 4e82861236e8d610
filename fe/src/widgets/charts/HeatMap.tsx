/** Values of rows × columns as colours: hundreds of rows stay readable, and each value can be reached by pointer and by key. */

import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { watchTheme } from "../../base/theme";
import { format, type Unit } from "../../base/units";
import { Floating } from "../tooltip";
import {
  type Cells,
  cellsOf,
  type HeatRange,
  heatRange,
  type HeatValues,
  levelOf,
  levelPaths,
  LEVELS,
} from "./heat";
import { MOVES } from "./moves";
import { useWidth } from "./size";

interface HeatMapProps {
  label: string;
  rows: readonly string[];
  columns: readonly string[];
  columnWord: string;
  /** How many of these a column holds; the values are the largest of them. */
  perColumn?: number;
  values: HeatValues;
  unit: Unit;
  /** The token of the shades. */
  hue: string;
  /** What a cell without a value is. */
  without?: string;
  order: readonly number[];
  /** Columns that are drawn paler. */
  faint?: readonly number[];
  /** Cells with a frame. */
  framed?: readonly Cell[];
  /** Names of rows that stand out. */
  strong?: readonly number[];
  /** What is said beside each row, and of what. */
  beside?: { head: string; texts: readonly string[] };
  note?: (row: number, column: number) => string;
  picked?: Cell | null;
  onPick?: (row: number, column: number) => void;
}

interface Cell {
  row: number;
  column: number;
}

const HEIGHT = 416;
const HEAD = 20;
const LETTER = 6.8;
const GAP = 24;
/** A narrower page scrolls to what is beside the rows. */
const NARROW = 560;

/** Cells, and the room for names, for the width that the page leaves. */
function useLayout(props: HeatMapProps, root: { current: HTMLDivElement | null }) {
  const { rows, columns, order, beside } = props;
  const gutter = widthOf(order.map((row) => rows[row] ?? ""));
  const side = beside ? GAP + widthOf([beside.head, ...beside.texts]) : 0;
  const room = useWidth(root) - gutter - 2;
  const width = room < NARROW ? room : room - side;
  const longest = Math.max(1, ...columns.map((name) => name.length));
  const cells = useMemo(
    () => cellsOf(order.length, columns.length, { width, height: HEIGHT }, longest * LETTER + 8),
    [order.length, columns, width, longest],
  );
  return { gutter, side, cells };
}

const widthOf = (names: readonly string[]): number =>
  Math.ceil(Math.max(24, ...names.map((name) => Math.min(name.length, 32) * LETTER)) + 10);

export function HeatMap(props: HeatMapProps) {
  const { label, rows, columns, columnWord, perColumn = 1, values, unit, order, beside } = props;
  const { onPick, framed = [], picked } = props;
  const root = useRef<HTMLDivElement>(null);
  const { gutter, side, cells } = useLayout(props, root);
  const range = useMemo(() => heatRange(values), [values]);
  const unknown = useMemo(() => values.some((row) => row.includes(null)), [values]);
  const drawn = useMemo(() => order.map((row) => values[row] ?? []), [values, order]);
  const cursor = useRef<SVGRectElement>(null);
  const rowAt = (y: number): number => order[y] ?? 0;
  const pick = onPick ? (x: number, y: number) => onPick(rowAt(y), x) : undefined;
  const { at, spoken, point, press, leave, keys } = useCursor(
    { columns: columns.length, rows: order.length, cells },
    cursor,
    pick,
  );
  const row = at ? rowAt(at.y) : 0;
  const cellText = at
    ? `${rows[row]}, ${columnWord} ${columns[at.x]}: ${format(values[row]?.[at.x], unit)}`
    : "";
  const note = at ? props.note?.(row, at.x) : "";
  const size = { width: columns.length * cells.width, height: order.length * cells.height };
  const bitmap = isBitmap(order.length, columns.length);
  const box = (cell: Cell, name: string) => (
    <CellBox
      key={`${cell.row} ${cell.column}`}
      class={name}
      x={cell.column}
      y={order.indexOf(cell.row)}
      cells={cells}
    />
  );
  return (
    <div class="heat" ref={root} style={{ "--heat": `var(--${props.hue})` }}>
      <div
        class="heat-scroll"
        style={{
          maxHeight: `${HEIGHT + HEAD + 16}px`,
          gridTemplateColumns: `${gutter}px ${size.width}px ${side ? `${side}px` : ""}`,
        }}
        tabIndex={0}
        role="group"
        aria-label={`${label}: ${order.length} rows, ${columns.length} columns; the arrow keys move${pick ? ", Enter chooses" : ""}`}
        {...keys}
      >
        <span class="heat-corner axis-unit">{columnWord}</span>
        <ColumnLabels {...{ columns, cells }} width={size.width} />
        {beside ? <span class="heat-beside-head">{beside.head}</span> : null}
        <RowLabels {...{ rows, order, cells, gutter }} strong={props.strong} height={size.height} />
        <div class="heat-cells" style={{ width: `${size.width}px`, height: `${size.height}px` }}>
          {bitmap ? <HeatBitmap {...{ range, cells }} values={drawn} {...size} /> : null}
          <svg
            {...size}
            class={pick ? "heat-pickable" : ""}
            aria-hidden="true"
            onPointerMove={point}
            onPointerLeave={leave}
            onClick={press}
          >
            {bitmap ? null : <HeatPaths {...{ range, cells }} values={drawn} />}
            {props.faint?.map((column) => (
              <rect
                key={column}
                class="heat-faint"
                x={column * cells.width}
                width={cells.width}
                height={size.height}
              />
            ))}
            {cells.texts ? <HeatTexts {...{ range, cells, unit }} values={drawn} /> : null}
            {framed
              .filter((cell) => order.includes(cell.row))
              .map((cell) => box(cell, "heat-framed"))}
            {picked && order.includes(picked.row) ? box(picked, "heat-picked") : null}
            {at ? <CellBox box={cursor} class="heat-cursor" {...at} {...{ cells }} /> : null}
          </svg>
        </div>
        {beside ? (
          <svg class="heat-beside" width={side} height={size.height} aria-hidden="true">
            {order.map((of, y) => (
              <text key={of} x={GAP} y={(y + 0.5) * cells.height + 4}>
                {beside.texts[of]}
              </text>
            ))}
          </svg>
        ) : null}
      </div>
      <HeatLegend {...{ range, unit }} without={unknown ? (props.without ?? "not known") : ""}>
        {cells.texts && order.length * columns.length > 1
          ? `Figures below ${format(Math.round(leastTold(range)), unit)} are left out. `
          : ""}
        {perColumn > 1 ? `Each cell is the largest of ${perColumn} ${columnWord}s.` : ""}
      </HeatLegend>
      <span class="visually-hidden" role="status">
        {spoken ? `${cellText}${note ? `. ${note}` : ""}` : ""}
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

/** The upper end of the lowest class, whose figures would hide the others. */
const leastTold = ({ low, high }: HeatRange): number => (low ? low : high / LEVELS ** 2);

interface CellBoxProps {
  class: string;
  x: number;
  y: number;
  cells: Cells;
  box?: { current: SVGRectElement | null };
}

/** A lower cell would be all frame. */
const LOW = 12;

function CellBox({ class: name, x, y, cells: { width, height }, box }: CellBoxProps) {
  const low = height < LOW;
  return (
    <rect
      {...(box ? { ref: box } : {})}
      class={name}
      x={x * width + 1}
      y={y * height + (low ? 0 : 1)}
      width={Math.max(1, width - 4)}
      height={Math.max(1, height - (low ? 1 : 4))}
      style={low ? { strokeWidth: 1 } : {}}
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
  strong: readonly number[] | undefined;
  cells: Cells;
  gutter: number;
  height: number;
}

/** A label that begins lower would be cut. */
const LABEL_ROOM = 12;

function RowLabels({ rows, order, strong = [], cells, gutter, height }: RowLabelsProps) {
  return (
    <svg class="heat-rows" width={gutter} height={height} aria-hidden="true">
      {order.map((row, y) =>
        y % cells.everyRow || (y && y * cells.height + LABEL_ROOM > height) ? null : (
          <text
            key={row}
            class={strong.includes(row) ? "heat-strong" : ""}
            x={0}
            y={y * cells.height + (cells.everyRow > 1 ? 10 : cells.height / 2 + 4)}
          >
            {rows[row]}
          </text>
        ),
      )}
    </svg>
  );
}

interface HeatTextsProps extends Pick<HeatMapProps, "values" | "unit"> {
  range: HeatRange;
  cells: Cells;
}

function HeatTexts({ values, range, cells, unit }: HeatTextsProps) {
  const least = leastTold(range);
  return (
    <>
      {values.flatMap((row, y) =>
        row.map((value, x) =>
          value !== null && value < least ? null : (
            <text
              key={`${y} ${x}`}
              x={(x + 0.5) * cells.width - 1}
              y={(y + 0.5) * cells.height + 3}
              text-anchor="middle"
            >
              {format(value, unit)}
            </text>
          ),
        ),
      )}
    </>
  );
}

interface HeatLegendProps {
  range: HeatRange;
  unit: Unit;
  without: string;
  children: ComponentChildren;
}

function HeatLegend({ range, unit, without, children }: HeatLegendProps) {
  return (
    <p class="heat-legend">
      <span>{format(range.low, unit)}</span>
      <span class="heat-scale" aria-hidden="true" />
      <span>{format(range.high, unit)}</span>
      {without ? (
        <span>
          <svg width="14" height="14" aria-hidden="true">
            <rect class="heat-unknown" width="14" height="14" />
          </svg>{" "}
          {without}
        </span>
      ) : null}
      <span>{children}</span>
    </p>
  );
}

/** A path of more cells than this is slow to draw. */
const MOST_PATHS = 8000;

/** The cells of a heat map: paths where they are few, else a bitmap of one pixel per cell that the browser enlarges. */
export const isBitmap = (rows: number, columns: number): boolean => rows * columns > MOST_PATHS;

interface CellProps {
  values: HeatValues;
  range: HeatRange;
  cells: Cells;
}

function HeatPaths({ values, range, cells }: CellProps) {
  const paths = useMemo(
    () => levelPaths(values, [...values.keys()], range, cells),
    [values, range, cells],
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

function HeatBitmap({ values, range, width, height }: BitmapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = (): void => {
      const context = canvas.current?.getContext("2d");
      if (context) drawCells(context, values, range, coloursOf(canvas.current?.parentElement));
    };
    draw();
    return watchTheme(draw);
  }, [values, range]);
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
  range: HeatRange,
  colours: readonly string[],
): void {
  context.clearRect(0, 0, values[0]?.length ?? 0, values.length);
  values.forEach((row, y) => {
    for (let x = 0; x < row.length;) {
      const level = levelOf(row[x], range);
      let end = x + 1;
      while (end < row.length && levelOf(row[end], range) === level) end++;
      if (level >= 0) {
        context.fillStyle = colours[level] ?? "";
        context.fillRect(x, y, end - x, 1);
      }
      x = end;
    }
  });
}
