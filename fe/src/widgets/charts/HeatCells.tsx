/** The cells of a heat map: paths where they are few, else a bitmap of one pixel per cell that the browser enlarges. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { watchTheme } from "../../base/theme";
import { type Cells, type HeatValues, levelOf, levelPaths, LEVELS } from "./heat";

/** A path of more cells than this is slow to draw. */
const MOST_PATHS = 8000;

export const isBitmap = (rows: number, columns: number): boolean => rows * columns > MOST_PATHS;

interface CellProps {
  values: HeatValues;
  max: number;
  cells: Cells;
}

export function HeatPaths({ values, max, cells }: CellProps) {
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

export function HeatBitmap({ values, max, width, height }: BitmapProps) {
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
