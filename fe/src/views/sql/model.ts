/** What the SQL console computes from an answer: columns of the grid, and what may be drawn. */

import type { SqlColumn, SqlPayload } from "../../api/types.gen";
import type { Unit } from "../../base/units";
import type { ViewProps } from "../../state/view";
import type { CellValue, Column, StackedBar } from "../../widgets";

/** Bars that are drawn at most: the table has the rest. */
export const MOST_BARS = 200;

const WIDTHS = { text: 260, count: 110, number: 110, time: 110, bytes: 110, event: 90 } as const;

export const gridColumns = (
  { columns, values }: SqlPayload,
  hrefOf: ViewProps["hrefOf"],
): Column[] =>
  columns.map(({ name, kind }, place): Column => {
    const cells: readonly CellValue[] = values[place] ?? [];
    const column = { key: `${place}`, label: name, name, width: WIDTHS[kind], values: cells };
    if (kind === "text") return { ...column, kind: "code", grow: true };
    if (kind !== "event") return { ...column, kind };
    return {
      ...column,
      kind: "text",
      values: cells.map((id) => (id === null ? null : `#${id}`)),
      href: (row) => {
        const id = cells[row] ?? null;
        return id === null ? null : hrefOf("trace", { sel: String(id) });
      },
    };
  });

/** Places of columns that bars may show: numbers of which none is negative, other than the first column. */
export const drawable = ({ columns, values }: SqlPayload): number[] =>
  [...columns.keys()].filter(
    (place) =>
      place > 0 &&
      columns[place]?.kind !== "text" &&
      columns[place]?.kind !== "event" &&
      values[place]?.some((value) => Number(value) > 0) &&
      values[place].every((value) => Number(value) >= 0),
  );

export const unitOf = ({ kind }: SqlColumn): Unit =>
  kind === "time" ? "ns" : kind === "bytes" ? kind : "number";

export const barsOf = ({ values }: SqlPayload, place: number): StackedBar[] =>
  (values[0] ?? []).slice(0, MOST_BARS).map((name, row) => ({
    key: row,
    label: String(row + 1),
    title: String(name ?? "–"),
    values: [Number(values[place]?.[row] ?? 0)],
  }));
