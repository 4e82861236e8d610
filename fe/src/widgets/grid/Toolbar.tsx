import type { ComponentChildren } from "preact";
import { csv, type CsvCell, fileName } from "../../base/csv";
import { formatCount } from "../../base/units";
import { Button, DownloadButton } from "../buttons";
import { Checkbox, Menu, SearchBox } from "../controls";
import { csvHeader, exactValue } from "./cells";
import type { Shown } from "./order";
import { isHidden, type Saved } from "./storage";
import type { Column, Search } from "./types";

interface ToolbarProps {
  label: string;
  fileName: string | undefined;
  tools: ComponentChildren;
  /** Rows around each row, where the table is a tree; the file has them then. */
  levels: Uint16Array | undefined;
  columns: readonly Column[];
  visible: readonly Column[];
  shown: Shown;
  searchable: number;
  search: Search;
  onSearch: (search: Search) => void;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}

/** The shown rows and the visible columns, with exact values. */
export function tableText(
  visible: readonly Column[],
  rows: Uint32Array,
  levels?: Uint16Array,
): string {
  const line = (row: number): CsvCell[] => [
    ...(levels ? [levels[row] ?? 0] : []),
    ...visible.map((column) => exactValue(column, row)),
  ];
  return csv([...(levels ? ["Level"] : []), ...visible.map(csvHeader)], Array.from(rows, line));
}

export function Toolbar(props: ToolbarProps) {
  const { label, fileName: name, tools, levels, columns, visible, shown, searchable } = props;
  const { search, onSearch, saved, onSaved } = props;
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
        <ColumnMenu {...{ columns, visible, saved, onSaved }} />
        <DownloadButton
          name={`${name ?? fileName(label)}.csv`}
          content={() => tableText(visible, shown.rows, levels)}
          label={`Download the ${formatCount(shown.rows.length)} shown rows as CSV`}
        >
          CSV
        </DownloadButton>
      </div>
    </div>
  );
}

type ColumnMenuProps = Pick<ToolbarProps, "columns" | "visible" | "saved" | "onSaved">;

function ColumnMenu({ columns, visible, saved, onSaved }: ColumnMenuProps) {
  return (
    <Menu label="Columns" icon="columns">
      {columns.map((column) => {
        const on = !isHidden(column, saved);
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
