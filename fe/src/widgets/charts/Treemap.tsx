import { useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { format, formatShare, type Unit } from "../../base/units";
import { MiddleCut } from "../middle_cut";
import { MOVES } from "./moves";
import { poolParts, type Part } from "./parts";
import { useWidth } from "./size";
import { squarified } from "./treemap";

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
