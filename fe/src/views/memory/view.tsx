/** The Memory page: how much was held when, by whom, and what was alive at the peak or at any other moment. */

import { type Parameters, served } from "../../api/client";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type {
  MemoryAlivePayload,
  MemoryBlocksPayload,
  MemoryDevice,
  MemoryPayload,
  MemoryStatisticsPayload,
  WorkerItem,
} from "../../api/types.gen";
import * as LIMITS from "../../base/limits.gen";
import { formatBytes, formatCount, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Resource, useResource, useResources } from "../../state/resource";
import { find, otherTrace, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import type { ViewProps } from "../../state/view";
import { Button, Card, Grid, GridPanel, Panel, Select, unbroken } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { Choice, chosenOf } from "../choice";
import { gridParams, setParams } from "../grid_params";
import { InShort, Loaded, MissingList, Notes, Nothing, viewOf } from "../loaded";
import { workerLabel } from "../run_options";
import { SourceWithHeat } from "../source";
import { Totals } from "../totals";
import { pick, useColumns } from "../columns";
import {
  aliveBy,
  CHANGE_LABELS,
  groupsOf,
  readDevice,
  readTime,
  readWindow,
  tablesOf,
  windowOfSteps,
  type Stretch,
  type TableId,
} from "./model";
import { ChangesPanel, MapPanel } from "./panels";
import {
  aliveColumns,
  aliveFacts,
  blockColumns,
  Curve,
  Held,
  Shortage,
  statisticsColumns,
} from "./parts";
import { grouped, rowsOf } from "../rows";

/** Parts of the curve: more than the px of a wide window would only cost time. */
const POINTS = String(LIMITS.memory_curve.n);
const TABLE_HEIGHT = 400;

const TABLE_LABELS: Readonly<Record<TableId, string>> = {
  blocks: "Blocks",
  operator: "By operator",
  module: "By module",
};

/** The labels of some. */
const labelsOf = <T extends string>(ids: readonly T[], labels: Readonly<Record<T, string>>) =>
  Object.fromEntries(ids.map((id) => [id, labels[id]])) as Record<T, string>;

export const MemoryView = viewOf(
  "memory",
  [60, 300, 420],
  (props: Omit<PageProps, "device">) => {
    const { devices, missing } = props.payload;
    const device = readDevice(devices, props.params.device);
    return device ? (
      <MemoryPage {...props} device={device} />
    ) : (
      <Nothing
        title="This trace holds no memory record"
        text="The allocators wrote nothing while it was recorded."
        missing={missing}
      />
    );
  },
  ({ selection }) => selection,
);

type PageProps = ViewProps & { payload: MemoryPayload; device: MemoryDevice };

/** What the moment in the address is of, else that of the failed allocation, else the peak. */
function useMoment({ payload, device, params, selection }: PageProps) {
  const [failure] = payload.failures;
  const failed = failure?.device === device.key ? failure.time_ns : null;
  const time = readTime(params.t) ?? failed;
  const query = { ...selection, device: String(device.key) };
  const asked = time === null ? query : { ...query, t: String(time) };
  const alive = useResource("memory/alive", asked);
  const picked = time ?? alive.data?.time_ns ?? device.peak_ns;
  const when =
    picked === failed
      ? "then"
      : picked === device.peak_ns
        ? "at the peak"
        : `at ${formatTime(picked)}`;
  return { query, asked, alive, picked, failed, when };
}

/** The window in the address, narrower than the chosen steps until others are chosen. */
function useWindow({ payload, params, setParam, steps, setSteps }: PageProps) {
  const window = readWindow(params, payload.span_ns) ?? windowOfSteps(rowsOf(payload.steps), steps);
  const setWindow = (next: Stretch | null): void => {
    setParams(setParam, { t0: next?.t0, t1: next?.t1 });
    if (!next && steps.first !== null) setSteps({ ...steps, first: null, last: null });
  };
  const chosen = useRef(steps);
  useEffect(() => {
    if (chosen.current !== steps && steps.first !== null)
      setParams(setParam, { t0: null, t1: null });
    chosen.current = steps;
  }, [steps]); // eslint-disable-line react-hooks/exhaustive-deps
  return { window, setWindow };
}

function MemoryPage(props: PageProps) {
  const { payload, device } = props;
  const moment = useMoment(props);
  const compared = otherTrace(props) !== null;
  const shared = { ...props, ...useWindow(props), ...moment };
  const [failure] = payload.failures;
  return (
    <>
      {compared ? (
        <ChangesPanel {...shared} />
      ) : (
        <InShort sentences={failure ? [failure.sentence, ...failure.why] : device.headline} />
      )}
      <First {...shared} />
      <FindingsStrip {...props} view="memory" />
      <Notes notes={payload.notes} />
      {served ? <HeldSource {...shared} /> : null}
      <Loaded resource={moment.alive} shape={[420]}>
        {(data) => <AlivePanel {...shared} data={data} />}
      </Loaded>
      {device.has_map ? <MapPanel {...shared} /> : null}
      {compared ? null : <ChangesPanel {...shared} />}
      <TablePanel {...shared} />
      <MissingList missing={payload.missing} />
    </>
  );
}

/** The failed request to scale, the curve, and what held the memory. */
function First(props: PanelProps) {
  const { payload, alive, when, failed, picked } = props;
  const [failure] = payload.failures;
  return (
    <>
      {failure ? <Shortage failure={failure} /> : null}
      <CurvePanel {...props} />
      <Loaded resource={alive} shape={[160]}>
        {({ allocated_bytes, frames }) => (
          <section>
            <h2 class="memory-held">
              What {picked === failed ? "held" : "holds"} {formatBytes(allocated_bytes)} {when}{" "}
              <small class="muted">
                {frames.kind.includes("line") ? "by line" : "by what allocated it"}; width is memory
              </small>
            </h2>
            <Held frames={frames} />
          </section>
        )}
      </Loaded>
    </>
  );
}

function HeldSource({ asked }: PanelProps) {
  const resource = useResource("memory/source", asked);
  return (
    <Loaded resource={resource} shape={[240]}>
      {(payload) => <SourceWithHeat payload={payload} />}
    </Loaded>
  );
}

/** What a recording of allocations alone begins with on Overview, and what the other ranks of its run say. */
export const FirstMemory = viewOf("memory", [300, 160], (props: Omit<PageProps, "device">) => {
  const [device] = props.payload.devices;
  return device ? <FirstOf {...props} device={device} /> : null;
});

function FirstOf(props: PageProps) {
  const { selection } = props;
  // Snapshots say neither when nor in which job they were made: all of the run are meant.
  const run = useStore(runsStore, (runs) => find(runs.payload, selection).run);
  const others = (run?.workers ?? [])
    .filter(({ name }) => name !== selection.worker)
    .slice(0, MOST_RANKS);
  return (
    <>
      <First {...props} {...useWindow(props)} {...useMoment(props)} />
      <OtherRanks {...props} workers={others} />
    </>
  );
}

/** How many other ranks say what they held. */
const MOST_RANKS = 15;

/** What a rank says first. */
const answerOf = ({ failures, devices }: MemoryPayload): string =>
  failures[0]?.sentence ?? devices[0]?.headline[0] ?? "";

/** The answers of the other ranks, each on its own page; equal ones are told once. */
function OtherRanks({
  workers,
  payload,
  selection,
  hrefOf,
}: PageProps & { workers: readonly WorkerItem[] }) {
  const others = workers.map((worker) => ({
    name: workerLabel(worker),
    trace: { ...selection, worker: worker.name, span: worker.spans[0]?.name ?? "" },
  }));
  const told = useResources(
    "memory",
    others.map(({ trace }) => trace),
  ).map(({ data }) => (data ? answerOf(data) : ""));
  const own = answerOf(payload);
  const answers = grouped(others.keys(), (place) => told[place] ?? "");
  return (
    <ul class="memory-ranks">
      {[...answers].map(([answer, places]) =>
        answer ? (
          <li key={answer}>
            {places.length > 1 ? `${formatCount(places.length)} other ranks: ` : ""}
            {pick(others, places).map(({ name, trace }, i) => (
              <span key={name}>
                {i ? ", " : ""}
                <a href={hrefOf("overview", {}, trace)}>
                  {places.length > 1 ? name : capitalised(name)}
                </a>
              </span>
            ))}
            : {answer === own ? "the same." : unbroken(answer)}
          </li>
        ) : null,
      )}
      <li>
        <a href={hrefOf("memory")}>All blocks</a>
      </li>
    </ul>
  );
}

type PanelProps = PageProps & {
  window: Stretch | null;
  setWindow: (window: Stretch | null) => void;
  query: DeviceQuery;
  /** That of the moment. */
  asked: DeviceQuery;
  picked: number;
  alive: Resource<MemoryAlivePayload>;
  /** When the allocation failed, where one did on this device. */
  failed: number | null;
  /** The moment in words. */
  when: string;
};

type DeviceQuery = Parameters["memory/alive"];

const windowed = (query: DeviceQuery, window: Stretch | null): Parameters["memory/blocks"] =>
  window ? { ...query, t0: String(window.t0), t1: String(window.t1) } : query;

function CurvePanel({ payload, device, setParam, window, setWindow, query, picked }: PanelProps) {
  const resource = useResource("memory/curve", { ...windowed(query, window), n: POINTS });
  const whole = { t0: 0, t1: payload.span_ns };
  return (
    <Card>
      <Loaded resource={resource} shape={[296]}>
        {(curve) => (
          <Curve
            {...{ curve, whole, picked }}
            categories={payload.categories}
            known={payload.categories_known}
            steps={rowsOf(payload.steps)}
            window={window ?? whole}
            onWindow={setWindow}
            onPick={(time) => setParam("t", String(time))}
            note={
              window
                ? `${formatTime(window.t0)} to ${formatTime(window.t1)}`
                : "drag to zoom, click to see what was alive"
            }
            actions={
              <>
                {payload.devices.length > 1 ? (
                  <Select
                    label="Device"
                    value={String(device.key)}
                    options={payload.devices.map(({ key, name, peak_bytes }) => ({
                      value: String(key),
                      label: name,
                      note: `peak ${formatBytes(peak_bytes)}`,
                    }))}
                    onChange={(key) => setParams(setParam, { device: key, t: null })}
                  />
                ) : null}
                {window ? <Button onClick={() => setWindow(null)}>Whole recording</Button> : null}
              </>
            }
          />
        )}
      </Loaded>
    </Card>
  );
}

function AlivePanel(props: PanelProps & { data: MemoryAlivePayload }) {
  const { data, params, setParam, hrefOf, device, picked, failed, when } = props;
  const labels = labelsOf(groupsOf(data.rows), CHANGE_LABELS);
  const group = chosenOf(labels, params.by);
  const rows = useMemo(() => aliveBy(data.rows, group), [data, group]);
  const columns = useColumns(() => aliveColumns(rows, group, hrefOf), [rows, group]);
  const peak = failed === null ? null : String(device.peak_ns);
  return (
    <GridPanel
      title={`Alive ${when}`}
      term="memory_alive"
      note={formatTime(data.time_ns)}
      actions={
        <>
          <Choice {...props} label="By" labels={labels} param="by" />
          {picked === device.peak_ns ? null : (
            <Button onClick={() => setParam("t", peak)}>At the peak</Button>
          )}
        </>
      }
      label="Alive"
      columns={columns}
      storage="memory-alive"
      height={TABLE_HEIGHT}
      empty="No block is known that was alive then."
    >
      <div class="table-notes">
        <Totals parts={aliveFacts(data)} />
      </div>
    </GridPanel>
  );
}

function TablePanel(props: PanelProps) {
  const { payload, device, params, window, query } = props;
  const labels = labelsOf(tablesOf(payload, device), TABLE_LABELS);
  const table = Object.keys(labels).length ? chosenOf(labels, params.table) : undefined;
  const asked = windowed(query, window);
  const blocks = useResource(table === "blocks" ? "memory/blocks" : null, asked);
  const group = table === "blocks" ? undefined : table;
  const statistics = useResource("memory/statistics", group ? { ...asked, group } : null);
  if (!table) return null;
  const tools = (
    <Choice
      {...props}
      label="Show"
      labels={labels}
      param="table"
      resets={["sort", "search", "regex"]}
    />
  );
  return (
    <Panel
      title="What was allocated and released"
      term="memory_block"
      note={window ? "in the window" : "in the whole recording"}
      flush
    >
      <Loaded<TableData> resource={table === "blocks" ? blocks : statistics} shape={[TABLE_HEIGHT]}>
        {(data) => <Table {...props} data={data} table={table} tools={tools} />}
      </Loaded>
    </Panel>
  );
}

type TableData = MemoryBlocksPayload | MemoryStatisticsPayload;

function Table({
  data,
  table,
  tools,
  hrefOf,
  params,
  setParam,
}: PanelProps & { data: TableData; table: TableId; tools: JSX.Element }) {
  const columns = useColumns(
    () => ("group" in data ? statisticsColumns(data, hrefOf) : blockColumns(data.rows, hrefOf)),
    [data],
  );
  const rowCount = columns[0]?.values.length ?? 0;
  const [rest, why] =
    "group" in data
      ? [data.outside_bytes, `outside any known ${data.group}`]
      : [
          data.pooled_bytes,
          `in ${formatCount(data.pooled)} smaller blocks: a shorter window lists them`,
        ];
  return (
    <>
      <Grid
        key={table}
        label={`Memory: ${TABLE_LABELS[table]}`}
        columns={columns}
        pinned={"group" in data && data.pooled ? [rowCount - 1] : []}
        storage={`memory-${table}`}
        tools={tools}
        empty="Nothing was allocated or released."
        {...gridParams(params, setParam)}
      />
      {rest ? <p class="memory-note muted">{`Besides ${formatBytes(rest)} ${why}.`}</p> : null}
    </>
  );
}
