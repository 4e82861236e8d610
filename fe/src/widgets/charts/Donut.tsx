import { useState } from "preact/hooks";
import { format, formatShare, type Unit } from "../../base/units";
import { MiddleCut } from "../middle_cut";
import { poolParts, ringPath, type DrawnPart, type Part } from "./parts";

interface DonutProps {
  /** Says what is divided; read by screen readers. */
  label: string;
  parts: readonly Part[];
  unit: Unit;
  /** Parts with a piece of their own; the rest is pooled as "other". */
  top?: number;
  caption: string;
  onSelect?: (key: string) => void;
}

const OUTER = 50;
const INNER = 33;

export function Donut({ label, parts, unit, top = 8, caption, onSelect }: DonutProps) {
  const drawn = poolParts(parts, top);
  const [active, setActive] = useState<string | null>(null);
  const whole = parts.reduce((sum, part) => sum + Math.max(0, part.value), 0);
  if (drawn.length === 0) return <p class="chart-nothing">Nothing to show: all values are 0.</p>;
  let turn = 0;
  const pieces = drawn.map((part) => {
    const from = turn;
    turn += part.share;
    return { part, path: ringPath(from, Math.min(1, turn), INNER, OUTER) };
  });
  const shown = drawn.find((part) => part.key === active);
  return (
    <div class="donut">
      <svg
        viewBox="-52 -52 104 104"
        role="img"
        aria-label={`${label}: ${drawn.map((p) => `${p.label} ${formatShare(p.share)}`).join(", ")}`}
      >
        {pieces.map(({ part, path }) => (
          <path
            key={part.key}
            d={path}
            style={{ fill: part.color }}
            class={`donut-piece${drawn.length === 1 ? " whole" : ""}${active !== null && active !== part.key ? " dimmed" : ""}`}
            onPointerEnter={() => setActive(part.key)}
            onPointerLeave={() => setActive(null)}
          >
            <title>{`${part.title ?? part.label}: ${format(part.value, unit)} (${formatShare(part.share)})`}</title>
          </path>
        ))}
        <text class="donut-total" y="1">
          {shown ? formatShare(shown.share) : format(whole, unit)}
        </text>
        <text class="donut-caption" y="11">
          {shown ? format(shown.value, unit) : caption}
        </text>
      </svg>
      <Legend drawn={drawn} unit={unit} active={active} setActive={setActive} onSelect={onSelect} />
    </div>
  );
}

interface LegendProps {
  drawn: readonly DrawnPart[];
  unit: Unit;
  active: string | null;
  setActive: (key: string | null) => void;
  onSelect: ((key: string) => void) | undefined;
}

function Legend({ drawn, unit, active, setActive, onSelect }: LegendProps) {
  return (
    <ul class="legend-list">
      {drawn.map((part) => (
        <li
          key={part.key}
          class={active === part.key ? "legend-row active" : "legend-row"}
          onPointerEnter={() => setActive(part.key)}
          onPointerLeave={() => setActive(null)}
        >
          <span class="swatch" style={{ background: part.color }} />
          {onSelect && part.pooled === 1 ? (
            <button
              type="button"
              class="legend-name link"
              title={part.title ?? part.label}
              onClick={() => onSelect(part.key)}
            >
              <MiddleCut text={part.label} />
            </button>
          ) : (
            <span class="legend-name" title={part.title ?? part.label}>
              <MiddleCut text={part.label} />
            </span>
          )}
          <span class="number">{format(part.value, unit)}</span>
          <span class="number muted">{formatShare(part.share)}</span>
        </li>
      ))}
    </ul>
  );
}
