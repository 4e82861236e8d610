import type { ComponentChildren } from "preact";
import { clamp } from "../../base/clamp";
import type { CsvCell } from "../../base/csv";
import { format, formatExactTime, quantity, UNKNOWN, type Unit } from "../../base/units";
import { CSV_UNIT } from "../charts/Figure";
import { MiddleCut } from "../middle_cut";
import { isText, largestOf, numberOf } from "./order";
import type { CellKind, Column } from "./types";

type FigureKind = Exclude<CellKind, "text" | "code" | "knowledge">;

const unitOf = (kind: FigureKind): Unit => (kind === "time" || kind === "delta" ? "ns" : kind);
const KNOWLEDGE = ["no", "yes", "unknown"] as const;

export function csvHeader(column: Column): string {
  const { kind, label, name = label } = column;
  return kind === "knowledge" || kind === "text" || kind === "code"
    ? name
    : name + CSV_UNIT[unitOf(kind)];
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

export function copiedText(column: Column, row: number): string {
  return String(exactValue(column, row) ?? "");
}

/** The inside of a cell. Plain functions instead of components: hundreds of cells are drawn per frame while scrolling. */
export function cellContent(column: Column, row: number, rowCount: number): ComponentChildren {
  if (column.draw) return column.draw(row);
  const note = column.note?.(row);
  const beneath = column.beneath?.(row);
  const value = isText(column.kind) ? textCell(column, row) : figureCell(column, row, rowCount);
  const content =
    beneath === undefined ? (
      value
    ) : (
      <span class="cell-lines">
        {value}
        <small title={beneath ?? ""}>{beneath}</small>
      </span>
    );
  return note ? [content, <span class="cell-note">{note}</span>] : content;
}

function unknown(column: Column, row: number) {
  const reason = column.unknown?.(row);
  return (
    <span class="cell-unknown" title={reason ?? "not known"}>
      {reason && isText(column.kind) ? reason : UNKNOWN}
    </span>
  );
}

function textCell(column: Column, row: number) {
  const value = column.values[row];
  if (value === null || value === undefined || value === "")
    return column.action ? null : unknown(column, row);
  const full = String(value);
  const text = MiddleCut({ text: column.short?.[row] ?? full });
  const href = column.href?.(row);
  if (!href) {
    return (
      <span class="cell-text" title={full}>
        {text}
      </span>
    );
  }
  const follow = (event: MouseEvent): void => {
    if (!column.onFollow || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
      return;
    event.preventDefault();
    column.onFollow(row);
  };
  return (
    <a class="cell-text" href={href} title={full} tabIndex={-1} onClick={follow}>
      {text}
    </a>
  );
}

function figureCell(column: Column, row: number, rowCount: number): ComponentChildren {
  const { kind } = column;
  if (kind === "knowledge") {
    const text = knowledge(column.values[row] ?? 2);
    return <span class={`cell-knowledge knowledge-${text}`}>{text}</span>;
  }
  const value = numberOf(column.values[row], kind);
  if (Number.isNaN(value) || kind === "text" || kind === "code") return unknown(column, row);
  if (!column.bar) return figure(value, kind);
  const share = value / (kind === "share" ? 1 : largestOf(column, rowCount) || 1);
  if (kind === "delta")
    return [
      <span
        class={`cell-bar cell-${value < 0 ? "less" : "more"}`}
        style={{ width: `${Math.abs(share) * 50}%` }}
      />,
      figure(value, kind),
    ];
  // Of what lies between the cell's margins, or the longest bars would all look equal.
  const width = `calc((100% - 12px) * ${clamp(share, 0, 1)})`;
  return [<span class="cell-bar" style={{ width }} />, figure(value, kind)];
}

function figure(value: number, kind: FigureKind) {
  const unitOfKind = unitOf(kind);
  if (unitOfKind !== "ns") return <span class="cell-figure">{format(value, unitOfKind)}</span>;
  const { text, unit } = quantity(value, "ns");
  return (
    <span class="cell-figure" title={formatExactTime(value)}>
      {kind === "delta" && value > 0 ? `+${text}` : text}
      <span class="cell-unit">{` ${unit}`}</span>
    </span>
  );
}
