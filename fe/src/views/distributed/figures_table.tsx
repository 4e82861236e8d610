/** The figures of every worker as a table, where they are too many for a bar each. */

import type { DistributedPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { type CellValue, type Column, Grid, Panel } from "../../widgets";
import { columnsOf, knownColumns, useColumns } from "../columns";
import { chosenColumns, columnsText } from "./columns";
import { type Table, valuesAt, workerName } from "./model";
import { toOverview } from "./tables";
import { timelineHref } from "./timeline_link";

const column = columnsOf("distributed");
const HEIGHT = 420;

export function FiguresTable(props: ViewProps & { payload: DistributedPayload }) {
  const { payload, steps, hrefOf, selection } = props;
  const { workers, overlap, waiting, counts } = payload;
  const at = chosenColumns(steps, payload);
  const columns = useColumns((): Column[] => {
    const rounded = (table: Table): CellValue[] =>
      valuesAt(table, at, counts).map((value) => (value === null ? null : Math.round(value)));
    const time = (key: string, label: string, table: Table, term: string): Column =>
      column(key, label, "time", 108, rounded(table), { term: `distributed_${term}`, bar: true });
    return knownColumns([
      column("worker", "Worker", "text", 120, workers.map(workerName), {
        term: "worker",
        href: toOverview(hrefOf, selection, workers),
      }),
      column(
        "node",
        "Node",
        "text",
        110,
        workers.map(({ node }) => node || null),
      ),
      time("late", "Late", waiting.late_ns, "late"),
      time("waiting", "Waiting", waiting.waiting_ns, "waiting"),
      time("transfer", "Transferring", waiting.transfer_ns, "transfer"),
      time("computation", "Computation", overlap.computation_ns, "overlap"),
      time("hidden", "Overlapping", overlap.overlap_ns, "overlap"),
      time("exposed", "Communication", overlap.communication_ns, "overlap"),
      time("other", "Other", overlap.other_ns, "overlap"),
      column(
        "timeline",
        "Timeline",
        "text",
        80,
        workers.map(() => "show"),
        {
          term: "distributed_timeline",
          href: (row) => timelineHref(hrefOf, selection, workers, [row]),
        },
      ),
    ]);
  }, [payload, steps]);
  return (
    <Panel title={`Figures per worker, ${columnsText(at, payload)}`} flush>
      <Grid
        label="Figures per worker"
        columns={columns}
        rowCount={workers.length}
        height={HEIGHT}
        storage="distributed-figures"
      />
    </Panel>
  );
}
