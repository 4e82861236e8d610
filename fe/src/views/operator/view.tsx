/** The Operator page: which operators take the time, on the host and on the accelerator, and from where they are called. */

import type { OperatorGroup, OperatorPayload } from "../../api/types.gen";
import { viewQuery, type ViewProps } from "../../state/view";
import { GridPanel } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { exactly, gridParams, onTimeline } from "../grid_params";
import { InShort, MissingList, Nothing, viewOf } from "../loaded";
import { lacks } from "../missing";
import { Callers } from "../callers";
import { chartsBeside } from "../chart_top";
import { Choice, chosenOf } from "../choice";
import { useColumns } from "../columns";
import { framesOf, rowKey } from "./model";
import { operatorColumns, OperatorCharts } from "./parts";
import { Frames } from "./parts";

const GROUPS: Readonly<Record<OperatorGroup, string>> = {
  name: "Operator",
  shape: "+ input shape",
  stack: "+ shape + call stack",
};

export const OperatorView = viewOf("operator", [560, 480], OperatorPage, (props) =>
  viewQuery(props, { group: chosenOf(GROUPS, props.params.group) }),
);

type PageProps = ViewProps & { payload: OperatorPayload };

function OperatorPage(props: PageProps) {
  const { rows, missing } = props.payload;
  return rows.name.length ? (
    <>
      <InShort sentences={props.payload.sentences} />
      <FindingsStrip {...props} view="operator" />
      <MissingList missing={missing} />
      <OperatorTable {...props} />
    </>
  ) : (
    <Nothing
      title={
        lacks(missing, "host")
          ? "This trace has no host operators"
          : "No operators in the selected steps"
      }
      text="No host operators ran in these steps. Choose other steps."
      missing={missing}
    />
  );
}

function OperatorTable({ payload, ...props }: PageProps) {
  const { params, setParam, hrefOf } = props;
  const columns = useColumns(() => {
    const target = (name: string): Record<string, string> => ({
      group: "operator",
      ...exactly(name),
    });
    return operatorColumns(payload, {
      kernels: (name) => hrefOf("kernel", target(name)),
      timeline: (name) => hrefOf("trace", onTimeline(name)),
    });
  }, [payload]);
  const { rows } = payload;
  const order = payload.has_device ? "device_self_ns" : "host_self_ns";
  return (
    <GridPanel
      label="Operators"
      term="operator"
      fill
      columns={columns}
      rowKey={(row) => rowKey(payload, row)}
      pinned={payload.pooled > 0 ? [rows.name.length - 1] : []}
      expandable={(row) => rows.has_stack[row] === true}
      aligned
      detail={(row, visible) => {
        const stack = payload.stacks[row] ?? null;
        return stack === null ? (
          <Callers
            {...props}
            of="operator"
            name={rows.name[row] ?? ""}
            shapes={payload.group === "name" ? null : (rows.input_shapes[row] ?? null)}
            visible={visible}
            shareOf={order}
            whole={rows[order][row] ?? 0}
            share={rows.time_share[row] ?? null}
          />
        ) : (
          <div class="frames-box">
            <Frames frames={framesOf(payload.frames, stack)} />
          </div>
        );
      }}
      order={{ key: order, descending: true }}
      aside={chartsBeside(OperatorCharts, payload, props)}
      storage={`operator-${payload.group}`}
      tools={<Choice {...props} label="Group by" labels={GROUPS} param="group" />}
      empty="No operator matches the search."
      {...gridParams(params, setParam)}
    />
  );
}
