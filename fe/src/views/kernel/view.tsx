/** The Kernel page: which kernels take the accelerator's time, how they fill it, and which operators launched them. */

import { useMemo } from "preact/hooks";
import type { KernelGroup, KernelPayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, Panel } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { exactly, gridParams, onTimeline, readSort, showPart } from "../grid_params";
import { Loaded, MissingList, Nothing } from "../loaded";
import { lacks } from "../missing";
import { Callers } from "../callers";
import { ChartTop, topOf } from "../chart_top";
import { Choice, chosenOf } from "../choice";
import { useColumns } from "../columns";
import { rowKey, unattributed } from "./model";
import {
  AttributionLine,
  kernelColumns,
  KernelCharts,
  KernelDetail,
  UnattributedList,
} from "./parts";

const GROUPS: Readonly<Record<KernelGroup, string>> = {
  name: "Kernel",
  operator: "+ operator",
  properties: "+ operator + launch properties",
};

export function KernelView(props: ViewProps) {
  const group = chosenOf(GROUPS, props.params.group);
  const resource = useResource("kernel", viewQuery(props, { group }));
  return (
    <Loaded resource={resource} shape={[360, 480]}>
      {(payload) =>
        payload.rows.name.length ? (
          <KernelPage {...props} payload={payload} />
        ) : (
          <Nothing
            title={
              lacks(payload.missing, "device", "device_times", "device_of_rank")
                ? "This trace has no kernels"
                : "No kernels in the selected steps"
            }
            text="No kernels were launched in these steps. Choose other steps."
            missing={payload.missing}
            actions={
              lacks(payload.missing, "device_times") ? (
                <a href={props.hrefOf("counters")}>See the counters of each kernel</a>
              ) : null
            }
          />
        )
      }
    </Loaded>
  );
}

type PageProps = ViewProps & { payload: KernelPayload };

function KernelPage(props: PageProps) {
  const { payload, setParam } = props;
  const unknown = useMemo(() => unattributed(payload), [payload]);
  return (
    <>
      <FindingsStrip {...props} view="kernel" />
      <MissingList missing={payload.missing} />
      <Panel title="Kernels" term="kernel" flush="fill">
        <div class="table-notes">
          <AttributionLine
            attribution={payload.attribution}
            onWhy={payload.group === "name" ? () => setParam("group", "operator") : undefined}
          />
          <UnattributedList items={unknown} />
        </div>
        <KernelTable {...props} />
      </Panel>
    </>
  );
}

function KernelTable({ payload, ...props }: PageProps) {
  const { params, setParam } = props;
  const columns = useColumns(() => kernelColumns(payload, operatorHref(props)), [payload]);
  const { rows } = payload;
  return (
    <Grid
      label="Kernels"
      columns={columns}
      rowCount={rows.name.length}
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
      aside={(found) => (
        <>
          <ChartTop params={params} setParam={setParam} />
          <KernelCharts
            payload={payload}
            found={found}
            sortedBy={readSort(params.sort)?.key ?? ""}
            top={topOf(params)}
            onSelect={(key) => showPart(key, params.search, setParam)}
          />
        </>
      )}
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
