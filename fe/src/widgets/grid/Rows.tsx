import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { CopyButton } from "../buttons";
import { useSize } from "../charts/size";
import { Icon } from "../icons";
import { Pure } from "../pure";
import { cellContent, copiedText } from "./cells";
import type { Cell } from "./layout";
import { isText } from "./order";
import type { Column } from "./types";

/** Of each level of a tree, px; from so many levels on the name would have no room. */
const INDENT = 14;
const MOST_INDENTS = 24;

export interface RowProps {
  id: string;
  row: number;
  position: number;
  offset: number;
  columns: readonly Column[];
  rowCount: number;
  /** Whether there is a toggle in the first cell; null: the table has none at all. */
  canOpen: boolean | null;
  /** Rows around it; −1 where the table is no tree. */
  level: number;
  open: boolean;
  pinned: boolean;
  /** Null: no row of the table can be chosen. */
  chosen: boolean | null;
  /** Place of the active cell among the columns; −1 when it is in another row. */
  active: number;
  /** Whether the pointer is on it; then it offers to copy its name. */
  pointed: boolean;
  actions: RowActions;
}

export interface RowActions {
  toggle: (row: number) => void;
  activate: (cell: Cell) => void;
  point: (position: number) => void;
}

/** Scrolling by two rows costs two rows. */
export class Row extends Pure<RowProps> {
  override render(props: RowProps) {
    const { id, row, position, offset, columns, rowCount, actions } = props;
    const { canOpen, level, open, pinned, chosen, active, pointed } = props;
    const first = columns[0];
    const name = first ? copiedText(first, row) : "";
    return (
      <div
        role="row"
        class={`grid-row body-row${open && level < 0 ? " open" : ""}${pinned ? " pinned" : ""}${chosen ? " chosen-row" : ""}`}
        aria-selected={chosen ?? undefined}
        aria-rowindex={position + 2}
        aria-level={level < 0 ? undefined : level + 1}
        aria-expanded={level < 0 || !canOpen ? undefined : open}
        style={{ transform: `translateY(${offset}px)` }}
        onPointerEnter={() => actions.point(position)}
      >
        {columns.map((column, place) => (
          <div
            key={column.key}
            id={`${id}-${position}-${place}`}
            role={place === 0 ? "rowheader" : "gridcell"}
            class={`grid-cell ${isText(column.kind) ? column.kind : column.draw ? "" : "number"}${active === place ? " active" : ""}`}
            aria-colindex={place + 1}
            aria-expanded={place === 0 && canOpen && level < 0 ? open : undefined}
            style={
              place === 0 && level > 0
                ? { paddingLeft: `${14 + Math.min(level, MOST_INDENTS) * INDENT}px` }
                : undefined
            }
            onMouseDown={() => actions.activate({ row: position, column: place })}
          >
            {place > 0 || canOpen === null ? null : canOpen ? (
              <Toggle
                open={open}
                label={`${level < 0 ? "Details of" : "Children of"} ${name}`}
                tabIndex={-1}
                onClick={() => actions.toggle(row)}
              />
            ) : (
              <span class="toggle" />
            )}
            {cellContent(column, row, rowCount)}
            {place === 0 && pointed ? <CopyName name={name} /> : null}
          </div>
        ))}
      </div>
    );
  }
}

interface ToggleProps {
  open: boolean;
  label: string;
  /** −1 in a table whose keys open rows. */
  tabIndex?: number;
  onClick: () => void;
}

export function Toggle({ open, label, ...rest }: ToggleProps) {
  return (
    <button
      type="button"
      class={`toggle${open ? " toggle-open" : ""}`}
      aria-expanded={open}
      aria-label={label}
      {...rest}
    >
      <Icon name="chevron" size={12} />
    </button>
  );
}

export function CopyName({ name }: { name: string }) {
  return (
    <span class="cell-copy">
      <CopyButton text={name} label="Copy the full name" />
    </span>
  );
}

interface DetailProps {
  offset: number;
  span: number;
  /** Null: as wide as the table, in its columns. */
  width: number | null;
  onHeight: (height: number) => void;
  children: ComponentChildren;
}

/** Below an open row, as wide as the window of the table; reports its height. */
export function Detail({ offset, span, width, onHeight, children }: DetailProps) {
  const box = useRef<HTMLDivElement>(null);
  useSize(box, (element) => onHeight(element.offsetHeight));
  return (
    <div role="row" class="grid-detail" style={{ transform: `translateY(${offset}px)` }}>
      <div
        role="gridcell"
        aria-colspan={span}
        ref={box}
        class={width === null ? "grid-beneath" : "grid-detail-box"}
        style={width === null ? undefined : { width: `${width}px` }}
      >
        {children}
      </div>
    </div>
  );
}
