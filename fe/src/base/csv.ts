/** Tables as CSV by RFC 4180, safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null | undefined;

/** Begins of a text at which spreadsheets take it for a formula, or part it, as in `torch_tb_profiler/views/words/escapes.py`. */
const FORMULA = /^(?:[ "]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[;\t\r\n])/;
/** Where one may begin within a text: the semicolon parts cells in many countries. Numbers do nothing there. */
const FORMULA_WITHIN =
  /([;\t\r\n])(?=[ "]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])(?![ "]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ "]*(?:[;\t\r\n]|$))/g;

/** A text that no spreadsheet takes for a formula, nor a part of it. */
function noFormula(text: string): string {
  const inner = text.replace(FORMULA_WITHIN, "$1'");
  return FORMULA.test(inner) ? `'${inner}` : inner;
}

/** One field. A text that a spreadsheet would run gets an apostrophe; numbers stay as they are; unknown is empty. */
export function csvField(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? value.toString() : "";
  if (typeof value === "boolean") return value ? "true" : "false";
  const text = noFormula(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(header: readonly string[], rows: Iterable<readonly CsvCell[]>): string {
  return [header, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

export function fileName(...parts: readonly string[]): string {
  const name = parts
    .filter(Boolean)
    .join("_")
    .replace(/[^\p{L}\p{N}.-]+/gu, "_")
    .replace(/^[._]+|_+$/g, "");
  return name.slice(0, 120) || "table";
}

/** For the clipboard: spreadsheets part it into cells. */
export function tsv(header: readonly string[], rows: Iterable<readonly CsvCell[]>): string {
  const plain = (cell: CsvCell): string => (cell ?? "").toString().replace(/[\t\r\n]+/g, " ");
  const field = (cell: CsvCell): string =>
    typeof cell === "string" ? plain(noFormula(cell)) : plain(cell);
  return [header, ...rows].map((row) => `${row.map(field).join("\t")}\n`).join("");
}

export function markdown(header: readonly string[], rows: Iterable<readonly CsvCell[]>): string {
  const field = (cell: CsvCell): string =>
    (cell ?? "")
      .toString()
      .replace(/[\\|<]/g, "\\$&")
      .replace(/\s+/g, " ");
  const lines = [header, header.map(() => "---"), ...rows];
  return lines.map((row) => `| ${row.map(field).join(" | ")} |\n`).join("");
}

let prefix = "";

/** From now on the names of files begin with these, e.g. run, worker and view. */
export function nameFilesAfter(...parts: readonly string[]): void {
  prefix = fileName(...parts);
}

export const savedAs = (name: string): string => (prefix ? `${prefix}_${name}` : name);
