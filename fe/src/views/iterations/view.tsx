/** The Iterations page: what an inference server computed in each iteration, and how long that took. */

import { useMemo } from "preact/hooks";
import type { IterationsPayload } from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { useResource } from "../../state/resource";
import { onlyStep, viewQuery, type ViewId, type ViewProps, withOnly } from "../../state/view";
import {
  Button,
  Card,
  type Column,
  EmptyState,
  Figure,
  Grid,
  Panel,
  Roofline,
  StackedBars,
} from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { InShort, Loaded, useAllSteps } from "../loaded";
import { rowsOf } from "../rows";
import { barsOf, marksOf, PHASES, phasesOf, shortName, titleOf, tokensOf } from "./model";

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
      <Phases payload={payload} />
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

function Phases({ payload: { phases } }: { payload: IterationsPayload }) {
  const columns = useMemo(() => declaredColumns("phases", phases), [phases]);
  return (
    <Panel title="Phases" term="iteration_phase" flush>
      <Grid label="Phases" columns={columns} rowCount={phases.phase.length} storage="phases" />
    </Panel>
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
