/** The Distributed page: who waits for whom, how much of communication is hidden, and how fast it is. */

import type { DistributedPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { stepName } from "../../base/words";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Panel, Progress, Select } from "../../widgets";
import { Stragglers } from "../critical_path/stragglers";
import { FindingsStrip } from "../findings/view";
import { InShort, Loaded, MissingList, Notes } from "../loaded";
import { communicates, incomplete, readStep } from "./model";
import { Clock, LateMap, OverlapChart, WaitingChart } from "./parts";
import { BlameTable, OperationsTable, UnmatchedTable, WorkersTable } from "./tables";
import { adoptStyles } from "../../base/styles";
import tables from "../tables.css?inline";

adoptStyles(tables);

export function DistributedView(props: ViewProps) {
  const { run, worker, span } = props.selection;
  const resource = useResource("distributed", { run, worker, span });
  useUntilComplete(resource);
  return (
    <Loaded
      resource={resource}
      shape={[60, 340, 300, 400]}
      diagnosisHref={props.hrefOf("diagnosis")}
    >
      {(payload) => <DistributedPage {...props} payload={payload} />}
    </Loaded>
  );
}

export type PageProps = ViewProps & { payload: DistributedPayload };

function DistributedPage(props: PageProps) {
  const { payload } = props;
  const { workers } = payload;
  const several = workers.length > 1;
  return (
    <>
      {incomplete(payload) ? (
        <Progress
          value={payload.progress}
          label="Reading the workers"
          detail={`${formatCount(payload.ready)} of ${formatCount(workers.length)} are here`}
        />
      ) : null}
      <InShort sentences={payload.headline} />
      <Notes notes={payload.notes} />
      <MissingList missing={payload.missing} />
      <FindingsStrip {...props} view="distributed" />
      {payload.steps.length ? <Charts {...props} /> : null}
      {several && payload.matched ? <LateMap payload={payload} /> : null}
      {payload.blame.length ? <BlameTable {...props} /> : null}
      {payload.ready > 1 ? <Stragglers {...props} /> : null}
      {payload.operations.kind.length ? <OperationsTable {...props} /> : null}
      {payload.unmatched.length ? <UnmatchedTable payload={payload} /> : null}
      <WorkersTable {...props} />
      {payload.ready > 1 ? <Clock payload={payload} /> : null}
    </>
  );
}

function Charts({ payload, params, setParam }: PageProps) {
  const step = readStep(params.step, payload.steps);
  const waits = communicates(payload);
  const names = payload.steps.map((name) => ({ value: name, label: stepName(name) }));
  return (
    <Panel
      title={
        step === null
          ? "Average step per worker"
          : `Step ${stepName(payload.steps[step] ?? "")} per worker`
      }
      note={payload.step_source}
      actions={
        names.length > 1 ? (
          <Select
            label="Step"
            value={step === null ? "" : (params.step ?? "")}
            options={[{ value: "", label: `average of ${names.length}` }, ...names]}
            onChange={(name) => setParam("step", name || null)}
          />
        ) : null
      }
    >
      <div class={waits ? "chart-grid" : ""}>
        <OverlapChart payload={payload} step={step} />
        {waits ? <WaitingChart payload={payload} step={step} /> : null}
      </div>
    </Panel>
  );
}
