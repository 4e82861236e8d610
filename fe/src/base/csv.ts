/** Tables as CSV by RFC 4180, safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null | undefined;

/** Signs at which spreadsheets take a text for a formula. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

/** One field. A text that a spreadsheet would run gets an apostrophe in front; numbers stay as they are; unknown is empty. */
export function csvField(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? value.toString() : "";
  if (typeof value === "boolean") return value ? "true" : "false";
  const text = FORMULA.test(value) ? `'${value}` : value;
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
    typeof cell === "string" && FORMULA.test(cell) ? `'${plain(cell)}` : plain(cell);
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
