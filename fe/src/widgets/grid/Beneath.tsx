import { useState } from "preact/hooks";
import { formatCount } from "../../base/units";
import { CopyButton } from "../buttons";
import { Icon } from "../icons";
import { cellContent, copiedText } from "./cells";
import { isText } from "./order";
import { parentOf } from "./tree";
import type { Column } from "./types";

/** Rows drawn at most; what is beyond has little time. */
const MOST = 300;

interface BeneathProps {
  label: string;
  /** The columns of the table around it. */
  visible: readonly Column[];
  /** What stands in its first column, and in the others, by their keys; where there is none the cell stays empty. */
  columns: readonly Column[];
  tree: ArrayLike<number>;
}

/** A tree below an open row, in the columns of its table. */
export function Beneath({ label, visible, columns, tree }: BeneathProps) {
  const count = tree.length;
  const [touched, setTouched] = useState<ReadonlyMap<number, boolean>>(new Map());
  const children: number[][] = [];
  const roots: number[] = [];
  for (let row = 0; row < count; row++) {
    const up = parentOf(tree, row);
    (up < 0 ? roots : (children[up] ??= [])).push(row);
  }
  // An only caller is what one looks for.
  const isOpen = (row: number): boolean =>
    touched.get(row) ?? (roots.length === 1 && row === roots[0]);
  const rows: { row: number; level: number }[] = [];
  const waiting = roots.map((row) => ({ row, level: 1 })).reverse();
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    rows.push(at);
    const { level } = at;
    if (isOpen(at.row))
      for (const row of (children[at.row] ?? []).toReversed())
        waiting.push({ row, level: level + 1 });
  }
  const [name] = columns;
  if (!name) return null;
  const ownOf = (column: Column): Column | undefined =>
    columns.find(({ key }) => key === column.key);
  // The name takes the columns behind the first that hold nothing of it.
  const next = visible.findIndex((column, place) => place > 0 && ownOf(column));
  const lead = next < 0 ? visible.length : next;
  const shown = visible.filter((_, place) => !place || place >= lead);
  return (
    <div role="group" aria-label={label}>
      {rows.slice(0, MOST).map(({ row, level }) => (
        <div key={row} class="grid-row beneath-row">
          {shown.map((column, place) => {
            const own = place ? ownOf(column) : name;
            return (
              <div
                key={column.key}
                class={`grid-cell ${own && isText(own.kind) ? own.kind : "number"}`}
                style={
                  place
                    ? undefined
                    : { paddingLeft: `${14 + level * 16}px`, gridColumn: `span ${lead}` }
                }
              >
                {place ? null : children[row] ? (
                  <button
                    type="button"
                    class={`toggle${isOpen(row) ? " toggle-open" : ""}`}
                    aria-expanded={isOpen(row)}
                    aria-label={`Callers of ${copiedText(name, row)}`}
                    onClick={() => setTouched(new Map(touched).set(row, !isOpen(row)))}
                  >
                    <Icon name="chevron" size={12} />
                  </button>
                ) : (
                  <span class="toggle" />
                )}
                {own ? cellContent(own, row, count) : null}
                {place ? null : (
                  <span class="cell-copy">
                    <CopyButton text={copiedText(name, row)} label="Copy the full name" />
                  </span>
                )}
              </div>
            );
          })}
        </div>
      ))}
      {rows.length > MOST ? (
        <p class="beneath-head muted">{formatCount(rows.length - MOST)} more rows</p>
      ) : null}
    </div>
  );
}
