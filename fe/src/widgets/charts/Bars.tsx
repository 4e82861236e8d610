/** Parts as a sorted list of horizontal bars: exact to compare, and names have room. */

import { format, formatShare, type Unit } from "../../base/units";
import { MiddleCut } from "../middle_cut";
import { poolParts, type Part } from "./parts";

interface BarsProps {
  label: string;
  parts: readonly Part[];
  unit: Unit;
  /** Bars; the rest is pooled as "other". */
  top?: number;
  /** The whole of the shares, where it is more than the sum. */
  total?: number;
  onSelect?: (key: string) => void;
}

export function Bars({ label, parts, unit, top = 10, total, onSelect }: BarsProps) {
  const drawn = poolParts(parts, top, total);
  const largest = drawn.reduce((most, part) => Math.max(most, part.value), 0);
  if (drawn.length === 0) return <p class="chart-nothing">Nothing to show: all values are 0.</p>;
  return (
    <ul class="bars" aria-label={label}>
      {drawn.map((part) => (
        <li
          key={part.key}
          class="bar-row"
          title={`${part.title ?? part.label}: ${format(part.value, unit)}`}
        >
          {onSelect && part.pooled === 1 ? (
            <button type="button" class="bar-name link" onClick={() => onSelect(part.key)}>
              <MiddleCut text={part.label} />
            </button>
          ) : (
            <span class="bar-name">
              <MiddleCut text={part.label} />
            </span>
          )}
          <span class="bar-track">
            <span
              class="bar-fill"
              style={{ width: `${(100 * part.value) / largest}%`, background: part.color }}
            />
          </span>
          <span class="number">{format(part.value, unit)}</span>
          <span class="number muted">{formatShare(part.share)}</span>
        </li>
      ))}
    </ul>
  );
}
