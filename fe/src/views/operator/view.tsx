/** The Operator page: which operators take the time, on the host and on the accelerator, and from where they are called. */

import type { OperatorGroup, OperatorPayload } from "../../api/types.gen";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, Panel, Segmented } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { exactly, gridParams, onTimeline, readSort, showPart } from "../grid_params";
import { Loaded, MissingList, Nothing } from "../loaded";
import { lacks } from "../missing";
import { useColumns } from "../columns";
import { chartOf, framesOf, readGroup, rowKey } from "./model";
import { operatorColumns, OperatorChart } from "./parts";
import { Frames, Stacks } from "./stacks";
import css from "../tables.css?inline";

adoptStyles(css);

export function OperatorView(props: ViewProps) {
  const group = readGroup(props.params.group);
  const resource = useResource("operator", viewQuery(props, { group }));
  return (
    <Loaded resource={resource} shape={[560, 480]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) =>
        payload.rows.name.length ? (
          <OperatorPage {...props} payload={payload} group={group} />
        ) : (
          <Nothing
            title={
              lacks(payload.missing, "host")
                ? "This trace has no host operators"
                : "No operators in the selected steps"
            }
            text="No host operators ran in these steps. Choose other steps."
            missing={payload.missing}
            diagnosisHref={props.hrefOf("diagnosis")}
          />
        )
      }
    </Loaded>
  );
}

type PageProps = ViewProps & { payload: OperatorPayload; group: OperatorGroup };

function OperatorPage({ payload, group, ...props }: PageProps) {
  return (
    <>
      <FindingsStrip {...props} view="operator" />
      <MissingList missing={payload.missing} />
      <Panel title="Operators" term="operator" flush="fill">
        <OperatorTable {...props} payload={payload} group={group} />
      </Panel>
    </>
  );
}

function OperatorTable({ payload, group, ...props }: PageProps) {
  const { params, setParam, hrefOf } = props;
  const columns = useColumns(() => {
    const target = (name: string): Record<string, string> => ({
      group: "properties",
      ...exactly(name),
    });
    return operatorColumns(payload, {
      kernels: (name) => hrefOf("kernel", target(name)),
      timeline: (name) => hrefOf("trace", onTimeline(name)),
    });
  }, [payload]);
  const { rows } = payload;
  return (
    <Grid
      label="Operators"
      columns={columns}
      rowCount={rows.name.length}
      rowKey={(row) => rowKey(payload, row)}
      pinned={payload.pooled > 0 ? [rows.name.length - 1] : []}
      expandable={(row) => rows.has_stack[row] === true}
      detail={(row) => {
        const stack = payload.stacks[row] ?? null;
        return stack === null ? (
          <StacksOf {...props} payload={payload} row={row} />
        ) : (
          <Frames frames={framesOf(payload.frames, stack)} />
        );
      }}
      order={{ key: payload.has_device ? "device_self_ns" : "host_self_ns", descending: true }}
      aside={(found) => (
        <OperatorChart
          chart={chartOf(payload, found, readSort(params.sort)?.key ?? "")}
          device={payload.vocabulary.device}
          onSelect={(key) => showPart(key, params.search, setParam)}
        />
      )}
      storage={`operator-${payload.group}`}
      tools={
        <Segmented<OperatorGroup>
          label="Group by"
          value={group}
          onChange={(next) => setParam("group", next === "name" ? null : next)}
          options={[
            { value: "name", label: "Operator" },
            { value: "shape", label: "+ input shape" },
            { value: "stack", label: "+ shape + call stack" },
          ]}
        />
      }
      empty="No operator matches the search."
      {...gridParams(params, setParam)}
    />
  );
}

/** What is below an open row: the call stacks, fetched when it opens. */
function StacksOf({
  payload,
  row,
  ...props
}: ViewProps & { payload: OperatorPayload; row: number }) {
  const name = payload.rows.name[row] ?? "";
  const shapes = payload.group === "name" ? null : (payload.rows.input_shapes[row] ?? null);
  const resource = useResource("operator/stacks", viewQuery(props, { name, shapes }));
  return (
    <Loaded resource={resource} shape={[72]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(answer) =>
        answer.stacks.length ? (
          <Stacks
            stacks={answer.stacks}
            without={answer.without}
            hasDevice={payload.has_device}
            device={payload.vocabulary.device}
          />
        ) : (
          <Nothing
            title="No call stack"
            text="No call of this operator has a call stack."
            missing={answer.missing}
          />
        )
      }
    </Loaded>
  );
}
