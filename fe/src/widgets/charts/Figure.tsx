import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { csv, fileName } from "../../base/csv";
import { useId } from "../../base/id";
import { format, type Unit } from "../../base/units";
import { Button, DownloadButton } from "../buttons";
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

export function DataTable({ table, label }: { table: FigureTable; label: string }) {
  return (
    <div class="data-table" tabIndex={0} role="region" aria-label={`${label}, data table`}>
      <table>
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column.label} scope="col" class={column.unit ? "number" : ""}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((value, j) => {
                const unit = table.columns[j]?.unit;
                const text = typeof value === "string" ? value : format(value, unit ?? "number");
                return (
                  <td
                    key={j}
                    class={unit ? "number" : ""}
                    title={typeof value === "number" ? value.toString() : undefined}
                  >
                    {text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
