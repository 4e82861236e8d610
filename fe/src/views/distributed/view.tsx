/** The Distributed page: who waits for whom, how much of communication is hidden, and how fast it is. */

import type { DistributedPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Panel, Progress, Select } from "../../widgets";
import { Stragglers } from "../critical_path/stragglers";
import { FindingsStrip } from "../findings/view";
import { InShort, Loaded, MissingList, Notes } from "../loaded";
import { columnNames, readColumn, stepsPerColumn } from "./columns";
import { ProcessGroups } from "./groups";
import { MOST_BARS } from "./many";
import { MeasureMap } from "./map";
import { communicates, incomplete } from "./model";
import { Clock, OverlapChart, WaitingChart } from "./parts";
import { FiguresTable } from "./figures_table";
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
      {several && payload.steps.length ? <MeasureMap {...props} /> : null}
      {payload.blame.length ? <BlameTable {...props} /> : null}
      {payload.ready > 1 ? <Stragglers {...props} /> : null}
      {workers.length > MOST_BARS ? <FiguresTable {...props} /> : null}
      {payload.operations.kind.length ? <OperationsTable {...props} /> : null}
      {payload.ready && payload.operations.kind.length ? <ProcessGroups {...props} /> : null}
      {payload.unmatched.length ? <UnmatchedTable payload={payload} /> : null}
      <WorkersTable {...props} />
      {payload.ready > 1 ? <Clock payload={payload} /> : null}
    </>
  );
}

function Charts({ payload, params, setParam }: PageProps) {
  const column = readColumn(params.step, payload);
  const waits = communicates(payload);
  const names = columnNames(payload).map((label, place) => ({
    value: payload.steps[payload.column_begin[place] ?? 0] ?? "",
    label,
  }));
  const [chosen, several] = [names[column ?? -1], stepsPerColumn(payload) > 1];
  return (
    <Panel
      title={
        chosen
          ? `${several ? "Average of steps" : "Step"} ${chosen.label} per worker`
          : "Average step per worker"
      }
      note={payload.step_source}
      actions={
        names.length > 1 ? (
          <Select
            label="Step"
            value={chosen?.value ?? ""}
            options={[{ value: "", label: `average of ${payload.steps.length}` }, ...names]}
            onChange={(name) => setParam("step", name || null)}
          />
        ) : null
      }
    >
      <div class={waits ? "chart-grid" : ""}>
        <OverlapChart payload={payload} column={column} />
        {waits ? <WaitingChart payload={payload} column={column} /> : null}
      </div>
    </Panel>
  );
}
