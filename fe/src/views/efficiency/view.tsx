/** The Efficiency page: how far operators and kernels are from the roof that limits each of them. */

import { useMemo, useRef, useState } from "preact/hooks";
import type { EfficiencyGroup, EfficiencyPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { viewQuery, type ViewProps } from "../../state/view";
import { Figure, Grid, Roofline, Term, useWidth } from "../../widgets";
import { Callers } from "../callers";
import { Choice, chosenOf } from "../choice";
import { useColumns } from "../columns";
import { FindingsStrip } from "../findings/view";
import { Folded } from "../folded";
import { exactly, gridParams } from "../grid_params";
import { InShort, MissingList, Notes, Nothing, viewOf } from "../loaded";
import { Chosen } from "./chosen";
import { chartOf, drawableRows, foremost, LIMITS, operatorOf, ownRows, rowKey } from "./model";
import { DeviceCard, StepFacts } from "./parts";
import { efficiencyColumns } from "./table";

const GROUPS: Readonly<Record<EfficiencyGroup, string>> = {
  operator: "Operator and shape",
  kernel: "+ kernel",
};

export const EfficiencyView = viewOf(
  "efficiency",
  [60, 220, 460, 400],
  (props: PageProps) =>
    props.payload.rows.calls.length ? (
      <EfficiencyPage {...props} />
    ) : (
      <Nothing
        title="There is nothing whose efficiency could be told"
        text="The selected steps hold no operator. Choose other steps."
        missing={props.payload.missing}
      />
    ),
  (props) => viewQuery(props, { group: chosenOf(GROUPS, props.params.group) }),
);

/** Height of the table, px; below this width of it, px, there is room for shares without words. */
const HEIGHT = 560;
const NARROW = 520;

type PageProps = ViewProps & { payload: EfficiencyPayload };

function EfficiencyPage(props: PageProps) {
  const { payload, params } = props;
  const { rows } = payload;
  const drawable = useMemo(() => drawableRows(payload), [payload]);
  const [picked, setPicked] = useState<string | null>(null);
  // By its name, since other steps have other rows.
  const chosen = useMemo(() => {
    const named = (wanted: (row: number) => boolean): number =>
      rows.calls.findIndex((_, row) => row < ownRows(payload) && wanted(row));
    const row =
      picked === null
        ? params.search
          ? named((at) => exactly(rows.name[at] ?? "").search === params.search)
          : -1
        : named((at) => rowKey(rows, at) === picked);
    return row < 0 ? foremost(payload) : row;
  }, [payload, rows, picked, params.search]);
  const choose = (row: number): void => setPicked(rowKey(rows, row));
  return (
    <>
      <InShort sentences={payload.headline} />
      <FindingsStrip {...props} view="efficiency" />
      <MissingList missing={payload.missing} />
      <div class="beside-roofline">
        <Table {...props} {...{ chosen, choose }} />
        <div>
          {drawable.length ? <RooflineFigure {...props} {...{ drawable, chosen, choose }} /> : null}
          <Chosen {...props} row={chosen} />
        </div>
      </div>
      <Notes notes={payload.notes} />
      <More {...props} />
    </>
  );
}

interface Choosing {
  chosen: number;
  choose: (row: number) => void;
}

/** The device's peaks and what each step reaches of them. */
function More({ payload }: PageProps) {
  const steps = payload.steps.filter((step) => step.flops > 0);
  if (!steps.length && !payload.has_device) return null;
  return (
    <Folded title="Peaks of the device, MFU per step">
      {() => (
        <div class="chart-grid">
          {payload.has_device ? (
            <section>
              <h3>
                <Term id="efficiency_peak">Device and its peaks</Term>
              </h3>
              <DeviceCard device={payload.device} words={payload.vocabulary} />
            </section>
          ) : null}
          {steps.length ? (
            <section>
              <h3>
                <Term id="efficiency_mfu">MFU per step</Term>
              </h3>
              <StepFacts steps={steps} />
            </section>
          ) : null}
        </div>
      )}
    </Folded>
  );
}

function RooflineFigure(props: PageProps & Choosing & { drawable: readonly number[] }) {
  const { payload, drawable, chosen, choose } = props;
  const chart = useMemo(() => chartOf(payload, drawable, chosen), [payload, drawable, chosen]);
  const undrawn = ownRows(payload) - drawable.length + chart.left;
  return (
    <Figure
      title="Roofline"
      term="efficiency_roofline"
      note={`larger marks take longer${undrawn ? `; the table has ${formatCount(undrawn)} more` : ""}`}
    >
      <Roofline
        label="Roofline"
        points={chart.points}
        groups={LIMITS}
        roofs={chart.roofs}
        bandwidth={payload.device.bandwidth}
        onSelect={(key) => choose(Number(key))}
      />
    </Figure>
  );
}

function Table({ chosen, choose, ...props }: PageProps & Choosing) {
  const { payload, hrefOf, params, setParam } = props;
  const { rows, group, pooled } = payload;
  const box = useRef<HTMLDivElement>(null);
  const narrow = useWidth(box) < NARROW;
  const columns = useColumns(() => efficiencyColumns(payload, hrefOf, narrow), [payload, narrow]);
  const count = rows.calls.length;
  return (
    <div ref={box}>
      <Grid
        aligned
        tall
        {...{ columns, chosen }}
        onChoose={choose}
        height={HEIGHT}
        order={{ key: "time_ns", descending: true }}
        label={group === "kernel" ? "Efficiency of kernels" : "Efficiency of operators"}
        rowKey={(row) => rowKey(rows, row)}
        pinned={pooled ? [count - 1] : []}
        expandable={(row) => operatorOf(rows, row) !== null}
        detail={(row, visible) => (
          <Callers
            {...props}
            of="operator"
            name={rows.name[row] ?? ""}
            shapes={rows.input_shapes[row] ?? null}
            visible={visible.map(({ draw: _, beneath: __, ...column }, i) =>
              i && column.key === "name" ? { ...column, key: "operator" } : column,
            )}
            shareOf="total_ns"
            whole={0}
            share={null}
          />
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
    </div>
  );
}
