/** What the grid is told: columns as arrays, one entry per row. */

import type { ComponentChildren } from "preact";
import type { CellKind } from "../../base/columns";

export type { CellKind };

export type CellValue = string | number | boolean | null;

export interface Column {
  /** Stable; stands in the URL (sort) and in the browser's storage (widths, hidden). */
  key: string;
  label: string;
  /** The head in the CSV, where other tools know the values by a name that is no label. */
  name?: string;
  /** Key of the definition that the header shows on hover and focus. */
  term?: string;
  /** What the header says on hover and focus where no definition can: of names that only the trace knows. */
  hint?: string;
  kind: CellKind;
  width?: number | null;
  /** Shares the room that is left with the first column, until somebody drags it. */
  grow?: boolean;
  hidden?: boolean;
  /** One value per row: a typed array or a list. `NaN`, `null` and a negative `time` are unknown. */
  values: ArrayLike<CellValue>;
  /** A short form to draw instead (text and code only); search, sort, copy and CSV use `values`. */
  short?: ArrayLike<string | null>;
  /** Whether a bar below the number shows its part of the column's largest value; a delta's begins in the middle. */
  bar?: boolean;
  href?: (row: number) => string | null;
  /** Called instead of following the link on a plain click. */
  onFollow?: (row: number) => void;
  /** What stands beside the value, e.g. a Badge, and why a value is unknown. */
  note?: (row: number) => ComponentChildren;
  /** A second line below the value, in a table of `tall` rows. */
  beneath?: (row: number) => string | null;
  /** Draws the cell in place of the value; sort, copy and CSV use `values`. */
  draw?: (row: number) => ComponentChildren;
  /** Leads somewhere and says nothing of the row: always shown, in no file, not searched. */
  action?: boolean;
  /** Overrides the text that stands where the value is unknown. */
  unknown?: (row: number) => string | null;
}

export interface Sort {
  key: string;
  descending: boolean;
}

export interface Search {
  text: string;
  regex: boolean;
}

export interface GridProps {
  /** Says what the table holds; read by screen readers and used in the CSV's file name. */
  label: string;
  /** As many rows as the first one has values. */
  columns: readonly Column[];
  /** The order in which the rows came, which the header shows until another one is chosen. */
  order?: Sort;
  /** Null: the order in which the rows came. Leave out both to let the grid keep it. */
  sort?: Sort | null;
  onSort?: (sort: Sort | null) => void;
  /** Leave out both to let the grid keep it. */
  search?: Search;
  onSearch?: (search: Search) => void;
  /** Keys of the columns that the search looks in; otherwise all text and code columns. */
  searchIn?: readonly string[];
  /** The row around each row (−1: outermost; a row stands before those beneath it): makes a tree, whose siblings are sorted among themselves. Not with `detail`. */
  tree?: ArrayLike<number>;
  /** Rows of a tree that sum up those beneath them: closed at first, and in no file. */
  summary?: (row: number) => boolean;
  /** Rows that stay at the end in every order and under every search, e.g. the pooled "other". */
  pinned?: readonly number[];
  /** Draws what is below an open row; may be asynchronous inside. `visible`: the columns that are drawn. */
  detail?: (row: number, visible: readonly Column[]) => ComponentChildren;
  /** Whether what is below stands in the table's own columns (`Beneath`), instead of in a box. */
  aligned?: boolean;
  /** Draws charts of the rows that the search found, in a narrow column beside the table, folded at first. */
  aside?: (found: Uint32Array) => ComponentChildren;
  /** Whether rows have two lines. */
  tall?: boolean;
  /** The row that is chosen, and what is called when the active cell comes to another one. */
  chosen?: number | null;
  onChoose?: (row: number) => void;
  /** Which rows can be opened; otherwise all where `detail` is given. */
  expandable?: (row: number) => boolean;
  /** Identity of a row over new data, so that open rows stay open; otherwise all rows close, and rows of a tree stay as their places were. */
  rowKey?: (row: number) => string;
  /** Largest height of the table in px; otherwise what is left of the window. */
  height?: number;
  /** Name in the browser's storage under which hidden columns and widths are kept. */
  storage?: string;
  /** More controls at the start of the tool bar, e.g. a Segmented for the grouping. */
  tools?: ComponentChildren;
  empty?: ComponentChildren;
  fileName?: string;
}
