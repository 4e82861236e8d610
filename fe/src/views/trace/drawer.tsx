/** The tables below the timeline: the chosen area, what is in view, and the hits of the search. */

import type { ComponentChildren } from "preact";
import { MATCHES } from "../../api/tables.gen";
import type { AreaPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { useResource, type Resource } from "../../state/resource";
import type { Area, TimeRange } from "../../timeline/types";
import { Button, Grid, Segmented, Select, Skeleton } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { AreaTable } from "./area";
import { lookCells } from "./looks";
import { rangesText } from "./ranges";
import type { Recording } from "./recordings";
import type { Found } from "./search";
import { ownWindow } from "./window";

export type TableName = "area" | "view" | "hits";

export function readTable(text: string | undefined): TableName | null {
  return text === "area" || text === "view" || text === "hits" ? text : null;
}

interface DrawerProps {
  table: TableName;
  height: number;
  hasArea: boolean;
  hasHits: boolean;
  onTable: (table: TableName | null) => void;
  actions: ComponentChildren;
  children: ComponentChildren;
}

export function Drawer({
  table,
  height,
  hasArea,
  hasHits,
  onTable,
  actions,
  children,
}: DrawerProps) {
  return (
    <section class="drawer" style={{ height: `${height}px` }} aria-label="Tables">
      <h2 class="visually-hidden">Tables</h2>
      <div class="drawer-head">
        <Segmented<TableName>
          label="Table of"
          showLabel={false}
          value={table}
          onChange={onTable}
          options={[
            { value: "view", label: "Events in view" },
            { value: "area", label: "Selected area", disabled: !hasArea },
            { value: "hits", label: "Search results", disabled: !hasHits },
          ]}
        />
        {actions}
        <Button kind="quiet" icon="close" label="Close the table" onClick={() => onTable(null)} />
      </div>
      {children}
    </section>
  );
}

interface StatisticsProps {
  label: string;
  recordings: readonly Recording[];
  source: number;
  range: TimeRange;
  lanes: readonly number[] | null;
  height: number;
  onEvent: (source: number, event: number) => void;
  hrefOfEvent: (source: number, event: number) => string;
}

export function Statistics({
  label,
  recordings,
  source,
  range,
  lanes,
  height,
  onEvent,
  hrefOfEvent,
}: StatisticsProps) {
  const recording = recordings[source];
  const own = recording
    ? ownWindow({ ...range, parts: 1 }, recording.offset, recording.timeline.span_ns)
    : null;
  const query =
    recording && own
      ? {
          ...recording.query,
          t0: String(Math.floor(own.t0)),
          t1: String(Math.max(Math.floor(own.t0) + 1, Math.ceil(own.t1))),
          ...(lanes ? { lanes: rangesText([...lanes].sort((a, b) => a - b)) } : {}),
        }
      : null;
  const resource = useResource("trace/area", query);
  if (!recording || !own) return <p class="drawer-note">This trace has no events in this range.</p>;
  return (
    <Answer resource={resource}>
      {(payload) => (
        <AreaTable
          label={label}
          payload={payload}
          groups={recording.timeline.groups}
          height={height}
          onEvent={(event) => onEvent(source, event)}
          hrefOfEvent={(event) => hrefOfEvent(source, event)}
        />
      )}
    </Answer>
  );
}

function Answer({
  resource,
  children,
}: {
  resource: Resource<AreaPayload>;
  children: (payload: AreaPayload) => ComponentChildren;
}) {
  const { data, error, stale } = resource;
  if (error) {
    return (
      <p class="drawer-note" role="alert">
        {error.message} {error.hint}
      </p>
    );
  }
  if (!data) return <Skeleton height={120} label="Loading the statistics" />;
  return (
    <div class={stale ? "drawer-content drawer-stale" : "drawer-content"}>{children(data)}</div>
  );
}

/** `12.3 ms, from 100 ms to 112 ms; 1 234 events`. */
export function stretchText({ t0, t1 }: TimeRange, origin: number): string {
  return `${formatTime(t1 - t0)}, from ${formatTime(t0 - origin)} to ${formatTime(t1 - origin)}`;
}

interface SourceChoiceProps {
  recordings: readonly Recording[];
  source: number;
  onSource: (source: number) => void;
}

/** Figures are those of one worker at a time. */
export function SourceChoice({ recordings, source, onSource }: SourceChoiceProps) {
  if (recordings.length < 2) return null;
  return (
    <Select
      label="Worker"
      value={String(source)}
      options={recordings.map((item, place) => ({ value: String(place), label: item.label }))}
      onChange={(value) => onSource(Number(value))}
    />
  );
}

export const sourcesOf = (area: Area | null): number[] => (area ? [...area.lanes.keys()] : []);

interface HitsProps {
  found: Found;
  height: number;
  hrefOfName: (name: string) => string;
  onName: (name: string) => void;
}

/** Hits by name; following a name zooms to its hits. */
export function Hits({ found, height, hrefOfName, onName }: HitsProps) {
  const { names, namesTotal, total } = found;
  const columns = useColumns(
    () =>
      declaredColumns(MATCHES, names, {
        name: {
          href: (row) => hrefOfName(names.name[row] ?? ""),
          onFollow: (row) => onName(names.name[row] ?? ""),
        },
        look: lookCells(names.look),
      }),
    [names],
  );
  return (
    <div class="drawer-content">
      <Grid
        label="Search results"
        columns={columns}
        rowCount={names.name.length}
        height={height}
        storage="trace-hits"
        empty="No matches."
      />
      {namesTotal > names.name.length ? (
        <p class="drawer-note">
          The {formatCount(names.name.length)} names with the longest total time, of{" "}
          {formatCount(namesTotal)}; {formatCount(total)} matches in all.
        </p>
      ) : null}
    </div>
  );
}
