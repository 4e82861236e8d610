import type { DistributedPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { Figure, type Series, StackedBars, Term } from "../../widgets";
import { pick } from "../columns";
import { columnNames, stepsPerColumn } from "./columns";
import { MOST_ROWS } from "./map_model";
import { barTable, stepBars, type Table, workerBars } from "./model";

interface ChartProps {
  payload: DistributedPayload;
  /** Of the tables; `null`: the mean of all steps. */
  columns: readonly number[] | null;
}

interface WorkerChartProps extends ChartProps {
  title: string;
  term: string;
  series: readonly Series[];
  /** The tables of the series, by their keys. */
  times: Readonly<Record<string, Table>>;
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
  { ...series("overlap", "Overlapping", "compute"), pattern: "M0 8L8 0" },
  series("communication", "Communication", "category-communication"),
  series("other", "Other", "category-other"),
];
const WAITING = [
  series("transfer", "Transferring", "category-communication"),
  { ...series("waiting", "Waiting", "communication"), pattern: "M0 8L8 0" },
  series("unsplit", "Not told apart", "category-other"),
];

/** Whether the charts have a bar per step instead of one per worker. */
export const byStep = (
  payload: Pick<DistributedPayload, "workers" | "steps" | "column_begin">,
  columns: readonly number[] | null,
): boolean =>
  payload.workers.length === 1 &&
  stepsPerColumn(payload) === 1 &&
  (columns ?? payload.steps).length > 1 &&
  (columns ?? payload.steps).length <= MOST_ROWS;

function WorkerChart(props: WorkerChartProps) {
  const { payload, columns, title, term, series: all, times, empty } = props;
  const tables = all.map(({ key }) => times[`${key}_ns`] ?? []);
  const some = tables.map((table) => table.some((row) => row.some(Boolean)));
  const unsplit = some[all.findIndex(({ key }) => key === "unsplit")] ?? false;
  // Beside what could not be told apart a 0 of its parts is not known.
  const shown = all.flatMap(({ key }, i) =>
    some[i] || (key !== "unsplit" && !unsplit) ? [i] : [],
  );
  const parts = pick(tables, shown);
  // A bar alone would leave the chart empty: of one worker the steps stand beside each other.
  const alone = byStep(payload, columns);
  const bars = alone
    ? stepBars(parts, columns, columnNames(payload))
    : workerBars(payload.workers, parts, columns, payload.counts);
  const used = pick(all, shown);
  const known = tables.some((table) => table.some((row) => row.some((value) => value !== null)));
  return (
    <Figure title={title} term={term} table={barTable(used, bars, alone ? "Step" : "Rank")}>
      {known && bars.some(({ values }) => values.some((value) => value > 0)) ? (
        <StackedBars
          label={`${title} per ${alone ? "step" : "rank"}`}
          series={used}
          bars={bars}
          unit="ns"
          axisLabel={
            alone ? "step" : payload.workers.some(({ rank }) => rank !== null) ? "rank" : ""
          }
        />
      ) : (
        <p class="chart-nothing">{known ? "Nothing to show: all values are 0." : empty}</p>
      )}
    </Figure>
  );
}

export const OverlapChart = (props: ChartProps) => (
  <WorkerChart
    {...props}
    title="Computation and communication"
    term="distributed_overlap"
    series={OVERLAP}
    times={{ ...props.payload.overlap }}
    empty="There is no step."
  />
);

export const WaitingChart = (props: ChartProps) => (
  <WorkerChart
    {...props}
    title="Waiting and transferring"
    term="distributed_waiting"
    series={WAITING}
    times={{ ...props.payload.waiting }}
    empty="Not known: it needs collectives that are matched with those of other workers."
  />
);

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
