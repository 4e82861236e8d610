/** The rows in the window, and what is below the open ones. */

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CopyButton } from "../buttons";
import { Icon } from "../icons";
import { CellContent, copiedText } from "./cells";
import type { Cell } from "./layout";
import { isText } from "./order";
import type { Column } from "./types";

export interface RowProps {
  id: string;
  row: number;
  position: number;
  offset: number;
  columns: readonly Column[];
  rowCount: number;
  /** Whether there is a toggle in the first cell; null: the table has none at all. */
  canOpen: boolean | null;
  open: boolean;
  pinned: boolean;
  active: Cell | null;
  onToggle: (row: number) => void;
  onActivate: (cell: Cell) => void;
}

export function Row({ id, row, position, offset, columns, rowCount, canOpen, open, pinned, active, onToggle, onActivate }: RowProps): JSX.Element {
  const first = columns[0];
  const name = first ? copiedText(first, row) : "";
  return (
    <div
      role="row"
      class={`grid-row body-row${open ? " open" : ""}${pinned ? " pinned" : ""}`}
      aria-rowindex={position + 2}
      style={{ transform: `translateY(${offset}px)` }}
    >
      {columns.map((column, place) => (
        <div
          key={column.key}
          id={`${id}-${position}-${place}`}
          role={place === 0 ? "rowheader" : "gridcell"}
          class={`grid-cell ${isText(column.kind) ? column.kind : "number"}${active?.row === position && active.column === place ? " active" : ""}`}
          aria-colindex={place + 1}
          aria-expanded={place === 0 && canOpen ? open : undefined}
          onMouseDown={() => onActivate({ row: position, column: place })}
        >
          {place === 0 && canOpen !== null ? <Toggle {...{ row, open, name, onToggle }} canOpen={canOpen} /> : null}
          <CellContent column={column} row={row} rowCount={rowCount} />
          {place === 0 ? (
            <span class="cell-copy">
              <CopyButton text={name} label="Copy the full name" />
            </span>
          ) : null}
        </div>
      ))}
    </div>
  );
}

interface ToggleProps {
  row: number;
  open: boolean;
  name: string;
  canOpen: boolean;
  onToggle: (row: number) => void;
}

function Toggle({ row, open, name, canOpen, onToggle }: ToggleProps): JSX.Element {
  if (!canOpen) return <span class="toggle" />;
  return (
    <button type="button" class={`toggle${open ? " toggle-open" : ""}`} tabIndex={-1} aria-expanded={open} aria-label={`Details of ${name}`} onClick={() => onToggle(row)}>
      <Icon name="chevron" size={12} />
    </button>
  );
}

interface DetailProps {
  offset: number;
  span: number;
  width: number;
  onHeight: (height: number) => void;
  children: ComponentChildren;
}

/** Below an open row, as wide as the window of the table; reports its height. */
export function Detail({ offset, span, width, onHeight, children }: DetailProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const report = useRef(onHeight);
  report.current = onHeight;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = (): void => report.current(element.offsetHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div role="row" class="grid-detail" style={{ transform: `translateY(${offset}px)` }}>
      <div role="gridcell" aria-colspan={span} ref={box} class="grid-detail-box" style={{ width: `${width}px` }}>
        {children}
      </div>
    </div>
  );
}
