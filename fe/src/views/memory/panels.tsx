/** The panels of the Memory page about segments and changes. */

import type { Parameters } from "../../api/client";
import type {
  MemoryChangesPayload,
  MemoryDevice,
  MemoryMapPayload,
  MemoryPayload,
} from "../../api/types.gen";
import * as LIMITS from "../../base/limits.gen";
import { formatBytes, formatCount, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { otherTrace } from "../../state/runs";
import type { Params, ViewProps } from "../../state/view";
import { Button, Grid, Panel, Segmented, Select } from "../../widgets";
import { useColumns } from "../columns";
import { TableView } from "../table_view";
import { setParams } from "../grid_params";
import { Alone } from "../alone";
import { InShort, Loaded } from "../loaded";
import { Totals, type Total } from "../totals";
import { closer } from "./map";
import { CHANGE_LABELS, changesBy, peakSentences, type Stretch } from "./model";
import { changesColumns } from "./parts";
import { SegmentMap } from "./SegmentMap";

type PanelProps = ViewProps & {
  payload: MemoryPayload;
  device: MemoryDevice;
  query: Parameters["memory/alive"];
  /** The instant that is shown, ns. */
  picked: number;
};

export function MapPanel({ query, params, setParam, picked, device }: PanelProps) {
  const then = params.map === "t";
  const [pool, stream] = params.pool?.split("|") ?? [];
  const resource = useResource("memory/map", {
    ...query,
    n: String(LIMITS.memory_map.n),
    t: then ? String(picked) : undefined,
    pool: pool || undefined,
    stream: stream || undefined,
    ...(params.b0 && params.b1 ? { b0: params.b0, b1: params.b1 } : {}),
  });
  const show = (shown?: string, b0?: number, b1?: number): void =>
    setParams(setParam, { pool: shown, b0, b1 });
  const pools = resource.data?.pools;
  return (
    <Panel
      title="Segments and fragmentation"
      term="memory_map"
      note={`${device.name}, ${then ? `at ${formatTime(picked)}` : "when the snapshot was written"}`}
      actions={
        <>
          <Segmented
            label="When"
            value={then ? "t" : "end"}
            options={[
              { value: "end", label: "At the end" },
              { value: "t", label: "At the instant" },
            ]}
            onChange={(value) => {
              show();
              setParam("map", value === "t" ? "t" : null);
            }}
          />
          {pools && (pools.pool.length > 1 || pool) ? (
            <Select
              label="Pool"
              value={params.pool ?? ""}
              options={[
                { value: "", label: "all" },
                ...pools.pool.map((name, i) => ({
                  value: `${name}|${pools.stream[i] ?? ""}`,
                  label: `${name}, stream ${pools.stream[i] ?? "–"}`,
                  note: formatBytes(pools.reserved_bytes[i] ?? 0),
                })),
              ]}
              onChange={(value) => show(value || undefined)}
            />
          ) : null}
          {params.b0 ? <Button onClick={() => show(params.pool)}>Whole map</Button> : null}
        </>
      }
    >
      <Loaded resource={resource} shape={[420]}>
        {(map) => (
          <>
            <Totals parts={mapFacts(map)} />
            <SegmentMap
              map={map}
              onCell={(cell) => {
                const { b0, b1 } = closer(map, cell);
                show(params.pool, b0, b1);
              }}
              onAll={() => show(params.pool)}
            />
            <Pools map={map} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Pools({ map: { pools } }: { map: MemoryMapPayload }) {
  const rows = pools.pool.length;
  return rows > 1 ? (
    <TableView
      name="memory_pools"
      rows={pools}
      title="Pools"
      storage="memory-pools"
      height={Math.min(320, 96 + 28 * rows)}
      empty=""
    />
  ) : null;
}

function mapFacts(map: MemoryMapPayload): Total[] {
  const part = map.end_bytes - map.begin_bytes;
  const bytes = (term: string, label: string, value: number): Total => ({
    term,
    label,
    text: formatBytes(value),
  });
  return [
    bytes("memory_curve_reserved", "Reserved", map.reserved_bytes),
    ...(part < map.reserved_bytes ? [bytes("memory_map", "Of that shown", part)] : []),
    bytes("memory_map", "In use", map.allocated_bytes),
    bytes("memory_free", "Free", map.free_bytes),
    bytes("memory_largest_free", "Largest free", map.largest_free_bytes),
    bytes("memory_inactive_split", "Inactive split", map.split_bytes),
    bytes("memory_rounding", "Rounding", map.rounding_bytes),
    {
      term: "memory_fragmentation",
      label: "Fragmentation",
      text: formatShare(map.fragmentation),
    },
    { term: "memory_segment", label: "Segments", text: formatCount(map.segments) },
  ];
}

/** Between the ends of the window, else from the beginning to the instant; while two recordings are compared, between their peaks. */
export function ChangesPanel(props: PanelProps & { window: Stretch | null }) {
  const { payload, device, params, setParam, window, picked, query, selection } = props;
  const choices = changesBy(payload, device);
  const by = choices.find((id) => id === params.of) ?? choices[0];
  const other = otherTrace(props);
  const { run, worker, span } = other ?? selection;
  const moments: Params = other
    ? { earlier_first: params.given2 ? "" : "1" }
    : { t: String(window?.t0 ?? 0), t2: String(window?.t1 ?? picked) };
  const resource = useResource(by || other ? "memory/changes" : null, {
    ...query,
    ...moments,
    ...(by ? { by } : {}),
    run2: run,
    worker2: worker,
    span2: span,
  });
  const { data } = resource;
  const panel = by ? (
    <Panel
      title={other ? "What changed between the peaks" : "What grew"}
      term="memory_changes"
      note={
        data
          ? `${formatBytes(data.before_bytes)} ${other ? "before" : `at ${formatTime(data.before_ns)}`}, ${formatBytes(data.after_bytes)} ${other ? "after" : `at ${formatTime(data.after_ns)}`}`
          : null
      }
      actions={
        <Segmented
          label="By"
          value={by}
          options={choices.map((value) => ({ value, label: CHANGE_LABELS[value] }))}
          onChange={(value) => setParam("of", value)}
        />
      }
      flush
    >
      <Loaded resource={resource} shape={[300]}>
        {(data) => <Changes {...props} data={data} by={by} />}
      </Loaded>
    </Panel>
  ) : null;
  return other ? (
    <>
      <Loaded resource={resource} shape={[60]}>
        {(data) => <InShort sentences={peakSentences(device, data)} />}
      </Loaded>
      {panel}
      <Alone {...props} what="The rest is" />
    </>
  ) : (
    panel
  );
}

type ChangesProps = ViewProps & { data: MemoryChangesPayload; by: keyof typeof CHANGE_LABELS };

function Changes({ data, by, hrefOf }: ChangesProps) {
  const columns = useColumns(() => changesColumns(data, by, hrefOf), [data]);
  return (
    <>
      <Grid
        label="What grew"
        columns={columns}
        storage="memory-changes"
        empty="Nothing was held at either moment."
      />
      {data.pooled ? (
        <p class="memory-note muted">{`Besides ${formatBytes(data.pooled_delta_bytes)} in ${formatCount(data.pooled)} smaller changes.`}</p>
      ) : null}
    </>
  );
}
