import { useMemo, useState } from "preact/hooks";
import type { DistributedPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import {
  bySum,
  Card,
  Figure,
  HeatMap,
  Segmented,
  type Series,
  StackedBars,
  Term,
} from "../../widgets";
import { pick } from "../columns";
import { barTable, type Table, workerBars, workerName } from "./model";

interface ChartProps {
  payload: DistributedPayload;
  /** `null`: the mean of all. */
  step: number | null;
}

interface WorkerChartProps extends ChartProps {
  title: string;
  term: string;
  series: readonly Series[];
  tables: readonly Table[];
  empty: string;
}

const series = (key: string, label: string, color: string): Series => ({
  key,
  label,
  color: `var(--${color})`,
  term: `distributed_${key}`,
});

const OVERLAP = [
  series("computation", "Computation", "category-kernel"),
  series("overlap", "Overlapping", "series-4"),
  series("communication", "Communication", "category-communication"),
  series("other", "Other", "category-other"),
];
const WAITING = [
  series("transfer", "Transferring", "category-communication"),
  series("waiting", "Waiting", "series-2"),
  series("unsplit", "Not told apart", "category-other"),
];

function WorkerChart({ payload, step, title, term, series: all, tables, empty }: WorkerChartProps) {
  const some = tables.map((table) => table.some((row) => row.some(Boolean)));
  const unsplit = some[all.findIndex(({ key }) => key === "unsplit")] ?? false;
  // Beside what could not be told apart a 0 of its parts is not known.
  const shown = all.flatMap(({ key }, i) =>
    some[i] || (key !== "unsplit" && !unsplit) ? [i] : [],
  );
  const bars = workerBars(payload.workers, pick(tables, shown), step);
  const used = pick(all, shown);
  const known = tables.some((table) => table.some((row) => row.some((value) => value !== null)));
  return (
    <Figure title={title} term={term} table={barTable(used, bars)}>
      {known && bars.some(({ values }) => values.some((value) => value > 0)) ? (
        <StackedBars
          label={`${title} per worker`}
          series={used}
          bars={bars}
          unit="ns"
          axisLabel={payload.workers.some(({ rank }) => rank !== null) ? "rank" : ""}
        />
      ) : (
        <p class="chart-nothing">{known ? "Nothing to show: all values are 0." : empty}</p>
      )}
    </Figure>
  );
}

export function OverlapChart(props: ChartProps) {
  const { computation_ns, overlap_ns, communication_ns, other_ns } = props.payload.overlap;
  return (
    <WorkerChart
      {...props}
      title="Computation and communication"
      term="distributed_overlap"
      series={OVERLAP}
      tables={[computation_ns, overlap_ns, communication_ns, other_ns]}
      empty="There is no step."
    />
  );
}

export function WaitingChart(props: ChartProps) {
  const { transfer_ns, waiting_ns, unsplit_ns } = props.payload.waiting;
  return (
    <WorkerChart
      {...props}
      title="Waiting and transferring"
      term="distributed_waiting"
      series={WAITING}
      tables={[transfer_ns, waiting_ns, unsplit_ns]}
      empty="Not known: it needs collectives that are matched with those of other workers."
    />
  );
}

type Order = "rank" | "late";

/** How late each worker was in each step. */
export function LateMap({ payload }: { payload: DistributedPayload }) {
  const { workers, steps, waiting, blame } = payload;
  const [by, setBy] = useState<Order>("rank");
  const rows = useMemo(() => workers.map(workerName), [workers]);
  const columns = useMemo(() => steps.map(stepName), [steps]);
  const order = useMemo(
    () => (by === "late" ? bySum(waiting.late_ns) : [...rows.keys()]),
    [by, waiting, rows],
  );
  const note = (worker: number, step: number): string => {
    const item = blame.find((candidate) => candidate.step === step && candidate.worker === worker);
    return item
      ? `It holds this step back by ${formatTime(item.held_ns)}. What takes longer on it: ${item.text || "not known"}.`
      : "";
  };
  return (
    <Card>
      <Figure
        title="How late each worker arrived, per step"
        term="distributed_late"
        table={{
          columns: [
            { label: "Worker" },
            ...columns.map((name) => ({ label: `step ${name}`, unit: "ns" as const })),
          ],
          rows: order.map((row) => [
            rows[row] ?? "",
            ...columns.map((_, step) => waiting.late_ns[row]?.[step] ?? null),
          ]),
        }}
        actions={
          <Segmented<Order>
            label="Order"
            value={by}
            options={[
              { value: "rank", label: "by rank" },
              { value: "late", label: "latest first" },
            ]}
            onChange={setBy}
          />
        }
      >
        <HeatMap
          label="Lateness by worker and step"
          {...{ rows, columns, order, note }}
          columnWord="step"
          values={waiting.late_ns}
          unit="ns"
        />
      </Figure>
    </Card>
  );
}

/** How far the clocks of the workers can be trusted. */
export function Clock({ payload }: { payload: DistributedPayload }) {
  const { clock, skew_ns, left_out, matched } = payload;
  return (
    <ul class="notes">
      <li>
        <Term id="distributed_matched">
          {formatCount(matched)} collectives are matched across the workers.
        </Term>
      </li>
      {clock ? <li>{clock}</li> : null}
      {skew_ns === null ? null : (
        <li>
          <Term id="distributed_skew">The profilers began {formatTime(skew_ns)} apart</Term>
          {left_out
            ? `; ${formatCount(left_out)} ${left_out === 1 ? "collective" : "collectives"} at the begin ${left_out === 1 ? "is" : "are"} left out of waiting for that`
            : ""}
          .
        </li>
      )}
    </ul>
  );
}
