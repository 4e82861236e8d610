/**
 * A virtual table over columns: sort, search, choose and resize columns, open rows, copy, CSV; 100,000 rows stay smooth.
 *
 * ARIA grid with one tab stop for the body: arrows, Home, End, Page keys move the active cell (with Control to the ends), Enter follows a link or opens the row,
 * Control+C copies the cell.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useId } from "../../base/id";
import { compileSearch } from "../../base/search";
import { Button, copyText } from "../buttons";
import { EmptyState } from "../panel";
import { useSize, useWidth } from "../charts/size";
import { copiedText } from "./cells";
import { Header } from "./Header";
import {
  type Cell,
  moveCell,
  mostRows,
  offsetOf,
  ROW_HEIGHT,
  TALL_ROW,
  totalHeight,
  windowOf,
} from "./layout";
import { useOpenRows } from "./open";
import { nextSort, shownRows } from "./order";
import { Detail, Row, type RowActions } from "./Rows";
import { fitting, isHidden, useSaved, widthsOf } from "./storage";
import { Toolbar } from "./Toolbar";
import { type Folding, parentOf, treeRows, unfoldedRows, useFolding } from "./tree";
import type { Column, GridProps, Search, Sort } from "./types";

const HEAD_HEIGHT = 40;
/** Width of the charts beside a table, px, and of what must be left for the table itself; folded until somebody asks for them. */
const ASIDE_WIDTH = 284;
const BESIDE = 820;
const SCROLL_BAR = 16;
const NO_ROWS: readonly number[] = [];
const NO_SEARCH: Search = { text: "", regex: false };

/** A value that the owner keeps when it gives one, and the widget otherwise. */
function useKept<T>(
  given: T | undefined,
  onGiven: ((value: T) => void) | undefined,
  first: T,
): [T, (value: T) => void] {
  const [own, setOwn] = useState(first);
  const set = (value: T): void => {
    setOwn(value);
    onGiven?.(value);
  };
  return [given === undefined ? own : given, set];
}

export function Grid(props: GridProps) {
  const { label, columns, pinned = NO_ROWS, searchIn, tree } = props;
  const rowCount = columns[0]?.values.length ?? 0;
  const [sort, setSort] = useKept<Sort | null>(props.sort, props.onSort, null);
  const [search, setSearch] = useKept<Search>(props.search, props.onSearch, NO_SEARCH);
  const [saved, setSaved] = useSaved(props.storage);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box, Infinity);
  const wide = width >= ASIDE_WIDTH + BESIDE;
  const [opened, setOpened] = useState(false);
  const beside = props.aside !== undefined && (wide ? saved.folded === false : opened);
  const room = width - SCROLL_BAR - (beside ? ASIDE_WIDTH : 0);
  const chosen = useMemo(
    () => columns.filter((column) => !isHidden(column, saved)),
    [columns, saved],
  );
  const ordered = sort ?? props.order ?? null;
  const visible = useMemo(
    () => fitting(chosen, saved, room, ordered?.key),
    [chosen, saved, room, ordered?.key],
  );
  const sortKey = sort?.key;
  const descending = sort?.descending ?? false;
  const { text, regex } = search;
  const searched = text.trim();
  const shown = useMemo(() => {
    const matcher = compileSearch(text, regex);
    const order = sortKey === undefined ? null : { key: sortKey, descending };
    const wanted = { columns, rowCount, matcher, searchIn, pinned, sort: order };
    return tree ? treeRows(wanted, tree, searched !== "") : { ...shownRows(wanted), above: null };
  }, [columns, rowCount, text, regex, searchIn, pinned, sortKey, descending, tree, searched]);
  const folding = useFolding(tree, shown.above, searched, props.rowKey, props.summary);
  const rows = useMemo(
    () => (folding ? unfoldedRows(shown.rows, folding.levels, folding.isOpen) : shown.rows),
    [shown.rows, folding],
  );
  const { summary } = props;
  const sums = useMemo(
    () => (tree && summary ? Array.from(tree, (_, row) => row).filter(summary).length : 0),
    // As `rowKey` of a tree.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [tree],
  );
  const onWidth = (column: Column, width: number | null): void => {
    const { [column.key]: _, ...others } = saved.widths;
    setSaved({ ...saved, widths: width === null ? others : { ...others, [column.key]: width } });
  };
  return (
    <div class={`grid-box${props.height ? "" : " grid-fill"}`} ref={box}>
      <Toolbar
        {...{ label, columns, chosen, visible, shown, search, saved }}
        summary={props.summary}
        charts={
          props.aside
            ? {
                open: beside,
                toggle: () => (wide ? setSaved({ ...saved, folded: beside }) : setOpened(!opened)),
              }
            : null
        }
        fileName={props.fileName}
        tools={folding ? [props.tools, <FoldButtons folding={folding} />] : props.tools}
        levels={folding?.levels}
        searchable={rowCount - pinned.length - sums}
        onSearch={setSearch}
        onSaved={setSaved}
      />
      <div class="grid-beside">
        <Table
          {...props}
          {...{ visible, rowCount, pinned, rows, folding }}
          sort={ordered}
          reset={`${sortKey ?? ""} ${descending} ${text} ${regex}`}
          widths={widthsOf(visible, saved, room)}
          onHead={(column) => setSort(nextSort(sort, column, props.order))}
          onWidth={onWidth}
        />
        {beside ? (
          <aside class="grid-aside" style={{ flexBasis: `${ASIDE_WIDTH}px` }}>
            {props.aside?.(shown.rows)}
          </aside>
        ) : null}
      </div>
    </div>
  );
}

function FoldButtons({ folding }: { folding: Folding }) {
  return (
    <span class="toolbar-group">
      <Button kind="quiet" icon="unfold" label="Expand all" onClick={() => folding.all(true)} />
      <Button kind="quiet" icon="fold" label="Collapse all" onClick={() => folding.all(false)} />
    </span>
  );
}

/** The first column takes what room is left, beside those that may grow; all others are as wide as they are. */
function columnStyle(
  widths: readonly number[],
  columns: readonly Column[],
): Record<string, string> {
  const template = widths
    .map((width, place) =>
      place === 0 || (columns[place]?.grow && width === columns[place].width)
        ? `minmax(${width}px, 1fr)`
        : `${width}px`,
    )
    .join(" ");
  return { "--columns": template, "--width": `${widths.reduce((sum, width) => sum + width, 0)}px` };
}

interface TableProps extends Omit<GridProps, "sort" | "pinned"> {
  visible: readonly Column[];
  rowCount: number;
  rows: Uint32Array;
  pinned: readonly number[];
  sort: Sort | null;
  folding: Folding | null;
  /** When it changes, the table goes back to its start. */
  reset: string;
  widths: readonly number[];
  onHead: (column: Column) => void;
  onWidth: (column: Column, width: number | null) => void;
}

/** What is open, active and pointed at, and what keys do. */
function useTable(props: TableProps, scroller: Slot) {
  const { columns, visible, rows, rowCount, pinned, detail, expandable, folding, tree } = props;
  const view = useViewport(scroller, props.reset);
  const rowHeight = props.tall ? TALL_ROW : ROW_HEIGHT;
  const open = useOpenRows(columns, rowCount, rows, props.rowKey);
  const [active, setActive] = useState<Cell | null>(null);
  const [pointed, setPointed] = useState(-1);
  const opening: Opening = folding ?? {
    ...open,
    canOpen: (row) => detail !== undefined && !pinned.includes(row) && (expandable?.(row) ?? true),
  };
  const activate = (target: Cell): void => {
    setActive(target);
    const row = rows[target.row];
    if (row !== undefined && !pinned.includes(row)) props.onChoose?.(row);
  };
  const newest = useRef({ opening, activate });
  newest.current = { opening, activate };
  const actions = useMemo<RowActions>(
    () => ({
      toggle: (row) => newest.current.opening.toggle(row),
      activate: (target) => newest.current.activate(target),
      point: setPointed,
    }),
    [],
  );
  const cell = active && {
    row: Math.min(active.row, rows.length - 1),
    column: Math.min(active.column, visible.length - 1),
  };
  const at = cell ?? { row: 0, column: 0 };
  const go = (target: Cell): void => {
    activate(target);
    const element = scroller.current;
    if (!element) return;
    const top = offsetOf(target.row, open.at, rowHeight);
    const room = element.clientHeight - HEAD_HEIGHT - rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top > element.scrollTop + room) element.scrollTop = top - room;
    const heads = element.querySelectorAll('[role="columnheader"]');
    heads[target.column]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const act = (column: Column, row: number): void => {
    // A real click on the link, so that whoever listens for clicks on links treats it the same.
    const link = column.href?.(row)
      ? scroller.current?.querySelector<HTMLAnchorElement>(".grid-cell.active a[href]")
      : null;
    if (link) link.click();
    else if (opening.canOpen(row)) opening.toggle(row);
  };
  /** In the first column of a tree the arrows open, fold, and lead to the row around. */
  const fold = (key: string, row: number): boolean => {
    const canOpen = opening.canOpen(row);
    const isOpen = canOpen && opening.isOpen(row);
    const around = tree ? rows.indexOf(parentOf(tree, row)) : -1;
    if (key === (isOpen ? "ArrowLeft" : "ArrowRight") && canOpen) opening.toggle(row);
    else if (key === "ArrowLeft" && around >= 0) go({ ...at, row: around });
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.altKey) return;
    const { key } = event;
    const row = rows[at.row];
    const column = visible[at.column];
    const control = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor((view.height - HEAD_HEIGHT) / rowHeight) - 1);
    const target = moveCell(at, key, control, { rows: rows.length, columns: visible.length, page });
    const folds = tree && row !== undefined && at.column === 0 && !control;
    if (!folds || !fold(key, row)) {
      if (target) go(target);
      else if (row === undefined || !column) return;
      else if (key === "Enter" || key === " ") act(column, row);
      else if (control && key.toLowerCase() === "c" && !getSelection()?.toString())
        void copyText(copiedText(column, row));
      else return;
    }
    event.preventDefault();
  };
  // The table got the focus: some cell is active then.
  const focus = (): void => {
    if (!active) setActive(at);
  };
  return { view, open, opening, cell, onKeyDown, pointed, actions, focus, rowHeight };
}

function Table(props: TableProps) {
  const { label, visible, rows, rowCount, pinned, sort, widths, detail, folding } = props;
  const id = useId("grid");
  const scroller = useRef<HTMLDivElement>(null);
  const table = useTable(props, scroller);
  const { view, open, opening, cell, onKeyDown, pointed, actions, focus, rowHeight } = table;
  const { first, last } = windowOf(view.top, view.height, rows.length, open.at, rowHeight);
  const positions = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  return (
    <div
      ref={scroller}
      class="grid"
      role={folding ? "treegrid" : "grid"}
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={visible.length}
      aria-activedescendant={
        cell && cell.row >= first && cell.row < last
          ? `${id}-${cell.row}-${cell.column}`
          : undefined
      }
      style={{
        ...columnStyle(widths, visible),
        "--row": `${rowHeight}px`,
        ...(props.height ? { maxHeight: `${props.height}px` } : {}),
      }}
      onKeyDown={onKeyDown}
      onScroll={view.onScroll}
      onFocus={(event) => event.target === scroller.current && focus()}
    >
      <Header
        columns={visible}
        sort={sort}
        hasToggle={detail !== undefined || folding !== null}
        onSort={props.onHead}
        onWidth={props.onWidth}
      />
      <div
        role="rowgroup"
        class="grid-body"
        style={{ height: `${totalHeight(rows.length, open.at, rowHeight)}px` }}
      >
        {positions.flatMap((position) => {
          const row = rows[position] ?? 0;
          const isOpen = opening.canOpen(row) && opening.isOpen(row);
          const offset = offsetOf(position, open.at, rowHeight);
          return [
            <Row
              key={position % mostRows(view.height)}
              {...{ id, row, position, offset, rowCount }}
              columns={visible}
              canOpen={detail || folding ? opening.canOpen(row) : null}
              level={folding ? (folding.levels[row] ?? 0) : -1}
              open={isOpen}
              pinned={pinned.includes(row)}
              chosen={props.onChoose ? row === props.chosen : null}
              active={cell?.row === position ? cell.column : -1}
              pointed={position === pointed}
              actions={actions}
            />,
            isOpen && detail ? (
              <Detail
                key={`${row} detail`}
                offset={offset + rowHeight}
                span={visible.length}
                width={props.aligned ? null : view.width}
                onHeight={(height) => open.setHeight(row, height)}
              >
                {detail(row, visible)}
              </Detail>
            ) : null,
          ];
        })}
      </div>
      {rows.length === 0 ? (
        <div class="grid-empty">
          {rowCount > 0 ? (
            <EmptyState compact title="No row matches" text="Change or clear the search." />
          ) : (
            props.empty
          )}
        </div>
      ) : null}
    </div>
  );
}

/** How rows open: to what is below them, or to the rows beneath them. */
type Opening = Pick<Folding, "canOpen" | "isOpen" | "toggle">;

interface Slot {
  current: HTMLDivElement | null;
}

/** The scroll place and the size of the table, live; goes back to the start when `reset` changes. */
function useViewport(scroller: Slot, reset: string) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [width, setWidth] = useState(800);
  useSize(scroller, ({ clientHeight, clientWidth }) => {
    setHeight(clientHeight || 600);
    setWidth(clientWidth || 800);
  });
  const before = useRef(reset);
  useEffect(() => {
    if (before.current !== reset) scroller.current?.scrollTo({ top: 0 });
    before.current = reset;
  }, [reset, scroller]);
  return { top, height, width, onScroll: () => setTop(scroller.current?.scrollTop ?? 0) };
}
