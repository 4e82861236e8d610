/** The Iterations page: what an inference server computed in each iteration, and how long that took. */

import { useMemo } from "preact/hooks";
import type { IterationsPayload } from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { format, formatCount, formatNumber, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { onlyStep, type ViewId, type ViewProps, viewQuery, withOnly } from "../../state/view";
import {
  Button,
  Card,
  type Column,
  EmptyState,
  Figure,
  Grid,
  Panel,
  Roofline,
  type RoofPoint,
  type StackedBar,
  StackedBars,
} from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { InShort, Loaded, useAllSteps } from "../loaded";
import { type RowOf, rowsOf } from "../rows";
import { TableView } from "../table_view";

const PHASES = ["prefill", "decode", "mixed", "other"] as const;
const SERIES = PHASES.map((key, i) => ({ key, label: key, color: seriesColor(i) }));

export function IterationsView(props: ViewProps) {
  const resource = useResource("iterations", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[60, 300, 400]}>
      {(payload) => <IterationsPage {...props} payload={payload} />}
    </Loaded>
  );
}

type PageProps = ViewProps & { payload: IterationsPayload };

function IterationsPage(props: PageProps) {
  const { payload } = props;
  const whole = useAllSteps("iterations", props, payload);
  if (!whole.iterations.step.length) return <HowToRecord payload={payload} />;
  return (
    <>
      <InShort sentences={[payload.headline]} />
      <TableView name="phases" rows={payload.phases} title="Phases" term="iteration_phase" />
      {whole.iterations.step.length > 1 ? <Charts {...props} payload={whole} /> : null}
      <Table {...props} payload={whole} />
    </>
  );
}

function HowToRecord({ payload }: { payload: IterationsPayload }) {
  return (
    <EmptyState
      title={payload.headline}
      text={
        payload.recorded_by.length > 0 && (
          <>
            <p>Servers annotate their iterations when they record a trace:</p>
            <dl class="facts">
              {payload.recorded_by.map(({ server, how }) => (
                <div key={server} class="fact">
                  <dt>{server}</dt>
                  <dd>{how}</dd>
                </div>
              ))}
            </dl>
          </>
        )
      }
    />
  );
}

function Charts({ payload: { iterations }, steps, setSteps }: PageProps) {
  const only = onlyStep(steps);
  const marks = useMemo(() => marksOf(iterations, only), [iterations, only]);
  const bars = useMemo(() => barsOf(iterations), [iterations]);
  const phases = phasesOf(iterations);
  const series = SERIES.filter(({ key }) => phases.includes(key));
  const select = (step: number): void => setSteps(withOnly(steps, step));
  return (
    <>
      <Card>
        <Figure
          title="Time between tokens"
          term="iteration_intervals"
          name="intervals"
          table={{
            columns: [
              { label: "Iteration" },
              { label: "Phase" },
              { label: "Interval", unit: "ns" },
            ],
            rows: bars.map((bar, row) => [
              bar.title,
              iterations.phase[row] ?? null,
              iterations.interval_ns[row] ?? null,
            ]),
          }}
        >
          <StackedBars
            label="Time between tokens"
            series={series}
            bars={bars}
            unit="ns"
            axisLabel="iteration"
            height={220}
            selected={only}
            onSelect={select}
          />
        </Figure>
      </Card>
      {marks.length ? (
        <Card>
          <Figure
            title="Time over tokens"
            term="iteration_scatter"
            name="time-over-tokens"
            table={{
              columns: [
                { label: "Iteration" },
                { label: "Phase" },
                { label: "Tokens", unit: "count" },
                { label: "Time", unit: "ns" },
              ],
              rows: marks.map((mark) => [
                mark.title,
                phases[mark.group] ?? null,
                mark.intensity,
                mark.rate,
              ]),
            }}
          >
            <Roofline
              label="Time over tokens"
              points={marks}
              groups={series}
              roofs={[]}
              bandwidth={null}
              axes={{ x: "tokens of the iteration", y: "ns" }}
              onSelect={(key) => select(Number(key))}
            />
          </Figure>
        </Card>
      ) : null}
    </>
  );
}

function Table(props: PageProps) {
  const { payload, params, setParam, steps, setSteps, hrefOf } = props;
  const { iterations } = payload;
  const { step } = iterations;
  const columns = useColumns(
    (): Column[] =>
      declaredColumns("iterations", iterations, {
        name: { short: iterations.name.map(shortName) },
        odd: { values: iterations.odd.map((odd) => (odd ? "odd" : null)), unknown: () => "" },
      }),
    [iterations],
  );
  return (
    <Panel title="Iterations" term="iteration" flush>
      <Grid
        label="Iterations"
        columns={columns}
        rowCount={step.length}
        rowKey={(row) => String(step[row])}
        detail={(place) => {
          const row = rowsOf(iterations)[place];
          if (!row) return null;
          const to = (view: ViewId): string =>
            hrefOf(view, {}, undefined, { ...steps, first: row.step, last: row.step });
          return (
            <div class="kernel-detail">
              <p>
                {titleOf(row)}
                {tokensOf(row) === null ? "; its tokens are not known" : ""}
              </p>
              <p>
                Where its time went: <a href={to("overview")}>Overview</a>,{" "}
                <a href={to("critical_path")}>Critical Path</a>, <a href={to("kernel")}>Kernel</a>{" "}
                <Button onClick={() => setSteps(withOnly(steps, row.step))}>
                  {onlyStep(steps) === row.step ? "Choose all steps" : "Choose this step"}
                </Button>
              </p>
            </div>
          );
        }}
        storage="iterations"
        {...gridParams(params, setParam)}
      />
    </Panel>
  );
}

type Iterations = IterationsPayload["iterations"];
type Iteration = RowOf<Iterations>;

/** What the Iterations page draws: a mark and a bar per iteration. Pure. */
/** More marks would hide each other; the table has every row. */
const MOST_POINTS = 2000;

/** The phases that occur, in their order. */
const phasesOf = ({ phase }: Iterations): string[] => PHASES.filter((name) => phase.includes(name));

/** A long annotation of vLLM without the sums that only formulas need. */
export const shortName = (name: string): string =>
  name.length > 48 ? name.replace(/sk\d+sqsq\d+sqsk\d+/g, "") : name;

const tokensOf = ({ context_tokens, generation_tokens }: Iteration): number | null =>
  context_tokens === null || generation_tokens === null ? null : context_tokens + generation_tokens;

/** `step[DECODE bs=32] · steady`. */
const titleOf = ({ name, part, odd }: Iteration): string =>
  [shortName(name), part, odd ? "odd" : ""].filter(Boolean).join(" · ");

/** Time over tokens; iterations of which the tokens are not known have no mark. */
export function marksOf(table: Iterations, only: number | null): RoofPoint[] {
  const phases = phasesOf(table);
  const drawn = rowsOf(table).filter((row) => tokensOf(row) && row.wall_ns > 0);
  const every = Math.ceil(drawn.length / MOST_POINTS);
  return drawn
    .filter((row, i) => i % every === 0 || row.odd)
    .map((row) => ({
      key: String(row.step),
      title: titleOf(row),
      intensity: tokensOf(row) ?? 0,
      rate: row.wall_ns,
      size: row.odd ? 2 : 1,
      group: phases.indexOf(row.phase),
      figures: [
        ["Tokens", formatCount(tokensOf(row))],
        ["Time", formatTime(row.wall_ns)],
        ["Gap before", formatTime(row.gap_ns)],
        ["Tokens/s", formatNumber(row.tokens_per_second)],
      ],
      selected: row.step === only,
    }));
}

/** The time between tokens, a bar per iteration; pale outside the steady state where one was found. */
export function barsOf(table: Iterations): StackedBar[] {
  const steady = table.part.includes("steady");
  const phases = phasesOf(table);
  return rowsOf(table).map((row) => ({
    key: row.step,
    label: String(row.step),
    title: `iteration ${row.step}: ${titleOf(row)}`,
    values: phases.map((phase) => (phase === row.phase ? (row.interval_ns ?? row.wall_ns) : 0)),
    faded: steady && row.part !== "steady",
    note: `${formatNumber(row.tokens_per_second)} tokens/s, gap before ${format(row.gap_ns, "ns")}`,
    ...(row.odd ? { mark: "odd among its phase" } : {}),
  }));
}
