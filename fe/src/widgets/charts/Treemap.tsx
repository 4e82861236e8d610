import { useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { format, formatShare, type Unit } from "../../base/units";
import { MiddleCut } from "../middle_cut";
import { MOVES } from "./moves";
import { type Part, poolParts } from "./parts";
import { useWidth } from "./size";

interface TreemapProps {
  label: string;
  parts: readonly Part[];
  unit: Unit;
  top?: number;
  onSelect: (key: string) => void;
}

const HEIGHT = 260;
const MOST = 40;

/** What the padding and a figure's letters take of a tile's width, in px. */
const widthOf = (text: string): number => 14 + 7 * text.length;

/** One tab stop: arrows go from the larger part to the next smaller one, Enter chooses it. */
export function Treemap({ label, parts, unit, top = MOST, onSelect }: TreemapProps) {
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const [active, setActive] = useState(0);
  const drawn = poolParts(parts, top).sort((a, b) => b.value - a.value);
  const tiles = squarified(
    drawn.map((part) => part.value),
    width,
    HEIGHT,
  );
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = MOVES[event.key];
    if (!by) return;
    event.preventDefault();
    const next = clamp(active + by, 0, drawn.length - 1);
    setActive(next);
    root.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div
      class="treemap"
      ref={root}
      role="group"
      aria-label={label}
      style={{ height: `${drawn.length ? HEIGHT : 0}px` }}
      onKeyDown={onKeyDown}
    >
      {drawn.map((part, i) => {
        const { left = 0, top: above = 0, width: wide = 0, height: high = 0 } = tiles[i] ?? {};
        const value = format(part.value, unit);
        const text = `${part.title ?? part.label}: ${value}, ${formatShare(part.share)}`;
        return (
          <button
            type="button"
            key={part.key}
            class="tile"
            style={{
              "--tile": part.color,
              left: `${left}px`,
              top: `${above}px`,
              width: `${wide}px`,
              height: `${high}px`,
            }}
            title={text}
            tabIndex={i === Math.min(active, drawn.length - 1) ? 0 : -1}
            onFocus={() => setActive(i)}
            onClick={() => onSelect(part.key)}
          >
            <span class="visually-hidden">{text}</span>
            <span aria-hidden="true">
              {wide > 56 && high > 20 ? <MiddleCut text={part.label} /> : null}
              {wide > widthOf(value) && high > 38 ? <span class="tile-value">{value}</span> : null}
            </span>
          </button>
        );
      })}
    </div>
  );
}

interface Tile {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Tiles whose areas are the values (descending, above 0), as near to squares as rows and columns allow.
 *
 * Source: Bruls, Huizing, van Wijk, "Squarified Treemaps", 2000.
 */
export function squarified(values: readonly number[], width: number, height: number): Tile[] {
  const tiles: Tile[] = [];
  const scale = (width * height) / values.reduce((sum, value) => sum + value, 0);
  let room: Tile = { left: 0, top: 0, width, height };
  let first = 0;
  while (first < values.length) {
    const side = Math.min(room.width, room.height);
    let [last, area, worst] = [first, 0, Infinity];
    while (last < values.length) {
      const next = area + (values[last] ?? 0) * scale;
      const most = (values[first] ?? 0) * scale;
      const least = (values[last] ?? 0) * scale;
      const ratio = Math.max(
        (side * side * most) / (next * next),
        (next * next) / (side * side * least),
      );
      if (ratio > worst) break;
      [last, area, worst] = [last + 1, next, ratio];
    }
    room = lay(tiles, values.slice(first, last), scale, area, room);
    first = last;
  }
  return tiles;
}

function lay(
  tiles: Tile[],
  values: readonly number[],
  scale: number,
  area: number,
  room: Tile,
): Tile {
  const upright = room.width >= room.height;
  const depth = area / (upright ? room.height : room.width);
  let along = upright ? room.top : room.left;
  for (const value of values) {
    const length = (value * scale) / depth;
    tiles.push(
      upright
        ? { left: room.left, top: along, width: depth, height: length }
        : { left: along, top: room.top, width: length, height: depth },
    );
    along += length;
  }
  return upright
    ? { ...room, left: room.left + depth, width: Math.max(0, room.width - depth) }
    : { ...room, top: room.top + depth, height: Math.max(0, room.height - depth) };
}
