/** What stands in a cell: drawn, copied, and saved. */

import type { ComponentChildren, JSX } from "preact";
import type { CsvCell } from "../../base/csv";
import { format, formatExactTime, timeQuantity, UNKNOWN, type Unit } from "../../base/units";
import { MiddleCut } from "../middle_cut";
import { isText, largestOf, numberOf } from "./order";
import type { CellKind, Column } from "./types";

const UNITS: Readonly<Record<Exclude<CellKind, "text" | "code" | "knowledge">, Unit>> = {
  time: "ns",
  bytes: "bytes",
  share: "share",
  count: "count",
  number: "number",
};
const CSV_UNITS: Readonly<Partial<Record<CellKind, string>>> = { time: " (ns)", bytes: " (bytes)", share: " (fraction)" };
const KNOWLEDGE = ["no", "yes", "unknown"] as const;

export function csvHeader(column: Column): string {
  return column.label + (CSV_UNITS[column.kind] ?? "");
}

/** The exact value: for CSV and for copies. Unknown is null. */
export function exactValue(column: Column, row: number): CsvCell {
  const value = column.values[row];
  if (value === null || value === undefined) return null;
  if (isText(column.kind)) return String(value);
  if (column.kind === "knowledge") return knowledge(value);
  const number = numberOf(value, column.kind);
  return Number.isNaN(number) ? null : number;
}

function knowledge(value: number | string | boolean): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return KNOWLEDGE[Number(value)] ?? "unknown";
}

/** The text that copying a cell gives. */
export function copiedText(column: Column, row: number): string {
  const value = exactValue(column, row);
  return value === null || value === undefined ? "" : String(value);
}

/** The inside of a cell. */
export function CellContent({ column, row, rowCount }: { column: Column; row: number; rowCount: number }): JSX.Element {
  const note = column.note?.(row);
  return (
    <>
      {isText(column.kind) ? <TextCell column={column} row={row} /> : <FigureCell column={column} row={row} rowCount={rowCount} />}
      {note ? <span class="cell-note">{note}</span> : null}
    </>
  );
}

function Unknown({ column, row }: { column: Column; row: number }): JSX.Element {
  const reason = column.unknown?.(row);
  return (
    <span class="cell-unknown" title={reason ?? "not known"}>
      {reason && isText(column.kind) ? reason : UNKNOWN}
    </span>
  );
}

function TextCell({ column, row }: { column: Column; row: number }): JSX.Element {
  const value = column.values[row];
  if (value === null || value === undefined || value === "") return <Unknown column={column} row={row} />;
  const full = String(value);
  return (
    <Linked column={column} row={row} title={full}>
      <MiddleCut text={column.short?.[row] ?? full} />
    </Linked>
  );
}

function Linked({ column, row, title, children }: { column: Column; row: number; title: string; children: ComponentChildren }): JSX.Element {
  const href = column.href?.(row);
  if (!href) {
    return (
      <span class="cell-text" title={title}>
        {children}
      </span>
    );
  }
  const follow = (event: MouseEvent): void => {
    if (!column.onFollow || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    column.onFollow(row);
  };
  return (
    <a class="cell-text" href={href} title={title} tabIndex={-1} onClick={follow}>
      {children}
    </a>
  );
}

function FigureCell({ column, row, rowCount }: { column: Column; row: number; rowCount: number }): JSX.Element {
  const { kind } = column;
  const value = numberOf(column.values[row], kind);
  if (kind === "knowledge") {
    const text = knowledge(column.values[row] ?? 2);
    return <span class={`cell-knowledge knowledge-${text}`}>{text}</span>;
  }
  if (Number.isNaN(value) || kind === "text" || kind === "code") return <Unknown column={column} row={row} />;
  const share = column.bar ? value / (kind === "share" ? 1 : largestOf(column, rowCount) || 1) : 0;
  return (
    <>
      {share > 0 ? <span class="cell-bar" style={{ width: `${Math.min(1, share) * 100}%` }} /> : null}
      <Figure value={value} kind={kind} />
    </>
  );
}

function Figure({ value, kind }: { value: number; kind: keyof typeof UNITS }): JSX.Element {
  if (kind !== "time") return <span class="cell-figure">{format(value, UNITS[kind])}</span>;
  const { text, unit } = timeQuantity(value);
  return (
    <span class="cell-figure" title={formatExactTime(value)}>
      {text}
      <span class="cell-unit">{` ${unit}`}</span>
    </span>
  );
}
