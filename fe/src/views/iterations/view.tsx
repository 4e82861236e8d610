/** The Iterations page: what an inference server computed in each iteration, and how long that took. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { IterationsPayload } from "../../api/types.gen";
import { format, formatCount, UNKNOWN } from "../../base/units";
import { onlyStep, type ViewId, type ViewProps, withOnly } from "../../state/view";
import { Button, Card, type Column, EmptyState, Figure, GridPanel } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { fact } from "../fact";
import { gridParams } from "../grid_params";
import { InShort, useAllSteps, viewOf } from "../loaded";
import { rowsOf } from "../rows";
import { TableView } from "../table_view";
import { StepCauses } from "../steps/view";
import { ByTokens, Legend, marksOf } from "./charts";
import { drawnOf, lookOf, shortName, titleOf, tokensOf } from "./model";

export const IterationsView = viewOf("iterations", [60, 300, 400], IterationsPage);

type PageProps = ViewProps & { payload: IterationsPayload };

function IterationsPage(props: PageProps) {
  const { payload } = props;
  const whole = useAllSteps("iterations", props, payload);
  if (!whole.iterations.step.length) return <HowToRecord payload={payload} />;
  const phases = (
    <TableView name="phases" rows={payload.phases} title="Phases" term="iteration_phase" />
  );
  return (
    <>
      <InShort sentences={[payload.headline, ...payload.detail]} />
      {whole.iterations.step.length > 1 ? (
        <Charts {...props} payload={whole} phases={phases} />
      ) : (
        <Alone payload={whole} />
      )}
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
            <dl class="facts">{payload.recorded_by.map(({ server, how }) => fact(server, how))}</dl>
          </>
        )
      }
    />
  );
}

/** A single iteration needs no chart. */
function Alone({ payload }: { payload: IterationsPayload }) {
  const [row] = rowsOf(payload.iterations);
  const [drawn] = drawnOf(payload.iterations);
  if (!row || !drawn) return null;
  const silent = row.earlier_ns + row.silent_ns;
  const facts = [
    ["Phase", row.phase],
    ["Requests", formatCount(drawn.requests)],
    ["Tokens", formatCount(drawn.tokens)],
    ["Padding of the batch", format(row.padding, "share")],
    ["Device work", format(row.device_ns, "ns")],
    ["Nothing recorded on the device", silent ? format(silent, "ns") : ""],
    ["Drafts", format(row.draft_ns, "ns")],
  ] as const;
  return (
    <dl class="iteration-alone">
      {facts
        .filter(([, text]) => text && text !== UNKNOWN)
        .map(([name, text], i) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {i ? null : <span class={`swatch iteration-${lookOf(row.phase)}`} />}
              {text}
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Charts(props: PageProps & { phases: ComponentChildren }) {
  const { payload, steps, setSteps, phases } = props;
  const { iterations } = payload;
  const bars = useMemo(() => drawnOf(iterations), [iterations]);
  const marks = useMemo(() => marksOf(bars), [bars]);
  const chart = {
    bars,
    chosen: onlyStep(steps),
    onChoose: (step: number): void => setSteps(withOnly(steps, step)),
  };
  return (
    <>
      <Card>
        <StepCauses {...props} ranks="own" />
      </Card>
      <div class={marks.length ? "iterations-two" : ""}>
        {marks.length ? (
          <Card>
            <Figure title="Time by tokens" term="iteration_scatter" note="a mark per iteration">
              <Legend bars={bars} />
              <ByTokens {...chart} />
            </Figure>
          </Card>
        ) : null}
        {phases}
      </div>
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
    <GridPanel
      label="Iterations"
      term="iteration"
      columns={columns}
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
              <a href={to("critical_path")}>Critical Path</a>, <a href={to("kernel")}>Kernel</a>,{" "}
              <a href={to("trace")}>Timeline</a>{" "}
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
  );
}
