/** The Memory page: how much was held when, by whom, and what was alive at the peak or at any other moment. */

import type { Parameters } from "../../api/client";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type {
  MemoryAlivePayload,
  MemoryBlocksPayload,
  MemoryDevice,
  MemoryPayload,
  MemoryStatisticsPayload,
} from "../../api/types.gen";
import * as LIMITS from "../../base/limits.gen";
import { formatBytes, formatCount, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { otherTrace } from "../../state/runs";
import type { ViewProps } from "../../state/view";
import {
  Button,
  Card,
  Grid,
  GridPanel,
  Panel,
  type Search,
  Segmented,
  Select,
  Treemap,
} from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { exactly, gridParams, setParams } from "../grid_params";
import { InShort, Loaded, MissingList, Notes, Nothing, viewOf } from "../loaded";
import { nameOfKey } from "../parts_by_name";
import { Totals } from "../totals";
import { useColumns } from "../columns";
import {
  aliveBy,
  aliveParts,
  CHANGE_LABELS,
  groupsOf,
  readDevice,
  readTime,
  readWindow,
  tablesOf,
  windowOfSteps,
  type AliveGroup,
  type Stretch,
  type TableId,
} from "./model";
import { ChangesPanel, FailedPanels, MapPanel } from "./panels";
import {
  aliveColumns,
  aliveFacts,
  blockColumns,
  CategoryLegend,
  Curve,
  statisticsColumns,
} from "./parts";
import { rowsOf } from "../rows";

/** Parts of the curve: more than the px of a wide window would only cost time. */
const POINTS = String(LIMITS.memory_curve.n);
const TABLE_HEIGHT = 400;

const TABLE_LABELS: Readonly<Record<TableId, string>> = {
  blocks: "Blocks",
  operator: "By operator",
  module: "By module",
};

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

function MemoryPage(props: PageProps) {
  const { payload, device, params, setParam } = props;
  const { steps, setSteps } = props;
  // A window of its own is narrower than the chosen steps, until others are chosen.
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
  const query = { ...props.selection, device: String(device.key) };
  const time = readTime(params.t);
  const alive = useResource("memory/alive", time === null ? query : { ...query, t: String(time) });
  const picked = time ?? alive.data?.time_ns ?? device.peak_ns;
  const compared = otherTrace(props) !== null;
  const shared = { ...props, window, setWindow, query, picked };
  const [failure] = payload.failures;
  return (
    <>
      {compared ? (
        <ChangesPanel {...shared} />
      ) : (
        <InShort sentences={failure ? [failure.sentence, ...failure.why] : device.headline} />
      )}
      <FindingsStrip {...props} view="memory" />
      <Notes notes={payload.notes} />
      <FailedPanels {...shared} />
      <CurvePanel {...shared} />
      <Loaded resource={alive} shape={[420]}>
        {(data) => <AlivePanel {...shared} alive={data} atPeak={time === null} />}
      </Loaded>
      {device.has_map ? <MapPanel {...shared} /> : null}
      {compared ? null : <ChangesPanel {...shared} />}
      <TablePanel {...shared} />
      <MissingList missing={payload.missing} />
    </>
  );
}

type PanelProps = PageProps & {
  window: Stretch | null;
  setWindow: (window: Stretch | null) => void;
  query: DeviceQuery;
  picked: number;
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

function AlivePanel({
  alive,
  atPeak,
  params,
  setParam,
  hrefOf,
}: PanelProps & { alive: MemoryAlivePayload; atPeak: boolean }) {
  const [search, setSearch] = useState<Search>({ text: "", regex: false });
  const groups = groupsOf(alive.rows);
  const group = groups.find((id) => id === params.by) ?? groups[0] ?? "operator";
  const rows = useMemo(() => aliveBy(alive.rows, group), [alive, group]);
  const columns = useColumns(() => aliveColumns(rows, group, hrefOf), [rows, group]);
  const show = (key: string): void => {
    const name = nameOfKey(key);
    if (name === null) return;
    const wanted = exactly(name);
    setSearch({ text: wanted.search, regex: wanted.regex === "1" });
  };
  return (
    <GridPanel
      title={`Alive at ${atPeak ? "the peak" : formatTime(alive.time_ns)}`}
      term="memory_alive"
      note={atPeak ? formatTime(alive.time_ns) : null}
      actions={
        <>
          <Choice<AliveGroup>
            label="By"
            value={group}
            labels={CHANGE_LABELS}
            ids={groups}
            onChange={(next) => setParam("by", next)}
          />
          {atPeak ? null : <Button onClick={() => setParam("t", null)}>At the peak</Button>}
        </>
      }
      label="Alive"
      columns={columns}
      storage="memory-alive"
      height={TABLE_HEIGHT}
      search={search}
      onSearch={setSearch}
      empty="No block is known that was alive then."
    >
      <div class="table-notes">
        <Totals parts={aliveFacts(alive)} />
        <CategoryLegend rows={alive.rows} />
        <Treemap
          label={`What is alive, by ${CHANGE_LABELS[group]}`}
          parts={aliveParts(alive, group)}
          unit="bytes"
          onSelect={show}
        />
      </div>
    </GridPanel>
  );
}

function TablePanel(props: PanelProps) {
  const { payload, device, params, setParam, window, query } = props;
  const tables = tablesOf(payload, device);
  const table = tables.find((id) => id === params.table) ?? tables[0];
  const asked = windowed(query, window);
  const blocks = useResource(table === "blocks" ? "memory/blocks" : null, asked);
  const group = table === "blocks" ? undefined : table;
  const statistics = useResource("memory/statistics", group ? { ...asked, group } : null);
  if (!table) return null;
  const tools = (
    <Choice<TableId>
      label="Show"
      value={table}
      labels={TABLE_LABELS}
      ids={tables}
      onChange={(next) =>
        setParams(setParam, { sort: null, search: null, regex: null, table: next })
      }
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

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  ids: readonly T[];
  labels: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
}

/** Nothing where there is no choice. */
function Choice<T extends string>({ ids, labels, ...rest }: ChoiceProps<T>) {
  return ids.length > 1 ? (
    <Segmented<T> {...rest} options={ids.map((value) => ({ value, label: labels[value] }))} />
  ) : null;
}
