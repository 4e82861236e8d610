/** The Kernel page: which kernels take the accelerator's time, how they fill it, and which operators launched them. */

import { useMemo } from "preact/hooks";
import type { EfficiencyPayload, KernelGroup, KernelPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, GridPanel, Panel } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { exactly, gridParams, onTimeline } from "../grid_params";
import { InShort, MissingList, Nothing, viewOf } from "../loaded";
import { lacks } from "../missing";
import { Callers } from "../callers";
import { chartsBeside } from "../chart_top";
import { Choice, chosenOf } from "../choice";
import { useColumns } from "../columns";
import { roofsOfRows } from "../efficiency/roof_cell";
import { TableView } from "../table_view";
import { rowKey, unattributed } from "./model";
import {
  countedColumns,
  kernelColumns,
  KernelCharts,
  KernelDetail,
  UnattributedList,
} from "./parts";

const GROUPS: Readonly<Record<KernelGroup | "family", string>> = {
  name: "Kernel",
  family: "Family",
  operator: "+ operator",
  properties: "+ operator + launch properties",
};

export function KernelView(props: ViewProps) {
  const View = chosenOf(GROUPS, props.params.group) === "family" ? ByFamily : ByKernel;
  return <View {...props} />;
}

const ByKernel = viewOf(
  "kernel",
  [360, 480],
  (props: PageProps) => {
    const { rows, measured, missing } = props.payload;
    if (rows.name.length) return <KernelPage {...props} />;
    return measured.name.length ? <Counted {...props} /> : <NoKernels missing={missing} />;
  },
  (props) => viewQuery(props, { group: chosenOf(GROUPS, props.params.group) as KernelGroup }),
);

/** Of a recording of counters: what was counted, without times. */
function Counted({ payload, params, setParam }: PageProps) {
  const columns = useColumns(() => countedColumns(payload), [payload]);
  const { name, calls } = payload.measured;
  const launches = calls.reduce((sum, n) => sum + n, 0);
  return (
    <>
      <InShort
        sentences={[
          `Counters were measured in ${formatCount(launches)} launches of ${formatCount(name.length)} kernels.`,
          "Each is the mean of its launches; times were not recorded.",
        ]}
      />
      <GridPanel
        label="Kernels"
        term="counters_view"
        fill
        columns={columns}
        storage="kernel-counted"
        {...gridParams(params, setParam)}
      />
    </>
  );
}

function NoKernels({ missing }: Pick<KernelPayload, "missing">) {
  return (
    <Nothing
      title={
        lacks(missing, "device", "device_times", "device_of_rank")
          ? "This trace has no kernels"
          : "No kernels in the selected steps"
      }
      text="No kernels were launched in these steps. Choose other steps."
      missing={missing}
    />
  );
}

type PageProps = ViewProps & { payload: KernelPayload };

function KernelPage(props: PageProps) {
  const { payload, setParam } = props;
  const unknown = useMemo(() => unattributed(payload), [payload]);
  const { kernels, with_operator } = payload.attribution;
  const lost = kernels - with_operator;
  return (
    <>
      <InShort sentences={payload.sentences} />
      <FindingsStrip {...props} view="kernel" />
      <MissingList missing={payload.missing} />
      <Panel
        title="Kernels"
        term="kernel"
        flush="fill"
        note={
          lost && payload.group === "name" ? (
            <button type="button" class="link" onClick={() => setParam("group", "operator")}>
              {formatCount(lost)} of {formatCount(kernels)} launches without an operator
            </button>
          ) : null
        }
      >
        <UnattributedList items={unknown} />
        <KernelTable {...props} />
      </Panel>
    </>
  );
}

const ByFamily = viewOf(
  "efficiency",
  [480],
  (props: FamilyProps) =>
    props.payload.has_device && props.payload.rows.calls.length ? (
      <FamilyTable {...props} />
    ) : (
      <NoKernels missing={props.payload.missing} />
    ),
  (props) => viewQuery(props, { group: "kernel" as const }),
);

type FamilyProps = ViewProps & { payload: EfficiencyPayload };

function FamilyTable({ payload, ...props }: FamilyProps) {
  const { params, setParam } = props;
  const { families_together: rows, time_ns, vocabulary } = payload;
  const [longest = ""] = rows.name.map((name) => name ?? UNMODELLED);
  return (
    <>
      <InShort
        sentences={[
          `The family ${longest} takes ${formatTime(rows.time_ns[0])} of ${formatTime(time_ns)} on the ${vocabulary.device}.`,
        ]}
      />
      <TableView
        name="kernels_together"
        title="Kernels by family"
        term="efficiency_family"
        {...{ rows, vocabulary }}
        fill
        additions={{
          name: { unknown: () => UNMODELLED },
          of_roof: roofsOfRows(rows, vocabulary),
        }}
        tools={<Choice {...props} label="Group by" labels={GROUPS} param="group" />}
        {...gridParams(params, setParam)}
      />
    </>
  );
}

/** What is called so has no performance model. */
const UNMODELLED = "not modelled";

function KernelTable({ payload, ...props }: PageProps) {
  const { params, setParam } = props;
  // What the operators tell comes later, and only of kernels as a whole.
  const { data: work } = useResource(
    payload.group === "name" ? "efficiency" : null,
    viewQuery(props, { group: "kernel" as const }),
  );
  const columns = useColumns(
    () => kernelColumns(payload, operatorHref(props), work),
    [payload, work],
  );
  const { rows } = payload;
  return (
    <Grid
      label="Kernels"
      columns={columns}
      rowKey={(row) => rowKey(payload, row)}
      pinned={payload.pooled > 0 ? [rows.name.length - 1] : []}
      aligned
      detail={(row, visible) => (
        <>
          <KernelDetail
            name={rows.name[row] ?? ""}
            timelineHref={props.hrefOf("trace", onTimeline(rows.name[row] ?? ""))}
          />
          <Callers
            {...props}
            of="kernel"
            name={rows.name[row] ?? ""}
            visible={visible}
            shareOf="total_ns"
            whole={rows.total_ns[row] ?? 0}
            share={rows.time_share[row] ?? null}
          />
        </>
      )}
      expandable={(row) => payload.pooled === 0 || row !== rows.name.length - 1}
      order={{ key: "total_ns", descending: true }}
      aside={chartsBeside(KernelCharts, payload, props)}
      storage={`kernel-${payload.group}`}
      tools={<Choice {...props} label="Group by" labels={GROUPS} param="group" />}
      empty="No kernel matches the search."
      {...gridParams(params, setParam)}
    />
  );
}

const operatorHref =
  ({ hrefOf }: ViewProps) =>
  (name: string) =>
    hrefOf("operator", exactly(name));
