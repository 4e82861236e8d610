/** The fragmentation map on a canvas: point at a cell for its block, click or press Enter to look closer. */

import { clamp } from "../../base/clamp";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MemoryMapPayload } from "../../api/types.gen";
import { tokensOfTheme, watchTheme } from "../../base/theme";
import { formatBytes, formatShare } from "../../base/units";
import { Floating, useWidth } from "../../widgets";
import { blockAt, CELL_HEIGHT, COLUMNS, drawMap, FILLS } from "./map";

interface SegmentMapProps {
  map: MemoryMapPayload;
  onCell: (cell: number) => void;
  onAll: () => void;
}

const KEYS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  ArrowDown: COLUMNS,
  ArrowUp: -COLUMNS,
};

export function SegmentMap({ map, onCell, onAll }: SegmentMapProps) {
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(root);
  const [at, setAt] = useState<number | null>(null);
  const count = map.cells.reserved.length;
  const height = CELL_HEIGHT * Math.max(1, Math.ceil(count / COLUMNS));
  useEffect(() => {
    const draw = (): void => {
      const context = canvas.current?.getContext("2d");
      if (!context || !canvas.current) return;
      const scale = window.devicePixelRatio || 1;
      canvas.current.width = width * scale;
      canvas.current.height = height * scale;
      context.scale(scale, scale);
      drawMap(context, map, width, tokensOfTheme());
    };
    draw();
    return watchTheme(draw);
  }, [map, width, height]);
  const cellAt = (event: PointerEvent): number | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return null;
    const column = Math.floor(((event.clientX - box.left) / width) * COLUMNS);
    const cell = Math.floor((event.clientY - box.top) / CELL_HEIGHT) * COLUMNS + column;
    return column >= 0 && column < COLUMNS && cell >= 0 && cell < count ? cell : null;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = KEYS[event.key];
    if (step !== undefined) setAt(clamp((at ?? -step) + step, 0, count - 1));
    else if (event.key === "Enter" && at !== null) onCell(at);
    else if (event.key === "Escape") onAll();
    else return;
    event.preventDefault();
  };
  const text = at === null ? "" : cellText(map, at);
  return (
    <div ref={root} class="segment-map">
      <ul class="legend-line">
        {FILLS.map(([name, label]) => (
          <li key={name}>
            <span class="swatch" style={{ background: `var(${name})` }} />
            {label}
          </li>
        ))}
      </ul>
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        role="slider"
        tabIndex={0}
        aria-label="Segments. Arrows move, Enter looks closer, Escape shows all"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={at ?? 0}
        aria-valuetext={text || `${count} cells`}
        onPointerMove={(event) => setAt(cellAt(event))}
        onPointerLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onClick={() => at !== null && onCell(at)}
        onKeyDown={onKeyDown}
      />
      {at !== null && at < count ? (
        <Floating box={() => boxOf(canvas.current, at, width)} class="segment-box">
          <pre>{text}</pre>
        </Floating>
      ) : null}
    </div>
  );
}

function boxOf(canvas: HTMLCanvasElement | null, cell: number, width: number) {
  const box = canvas?.getBoundingClientRect();
  if (!box) return undefined;
  const left = box.left + ((cell % COLUMNS) * width) / COLUMNS;
  const top = box.top + Math.floor(cell / COLUMNS) * CELL_HEIGHT;
  return { left, top, bottom: top + CELL_HEIGHT, width: width / COLUMNS };
}

/** The cell's sums, then the block that has most of it, with its stack. */
function cellText(map: MemoryMapPayload, cell: number): string {
  const { cells, blocks, stacks } = map;
  const [reserved, used] = [cells.reserved[cell] ?? 0, cells.allocated[cell] ?? 0];
  const lines = [
    `${formatBytes(used)} of ${formatBytes(reserved)} in use (${formatShare(used / reserved)})`,
  ];
  const block = blockAt(map, cell);
  if (block >= 0) {
    const asked = blocks.requested_bytes[block] ?? null;
    lines.push(
      `block of ${formatBytes(blocks.bytes[block] ?? 0)}${asked === null ? "" : `, ${formatBytes(asked)} asked for`}: ${blocks.category[block] ?? blocks.state[block]}`,
    );
    const stack = blocks.stack[block] ?? null;
    lines.push((stack === null ? blocks.line[block] : stacks[stack]) ?? "");
  }
  return lines.filter(Boolean).join("\n");
}
