import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { csv, fileName } from "../../base/csv";
import { useId } from "../../base/id";
import { format, type Unit } from "../../base/units";
import { Button, DownloadButton } from "../buttons";
import { PlainTable } from "../PlainTable";
import { Term } from "../tooltip";

export interface FigureTable {
  columns: readonly { label: string; unit?: Unit }[];
  rows: readonly (readonly (string | number | null)[])[];
}

interface FigureProps {
  title: string;
  term?: string;
  note?: ComponentChildren;
  /** The numbers of the chart, where no table beside the chart has them. */
  table?: FigureTable;
  name?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A chart with its title; the switch shows the same numbers as a table. Stands inside a Panel or alone. */
export function Figure({ title, term, note, table, name, actions, children }: FigureProps) {
  const [asTable, setAsTable] = useState(false);
  const id = useId("figure");
  return (
    <figure class="figure" aria-labelledby={id}>
      <figcaption class="figure-head">
        <h3 id={id}>{term ? <Term id={term}>{title}</Term> : title}</h3>
        {note ? <span class="panel-note">{note}</span> : null}
        <div class="panel-actions">
          {actions}
          {table ? (
            <>
              <Button
                kind="quiet"
                icon={asTable ? "chart" : "table"}
                label={asTable ? `Show ${title} as a chart` : `Show ${title} as a data table`}
                pressed={asTable}
                onClick={() => setAsTable(!asTable)}
              />
              <DownloadButton
                name={`${fileName(name ?? title)}.csv`}
                content={() => tableCsv(table)}
                label={`Download ${title} as CSV`}
              />
            </>
          ) : null}
        </div>
      </figcaption>
      {asTable && table ? <DataTable table={table} label={title} /> : children}
    </figure>
  );
}

/** What a CSV column is in, behind its label. */
export const CSV_UNIT: Readonly<Record<Unit, string>> = {
  ns: " (ns)",
  bytes: " (bytes)",
  share: " (fraction)",
  count: "",
  number: "",
  FLOP: " (FLOP)",
  "FLOP/s": " (FLOP/s)",
  "B/s": " (bytes/s)",
};

export function tableCsv(table: FigureTable): string {
  return csv(
    table.columns.map((column) => column.label + (column.unit ? CSV_UNIT[column.unit] : "")),
    table.rows,
  );
}

const DataTable = ({ table: { columns, rows }, label }: { table: FigureTable; label: string }) => (
  <div class="data-table" tabIndex={0} role="region" aria-label={`${label}, data table`}>
    <PlainTable
      head={columns.map((column) => ({ label: column.label, class: column.unit ? "number" : "" }))}
      rows={rows.map((row) =>
        row.map((value, i) =>
          typeof value === "string" ? (
            value
          ) : (
            <span title={value?.toString()}>{format(value, columns[i]?.unit ?? "number")}</span>
          ),
        ),
      )}
    />
  </div>
);
