/** The Distributed page: who waits for whom, how much of communication is hidden, and how fast it is. */

import { useMemo } from "preact/hooks";
import type { DistributedPayload, ProcessGroupsPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Card, Figure, HeatMap, Panel, Progress } from "../../widgets";
import { Stragglers } from "../critical_path/stragglers";
import { FindingsStrip } from "../findings/view";
import { InShort, Loaded, MissingList, Notes } from "../loaded";
import { TableView } from "../table_view";
import { chosenColumns, columnsText } from "./columns";
import { MOST_BARS } from "./many_workers";
import { MeasureMap } from "./map";
import { communicates, incomplete } from "./model";
import { byStep, Clock, OverlapChart, WaitingChart } from "./parts";
import { BlameTable, FiguresTable, OperationsTable, UnmatchedTable, WorkersTable } from "./tables";

export function DistributedView(props: ViewProps) {
  const resource = useResource("distributed", props.selection);
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[60, 340, 300, 400]}>
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

function Charts({ payload, steps }: PageProps) {
  const columns = chosenColumns(steps, payload);
  const waits = communicates(payload);
  return (
    <Panel
      title={byStep(payload, columns) ? "Per step" : `Per worker, ${columnsText(columns, payload)}`}
      note={payload.step_source}
    >
      <div class={waits ? "chart-grid" : ""}>
        <OverlapChart {...{ payload, columns }} />
        {waits ? <WaitingChart {...{ payload, columns }} /> : null}
      </div>
    </Panel>
  );
}

const HEIGHT = 320;

/** The process groups: what each moves, how near that comes to the link, and who sends how much to whom. */
function ProcessGroups(props: ViewProps) {
  const resource = useResource("distributed/groups", props.selection);
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[200, 300]}>
      {(payload) => <Groups payload={payload} />}
    </Loaded>
  );
}

function Groups({ payload }: { payload: ProcessGroupsPayload }) {
  const { groups, names, notes } = payload;
  if (!groups.calls.length) return null;
  return (
    <>
      <TableView
        name="process_groups"
        rows={groups}
        title="Process groups"
        term="distributed_groups"
        height={HEIGHT}
        storage="distributed-groups"
      />
      {names.length > 1 ? <Matrix payload={payload} /> : null}
      <Notes notes={notes} />
    </>
  );
}

function Matrix({ payload }: { payload: ProcessGroupsPayload }) {
  const { names, sent_bytes, side, together, rule } = payload;
  const order = useMemo(() => [...names.keys()], [names]);
  const columns = useMemo(
    () => (side === "rank" ? names.map((name) => name.replace(/^rank /, "")) : names),
    [names, side],
  );
  const each = { rank: "Ranks", node: "Nodes", ranks: `Each ${formatCount(together)} ranks` }[side];
  return (
    <Card>
      <Figure
        title="Who sends how much to whom"
        term="distributed_matrix"
        note={`${each}: from row to column`}
        table={{
          columns: [
            { label: "From" },
            ...names.map((name) => ({ label: `to ${name}`, unit: "bytes" as const })),
          ],
          rows: names.map((name, row) => [name, ...(sent_bytes[row] ?? [])]),
        }}
      >
        <HeatMap
          label="Bytes from each to each"
          rows={names}
          columns={columns}
          columnWord="to"
          values={sent_bytes}
          unit="bytes"
          without="itself"
          order={order}
          fit
        />
        <p class="heat-rule">{rule}</p>
      </Figure>
    </Card>
  );
}
