/** Two recordings of allocations: what each device held at its peak, by line and by operator. */

import type { MemoryDiff, PeakChange } from "../../api/types.gen";
import { formatBytes } from "../../base/units";
import { Panel } from "../../widgets";
import { pickRows } from "../columns";
import { grouped } from "../rows";
import { TableView } from "../table_view";

const TITLES: Readonly<Record<string, string>> = { line: "by line", operator: "by operator" };

/** `peak 64.0 MiB`, of several devices `GPU 0 peak 64.0 MiB, GPU 1 …`. */
export function peakText({ devices }: MemoryDiff, place: number): string {
  const of = (one: PeakChange): string =>
    `peak ${formatBytes(place ? one.after_bytes : one.before_bytes)}`;
  const [first] = devices;
  if (!first) return "no memory records";
  return devices.length > 1
    ? devices.map((one) => `${one.device} ${of(one)}`).join(", ")
    : of(first);
}

export function PeakTables({ memory: { devices, rows } }: { memory: MemoryDiff }) {
  const groups = grouped(rows.table.keys(), (row) => `${rows.device[row]}\n${rows.table[row]}`);
  return (
    <>
      {[...groups].map(([key, members]) => {
        const [device = "", table = ""] = key.split("\n");
        const what = `at the peak ${TITLES[table] ?? ""}`;
        const title = devices.length > 1 ? `${device} ${what}` : `Alive ${what}`;
        return (
          <Panel key={key} title={title} term="diff_peaks" flush>
            <TableView name="diff_memory" rows={pickRows(rows, members)} title={title} />
          </Panel>
        );
      })}
    </>
  );
}
