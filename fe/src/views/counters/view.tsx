/** The Counters page: what hardware counters measured, of which kernel and operator. */

import { useMemo, useState } from "preact/hooks";
import type { CountersTablePayload } from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { format, formatCount } from "../../base/units";
import { isChosen, onlyStep, type ViewProps, withOnly } from "../../state/view";
import {
  Button,
  Card,
  type Column,
  CopyButton,
  Figure,
  GridPanel,
  Panel,
  Roofline,
  Select,
  StackedBars,
} from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { fact } from "../fact";
import { TableView } from "../table_view";
import { exactly, gridParams, toggleSearch } from "../grid_params";
import { linkedTo, timelineColumns } from "../links";
import { InShort, MissingList, Notes, Nothing, useAllSteps, viewOf } from "../loaded";
import {
  measuredChart,
  pathText,
  sampledCharts,
  scaled,
  stepNames,
  unitOf,
  counterColumns,
} from "./model";

/** Charts that are drawn at once; a recording may have hundreds of counters. */
const FIRST_CHARTS = 6;

export const CountersView = viewOf("counters", [60, 400, 300], CountersPage);

type PageProps = ViewProps & { payload: CountersTablePayload };

function CountersPage(props: PageProps) {
  const { payload } = props;
  if (!payload.profiled.kernel.length && !payload.sampled.counter.length)
    return (
      <Nothing
        title="No hardware counter was recorded"
        text="The selected steps hold none. Choose other steps."
        missing={payload.missing}
      />
    );
  return (
    <>
      <InShort sentences={[payload.headline, payload.matching]} />
      {payload.no_roofline ? <Notes notes={[payload.no_roofline]} /> : null}
      {payload.profiled.kernel.length ? <Measured {...props} /> : null}
      {payload.profiled.kernel.length ? <Profiled {...props} /> : null}
      {payload.sampled.counter.length ? <Sampled {...props} /> : null}
      <MissingList missing={payload.missing} />
    </>
  );
}

function Measured({ payload, params, setParam }: PageProps) {
  const search = params.search ?? "";
  const { points, roofs, groups, timed, left } = useMemo(
    () => measuredChart(payload, search),
    [payload, search],
  );
  if (!points.length) return null;
  return (
    <Card>
      <Figure
        title="Measured roofline"
        term="counters_roofline"
        note={`a mark per kernel, as large as its ${timed ? "time" : "FLOPs; no times were measured"}${left ? `; ${formatCount(left)} more are in the table only` : ""}`}
      >
        <Roofline
          label="Measured roofline"
          points={points}
          groups={groups.map((label, i) => ({
            label: label || "not known",
            color: seriesColor(i),
          }))}
          roofs={roofs}
          bandwidth={payload.bandwidth}
          onSelect={(key) =>
            toggleSearch(exactly(payload.profiled.kernel[Number(key)] ?? ""), search, setParam)
          }
        />
      </Figure>
    </Card>
  );
}

function profiledColumns({ payload, hrefOf }: PageProps): Column[] {
  const { profiled, counters, steps } = payload;
  const { kernel, op_stack, top_op, bottom_op, launch, event } = profiled;
  const operator = (names: readonly (string | null)[]): Partial<Column> => ({
    unknown: () => "none",
    href: linkedTo(hrefOf, "operator", names),
  });
  const shown = launch.map((number, row) => (number < 0 ? (event[row] ?? -1) : number));
  return [
    ...declaredColumns("counters", profiled, {
      kernel: {
        short: profiled.short_name,
        // Equal slices of a window are no kernels to other views.
        href: (row) =>
          payload.measured === "ranges" ? hrefOf("kernel", exactly(kernel[row] ?? "")) : null,
      },
      op_stack: { values: op_stack.map(pathText), grow: true },
      top_op: operator(top_op),
      bottom_op: operator(bottom_op),
      step: { kind: "text", values: stepNames(profiled.step, steps) },
    }),
    ...counterColumns(counters, payload.values),
    ...timelineColumns("counters", 84, "launch", shown, hrefOf),
  ];
}

function Profiled(props: PageProps) {
  const { payload, params, setParam } = props;
  const { profiled, counters, pooled } = payload;
  const columns = useColumns(() => profiledColumns(props), [payload]);
  return (
    <GridPanel
      label="Profiled kernels"
      term="counters_profiled"
      note={pooled ? `${formatCount(pooled)} more are not listed: choose fewer steps` : null}
      columns={columns}
      rowKey={(row) => String(profiled.event[row])}
      detail={(row) => (
        <div class="kernel-detail facts-wide">
          <p>{pathText(profiled.op_stack[row] ?? []) || "No operator is around the launch."}</p>
          <dl class="facts">
            {counters.map((counter, place) =>
              fact(
                counter.label,
                format(scaled(counter, [payload.values[place]?.[row] ?? null])[0], unitOf(counter)),
              ),
            )}
          </dl>
          <div class="full-name">
            <code>{profiled.kernel[row]}</code>
            <CopyButton text={profiled.kernel[row] ?? ""} label="Copy the full name" />
          </div>
        </div>
      )}
      storage="counters"
      {...gridParams(params, setParam)}
    />
  );
}

function Sampled(props: PageProps) {
  const { payload, params, setParam, steps, setSteps, hrefOf } = props;
  const whole = useAllSteps("counters", props, payload);
  const { sampled } = payload;
  const devices = [...new Set(sampled.device)];
  const device = devices.find((name) => name === params.device) ?? devices[0] ?? "";
  const [all, setAll] = useState(false);
  const charts = useMemo(
    () =>
      sampledCharts(whole.sampled_counters, whole.sampled, device, whole.steps, (step) =>
        isChosen(steps, step),
      ),
    [whole, device, steps],
  );
  return (
    <Panel
      title="Sampled counters"
      term="counters_sampled"
      note={<a href={hrefOf("trace")}>their curves are on the Trace view</a>}
      actions={
        <>
          {charts.length > FIRST_CHARTS && !all ? (
            <Button onClick={() => setAll(true)}>{`Draw all ${formatCount(charts.length)}`}</Button>
          ) : null}
          {devices.length > 1 ? (
            <Select
              label="Device"
              value={device}
              options={devices.map((value) => ({ value, label: value }))}
              onChange={(value) => setParam("device", value)}
            />
          ) : null}
        </>
      }
      flush
    >
      <div class="panel-body chart-grid">
        {charts
          .slice(0, all ? charts.length : FIRST_CHARTS)
          .map(({ counter, bars, least, greatest }) => (
            <Figure
              key={counter.name}
              title={counter.label}
              note={`samples from ${format(least, unitOf(counter))} to ${format(greatest, unitOf(counter))}`}
              table={{
                columns: [{ label: "Step" }, { label: "Mean", unit: unitOf(counter) }],
                rows: bars.map((bar) => [bar.title, bar.values[0] ?? null]),
              }}
              name={counter.name}
            >
              <StackedBars
                label={`${counter.label} per step`}
                series={[{ key: "mean", label: "mean", color: seriesColor(0) }]}
                bars={bars}
                unit={unitOf(counter)}
                height={150}
                selected={onlyStep(steps)}
                onSelect={(step) => setSteps(withOnly(steps, step))}
              />
            </Figure>
          ))}
      </div>
      <SampledTable payload={payload} />
    </Panel>
  );
}

function SampledTable({ payload: { sampled, steps } }: { payload: CountersTablePayload }) {
  return (
    <TableView
      name="counter_samples"
      rows={sampled}
      title="Sampled counters"
      additions={{
        step: {
          kind: "text",
          values: stepNames(sampled.step, steps),
          unknown: () => "outside the steps",
        },
      }}
      height={360}
      storage="counters-sampled"
    />
  );
}
