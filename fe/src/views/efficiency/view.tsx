/** The Efficiency page: how far operators and kernels are from what the hardware can do, and what limits them. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { EfficiencyGroup, EfficiencyPayload } from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { formatCount } from "../../base/units";
import { useResource } from "../../state/resource";
import { isChosen, onlyStep, viewQuery, type ViewProps, withOnly } from "../../state/view";
import { Figure, type FigureTable, Grid, Panel, Roofline, Segmented, Term } from "../../widgets";
import { Callers } from "../callers";
import { Choice, chosenOf } from "../choice";
import { useColumns } from "../columns";
import { FindingsStrip } from "../findings/view";
import { gridParams, toggleSearch } from "../grid_params";
import { InShort, Loaded, MissingList, Nothing, Notes, useAllSteps } from "../loaded";
import {
  chartOf,
  drawableRows,
  familiesOf,
  familyRows,
  ownRows,
  precisionsOf,
  rowKey,
  searchFor,
  timeWord,
} from "./model";
import { DeviceCard, Families, StepChart } from "./parts";
import { efficiencyColumns, RowDetail } from "./table";

const GROUPS: Readonly<Record<EfficiencyGroup, string>> = {
  operator: "operator and shape",
  kernel: "kernel",
};

export function EfficiencyView(props: ViewProps) {
  const group = chosenOf(GROUPS, props.params.group);
  const resource = useResource("efficiency", viewQuery(props, { group }));
  return (
    <Loaded resource={resource} shape={[60, 220, 460, 400]}>
      {(payload) =>
        payload.rows.calls.length ? (
          <EfficiencyPage {...props} payload={payload} />
        ) : (
          <Nothing
            title="There is nothing whose efficiency could be told"
            text="The selected steps hold no operator. Choose other steps."
            missing={payload.missing}
          />
        )
      }
    </Loaded>
  );
}

/** Width of the charts, px: a roofline needs some. */
const CHARTS = 400;

type PageProps = ViewProps & { payload: EfficiencyPayload };

function EfficiencyPage(props: PageProps) {
  const { payload, steps, params } = props;
  const drawable = useMemo(() => drawableRows(payload), [payload]);
  const families = useMemo(() => familiesOf(payload.rows, drawable), [payload, drawable]);
  const rows = useMemo(() => familyRows(payload, families), [payload, families]);
  const { steps: allSteps } = useAllSteps("efficiency", props, payload, { group: payload.group });
  const shared = { ...props, drawable, families, search: params.search ?? "" };
  return (
    <>
      <InShort sentences={payload.headline} />
      <FindingsStrip {...props} view="efficiency" />
      <Notes notes={payload.notes} />
      <MissingList missing={payload.missing} />
      <TablePanel {...shared}>
        {drawable.length ? <RooflineFigure {...shared} /> : null}
        {rows.length ? <Families payload={payload} rows={rows} /> : null}
        {allSteps.some((step) => step.flops > 0) ? (
          <StepChart
            payload={payload}
            steps={allSteps}
            chosen={onlyStep(steps)}
            isChosen={(index) => isChosen(steps, index)}
            onChoose={(index) => props.setSteps(withOnly(steps, index))}
          />
        ) : null}
        {payload.has_device ? (
          <section class="figure">
            <header class="figure-head">
              <h3>
                <Term id="efficiency_peak">Device and its peaks</Term>
              </h3>
            </header>
            <div>
              <DeviceCard device={payload.device} />
            </div>
          </section>
        ) : null}
      </TablePanel>
    </>
  );
}

type PanelProps = PageProps & {
  drawable: readonly number[];
  families: readonly string[];
  search: string;
};

function RooflineFigure({
  payload,
  drawable,
  families,
  hrefOf,
  search,
  params,
  setParam,
}: PanelProps) {
  const { rows, group } = payload;
  const precisions = useMemo(() => precisionsOf(rows, drawable), [rows, drawable]);
  const precision = precisions.find((item) => item === params.precision) ?? "";
  const chart = useMemo(
    () => chartOf(payload, drawable, precision, search),
    [payload, drawable, precision, search],
  );
  const groups = useMemo(
    () => families.map((label, i) => ({ label: label || "other", color: seriesColor(i) })),
    [families],
  );
  const table: FigureTable = {
    columns: [
      { label: group === "kernel" ? "Kernel" : "Operator" },
      { label: "Parameters" },
      { label: "Family" },
      { label: "Time", unit: "ns" },
      { label: "FLOP per byte", unit: "number" },
      { label: "FLOP/s", unit: "FLOP/s" },
    ],
    rows: chart.points.map((point) => [
      point.title,
      rows.parameters[Number(point.key)] ?? null,
      groups[point.group]?.label ?? "",
      point.size,
      point.intensity,
      point.rate,
    ]),
  };
  const undrawn = ownRows(payload) - drawable.length + chart.left;
  const selected = chart.points.filter((point) => point.selected).slice(0, 3);
  return (
    <>
      <Figure
        title="Roofline"
        term="efficiency_roofline"
        name="roofline"
        note={`a mark per ${group === "kernel" ? "kernel" : "operator"} and shape, as large as its ${timeWord(payload)} time${undrawn ? `; ${formatCount(undrawn)} more are in the table only` : ""}`}
        table={table}
        actions={
          precisions.length > 1 ? (
            <Segmented
              label="Precision"
              value={precision}
              options={["", ...precisions].map((value) => ({ value, label: value || "all" }))}
              onChange={(value) => setParam("precision", value || null)}
            />
          ) : null
        }
      >
        <Roofline
          label="Roofline"
          points={chart.points}
          groups={groups}
          roofs={chart.roofs}
          bandwidth={payload.device.bandwidth}
          onSelect={(key) => toggleSearch(searchFor(rows, Number(key)), search, setParam)}
        />
      </Figure>
      {selected.map((point) => (
        <div key={point.key} class="chosen">
          <RowDetail payload={payload} row={Number(point.key)} hrefOf={hrefOf} />
        </div>
      ))}
    </>
  );
}

function TablePanel({ children, ...props }: PanelProps & { children: ComponentChildren }) {
  const { payload, hrefOf, params, setParam } = props;
  const { rows, group, pooled } = payload;
  const columns = useColumns(() => efficiencyColumns(payload, hrefOf), [payload]);
  const count = rows.calls.length;
  return (
    <Panel
      title={group === "kernel" ? "Kernels" : "Operators by shape"}
      term="efficiency_view"
      flush="fill"
    >
      <Grid
        aligned
        order={{ key: "time_ns", descending: true }}
        aside={() => children}
        asideWidth={CHARTS}
        label={group === "kernel" ? "Efficiency of kernels" : "Efficiency of operators"}
        columns={columns}
        rowCount={count}
        rowKey={(row) => rowKey(rows, row)}
        pinned={pooled ? [count - 1] : []}
        detail={(row, visible) => (
          <>
            {rows.name[row] ? (
              <Callers
                {...props}
                of="operator"
                name={rows.name[row]}
                shapes={rows.input_shapes[row] ?? null}
                visible={visible.map((column, i) =>
                  i && column.key === "name" ? { ...column, key: "operator" } : column,
                )}
                shareOf="total_ns"
                whole={0}
                share={null}
              />
            ) : null}
            <div class="row-figures">
              <RowDetail payload={payload} row={row} hrefOf={hrefOf} />
            </div>
          </>
        )}
        storage={`efficiency-${group}`}
        tools={
          payload.has_device ? (
            <Choice {...props} label="Per" labels={GROUPS} param="group" />
          ) : null
        }
        empty="No operator is known."
        {...gridParams(params, setParam)}
      />
    </Panel>
  );
}
