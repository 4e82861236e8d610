/** A table that Python declares: its columns, its links to the timeline, the row that sums up the rest. Without rows and tools there is none. */

import type { ComponentChildren } from "preact";
import type { TableName, Vocabulary } from "../api/types.gen";
import { formatCount } from "../base/units";
import type { ViewProps } from "../state/view";
import { type CellValue, type Column, Grid, GridPanel, type GridProps } from "../widgets";
import { declaredColumns, useColumns } from "./columns";
import { timelineColumns } from "./links";

interface TableViewProps extends Omit<GridProps, "label" | "columns"> {
  name: TableName;
  /** The table as it comes: a list of values per column. */
  rows: object;
  title: string;
  /** Its definition; with one, the table stands in a panel of its own. */
  term?: string;
  /** Beside the title. */
  note?: string | null;
  vocabulary?: Vocabulary;
  /** What the page adds to some columns. */
  additions?: Readonly<Record<string, Partial<Column>>>;
  /** Rows have an `event`: what the links to it say, and the page whose definition explains them. */
  events?: { page: string; text: string; hrefOf: ViewProps["hrefOf"] };
  /** How many more rows the last one sums up. */
  pooled?: number;
  /** Whether the panel has the height that the window leaves. */
  fill?: boolean;
}

export function TableView(props: TableViewProps): ComponentChildren {
  const { name, rows, title, term, note, vocabulary, additions, events, pooled, fill, ...grid } =
    props;
  const values = rows as Readonly<Record<string, readonly CellValue[]>>;
  const columns = useColumns(() => {
    const declared = declaredColumns(name, rows, additions, vocabulary);
    if (!events) return declared;
    const { page, text, hrefOf } = events;
    const places = (values.event ?? []) as readonly number[];
    return [...declared, ...timelineColumns(page, 84, text, places, hrefOf)];
  }, [rows]);
  const count = Object.values(values)[0]?.length ?? 0;
  if (!count && !grid.tools) return null;
  const table = {
    label: title,
    columns,
    pinned: pooled ? [count - 1] : [],
    storage: name,
    empty: "No row matches the search.",
    ...grid,
  };
  const rest = pooled ? `the last row sums up ${formatCount(pooled)} more` : note;
  return term ? <GridPanel {...table} {...{ term, fill }} note={rest} /> : <Grid {...table} />;
}
