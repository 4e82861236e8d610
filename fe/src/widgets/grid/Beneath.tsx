import { useState } from "preact/hooks";
import { formatCount } from "../../base/units";
import { cellContent, copiedText } from "./cells";
import { isText } from "./order";
import { CopyName, Toggle } from "./Rows";
import { inTreeOrder, levelsOf, parentOf, unfoldedRows } from "./tree";
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
  const levels = levelsOf(tree);
  const all = Uint32Array.from(levels.keys());
  const parents = new Set(Array.from(all, (row) => parentOf(tree, row)));
  // An only caller is what one looks for.
  const alone = levels.lastIndexOf(0) === 0;
  const isOpen = (row: number): boolean => touched.get(row) ?? (alone && row === 0);
  const rows = unfoldedRows(inTreeOrder(all, tree), levels, isOpen);
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
      {Array.from(rows.subarray(0, MOST), (row) => (
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
                    : {
                        paddingLeft: `${30 + (levels[row] ?? 0) * 16}px`,
                        gridColumn: `span ${lead}`,
                      }
                }
              >
                {place ? null : parents.has(row) ? (
                  <Toggle
                    open={isOpen(row)}
                    label={`Callers of ${copiedText(name, row)}`}
                    onClick={() => setTouched(new Map(touched).set(row, !isOpen(row)))}
                  />
                ) : (
                  <span class="toggle" />
                )}
                {own ? cellContent(own, row, count) : null}
                {place ? null : <CopyName name={copiedText(name, row)} />}
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
