import type { ComponentChildren } from "preact";
import { csv, type CsvCell, fileName, markdown, tsv } from "../../base/csv";
import { formatCount } from "../../base/units";
import { Button, CopyButton, DownloadButton } from "../buttons";
import { Checkbox, Menu, SearchBox } from "../controls";
import { csvHeader, exactValue } from "./cells";
import type { Shown } from "./order";
import type { Saved } from "./storage";
import type { Column, GridProps, Search } from "./types";

interface ToolbarProps {
  label: string;
  fileName: string | undefined;
  tools: ComponentChildren;
  /** Rows around each row, where the table is a tree; the file has them then. */
  levels: Uint16Array | undefined;
  columns: readonly Column[];
  /** Those that nobody hid. */
  chosen: readonly Column[];
  summary: GridProps["summary"];
  /** Of those the ones for which there is room. */
  visible: readonly Column[];
  /** Folds the charts beside the table, where there are any. */
  charts: { open: boolean; toggle: () => void } | null;
  shown: Shown;
  searchable: number;
  search: Search;
  onSearch: (search: Search) => void;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}

/** The shown rows and the chosen columns, with exact values. */
export function tableText(
  chosen: readonly Column[],
  rows: Uint32Array,
  levels?: Uint16Array,
  write = csv,
): string {
  const told = chosen.filter((column) => !column.action);
  const line = (row: number): CsvCell[] => [
    ...(levels ? [levels[row] ?? 0] : []),
    ...told.map((column) => exactValue(column, row)),
  ];
  return write([...(levels ? ["Level"] : []), ...told.map(csvHeader)], Array.from(rows, line));
}

export function Toolbar(props: ToolbarProps) {
  const { label, fileName: name, tools, levels, columns, chosen, visible, shown } = props;
  const { search, onSearch, saved, onSaved, charts, searchable } = props;
  const { summary } = props;
  const own = summary ? shown.rows.filter((row) => !summary(row)) : shown.rows;
  const many = formatCount(own.length);
  const text = (write: typeof csv) => () => tableText(chosen, own, levels, write);
  const all = formatCount(searchable);
  const result =
    search.text.trim() && !shown.error
      ? `${formatCount(shown.found)} of ${all}`
      : `${all} ${searchable === 1 ? "row" : "rows"}`;
  return (
    <div class="toolbar">
      {tools}
      <SearchBox
        label={`Search in ${label}`}
        text={search.text}
        regex={search.regex}
        onChange={onSearch}
        error={shown.error}
        result={result}
      />
      <div class="toolbar-end">
        <HiddenColumns {...{ chosen, visible, saved, onSaved }} />
        {charts ? (
          <Button kind="quiet" icon="chart" pressed={charts.open} onClick={charts.toggle}>
            Charts
          </Button>
        ) : null}
        <ColumnMenu {...{ columns, visible, saved, onSaved }} />
        <Menu label="Copy" icon="copy">
          <CopyButton text={text(tsv)} label={`Copy the ${many} shown rows for a spreadsheet`}>
            TSV
          </CopyButton>
          <CopyButton text={text(markdown)} label={`Copy the ${many} shown rows as Markdown`}>
            Markdown
          </CopyButton>
        </Menu>
        <DownloadButton
          name={`${name ?? fileName(label)}.csv`}
          content={text(csv)}
          label={`Download the ${many} shown rows as CSV`}
        >
          CSV
        </DownloadButton>
      </div>
    </div>
  );
}

/** Says which columns have no room, and shows them. */
function HiddenColumns({
  chosen,
  visible,
  saved,
  onSaved,
}: Pick<ToolbarProps, "chosen" | "visible" | "saved" | "onSaved">) {
  const { all = false } = saved;
  const hidden = chosen.filter((column) => !visible.includes(column));
  if (!hidden.length && !all) return null;
  const text = all
    ? "Fit columns"
    : `${hidden.length} column${hidden.length === 1 ? "" : "s"} hidden`;
  return (
    <Button
      kind="quiet"
      // A name begins with the text in sight, which is what a user of speech input says.
      label={
        all
          ? `${text}: hide those for which there is no room`
          : `${text}. Show also: ${hidden.map((column) => column.label).join(", ")}`
      }
      onClick={() => onSaved({ ...saved, all: !all })}
    >
      {text}
    </Button>
  );
}

type ColumnMenuProps = Pick<ToolbarProps, "columns" | "visible" | "saved" | "onSaved">;

function ColumnMenu({ columns, visible, saved, onSaved }: ColumnMenuProps) {
  return (
    <Menu label="Columns" icon="columns">
      {columns.map((column) => {
        const on = visible.includes(column);
        return (
          <Checkbox
            key={column.key}
            label={column.label}
            checked={on}
            disabled={on && visible.length === 1}
            onChange={(checked) =>
              onSaved({ ...saved, hidden: { ...saved.hidden, [column.key]: !checked } })
            }
          />
        );
      })}
      <Button kind="quiet" icon="reload" onClick={() => onSaved({ hidden: {}, widths: {} })}>
        Reset
      </Button>
    </Menu>
  );
}
