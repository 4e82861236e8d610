/** The Ranks page: who holds the others back, how late each rank comes in each step, and how fast communication is. */

import { useMemo } from "preact/hooks";
import type { DistributedPayload, ProcessGroupsPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Figure, HeatMap } from "../../widgets";
import { Stragglers } from "../critical_path/stragglers";
import { Folded } from "../folded";
import { FirstLook, InShort, MissingList, Notes, viewOf } from "../loaded";
import { TableView } from "../table_view";
import { chosenColumns, columnsText } from "./columns";
import { MeasureMap } from "./map";
import { MOST_ROWS } from "./map_model";
import { communicates } from "./model";
import { Clock, OverlapChart, WaitingChart } from "./parts";
import { BlameTable, FiguresTable, OperationsTable, UnmatchedTable, WorkersTable } from "./tables";
import { timelineHref } from "./timeline_link";

export const DistributedView = viewOf(
  "distributed",
  [60, 340, 300, 400],
  DistributedPage,
  ({ selection }) => selection,
);

export type PageProps = ViewProps & { payload: DistributedPayload };

function DistributedPage(props: PageProps) {
  const { payload } = props;
  const { workers } = payload;
  const several = workers.length > 1;
  return (
    <>
      {payload.progress < 1 ? <FirstLook /> : null}
      <InShort sentences={payload.headline} />
      <Notes notes={payload.notes} />
      <MissingList missing={payload.missing} />
      {several && payload.steps.length ? <MeasureMap {...props} /> : null}
      {payload.blame.length ? <BlameTable {...props} /> : null}
      {payload.costs.length ? <Stragglers {...props} /> : null}
      {payload.operations.kind.length ? (
        <>
          <h2 class="ranks-section">Transfers</h2>
          <OperationsTable {...props} />
          {payload.ready ? <ProcessGroups {...props} /> : null}
        </>
      ) : null}
      {payload.unmatched.length ? <UnmatchedTable payload={payload} /> : null}
      {payload.steps.length ? <Overviews {...props} /> : null}
      <Folded title="Nodes, processes and devices" open={!several}>
        {() => <WorkersTable {...props} />}
      </Folded>
      {payload.ready > 1 ? <Clock payload={payload} /> : null}
      {several ? <Links {...props} /> : null}
    </>
  );
}

/** How the time of a step is shared, per rank; of a single one per step. */
function Overviews(props: PageProps) {
  const { payload, steps } = props;
  const columns = chosenColumns(steps, payload);
  const alone = payload.workers.length === 1;
  const note = [columnsText(columns, payload), payload.step_source].filter(Boolean).join(", ");
  if (payload.workers.length > MOST_ROWS)
    return (
      <Folded title="Computation, synchronizing and communication overview" note={note}>
        {() => <FiguresTable {...props} />}
      </Folded>
    );
  return (
    <>
      <Folded title="Computation/communication overview" note={note} open={alone}>
        {() => <OverlapChart {...{ payload, columns }} />}
      </Folded>
      {communicates(payload) ? (
        <Folded title="Synchronizing/communication overview" note={note} open={alone}>
          {() => <WaitingChart {...{ payload, columns }} />}
        </Folded>
      ) : null}
    </>
  );
}

const MOST_LINKED = 16;

function Links({ payload: { workers }, hrefOf, selection }: PageProps) {
  const first = [...workers.keys()].slice(0, MOST_LINKED);
  const all = first.length === workers.length ? "all ranks" : `the first ${MOST_LINKED} ranks`;
  return (
    <p class="ranks-links">
      <a href={timelineHref(hrefOf, selection, workers, first)}>Timeline of {all}</a>
      {" · "}
      <a href={hrefOf("critical_path", { ranks: "all" })}>Critical path through all ranks</a>
    </p>
  );
}

const HEIGHT = 320;

/** The process groups: what each moves, how near that comes to the link, and who sends how much to whom. */
const ProcessGroups = viewOf(
  "distributed/groups",
  [200, 300],
  Groups,
  ({ selection }) => selection,
);

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
      {names.length > 1 ? (
        <Folded title="Who sends how much to whom">{() => <Matrix payload={payload} />}</Folded>
      ) : null}
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
    <Figure
      title="Bytes from each to each"
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
        hue="communication"
        order={order}
      />
      <p class="heat-rule">{rule}</p>
    </Figure>
  );
}
