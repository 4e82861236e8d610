/** The tables below the timeline: the chosen area, what is in view, and the hits of the search. */

import { useMemo, useState } from "preact/hooks";
import { formatCount, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import type { TimeRange } from "../../timeline/types";
import { Button, Grid, Segmented, Select, Skeleton } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { AreaTable } from "./area";
import { AreaFlame } from "./area_flame";
import { readKind } from "./kinds";
import { lookCells } from "./looks";
import { writeEvent, writeView } from "./params";
import { rangesText } from "../../base/ranges";
import type { Recording } from "./recordings";
import { useDebounced } from "./search";
import type { TraceState } from "./trace_state";
import { ownWindow, timesOf } from "./window";

/** Of the drawer's height: its head, and the tools and the margins of the table. */
const AROUND_TABLE = 100;
/** Pause before the figures of a moved view are asked for, ms. */
const REST_MS = 300;

type TableName = "area" | "view" | "hits";

export function readTable(text: string | undefined): TableName | null {
  return text === "area" || text === "view" || text === "hits" ? text : null;
}

export function Tables({ state, height }: { state: TraceState; height: number }) {
  const { area, found, set, view } = state;
  const wanted = readTable(view.params.table);
  const table = (wanted === "area" && !area) || (wanted === "hits" && found.idle) ? null : wanted;
  if (!table) return null;
  return (
    <section class="drawer" style={{ height: `${height}px` }} aria-label="Tables">
      <h2 class="visually-hidden">Tables</h2>
      <div class="wrap">
        <Segmented<TableName>
          label="Table of"
          showLabel={false}
          value={table}
          onChange={(next) => set({ table: next })}
          options={[
            { value: "view", label: "Events in view" },
            { value: "area", label: "Selected area", disabled: area === null },
            { value: "hits", label: "Search results", disabled: found.idle },
          ]}
        />
        <Actions state={state} table={table} />
        <Button
          kind="quiet"
          icon="close"
          label="Close the table"
          onClick={() => set({ table: null })}
        />
      </div>
      {table === "hits" ? (
        <Hits state={state} height={height - AROUND_TABLE} />
      ) : (
        <Figures state={state} table={table} height={height - AROUND_TABLE} />
      )}
    </section>
  );
}

function Actions({ state, table }: { state: TraceState; table: TableName }) {
  const { area, visible, span, handle } = state;
  const wanted = table === "area" ? area : table === "view" ? (visible?.view ?? null) : null;
  // The figures are those of what was recorded, not of the ground around it.
  const range = wanted && { t0: Math.max(wanted.t0, span.t0), t1: Math.min(wanted.t1, span.t1) };
  return (
    <div class="drawer-actions">
      {range && range.t1 > range.t0 ? (
        <span class="muted number">
          {formatTime(range.t1 - range.t0)}, from {formatTime(range.t0 - span.t0)} to{" "}
          {formatTime(range.t1 - span.t0)}
        </span>
      ) : null}
      {table === "area" && area ? (
        <>
          <Button kind="quiet" icon="fit" onClick={() => handle.current?.zoomTo(area)}>
            Zoom to area
          </Button>
          <Button kind="quiet" icon="close" onClick={() => state.setArea(null)}>
            Clear area
          </Button>
        </>
      ) : null}
    </div>
  );
}

function Figures({
  state,
  table,
  height,
}: {
  state: TraceState;
  table: "area" | "view";
  height: number;
}) {
  const { area, visible, recordings, choice, main, view } = state;
  const [chosen, setChosen] = useState<number | null>(null);
  const touched = useMemo(
    () => (table === "view" ? [...recordings.keys()] : [...(area?.lanes.keys() ?? [])]),
    [table, area, recordings],
  );
  const first = touched.includes(main) ? main : (touched[0] ?? main);
  const source =
    chosen !== null && (touched.length === 0 || touched.includes(chosen)) ? chosen : first;
  const seen = useDebounced(visible?.view ?? null, REST_MS) ?? visible?.view ?? state.span;
  const recording = recordings[source];
  const hrefOfEvent = (event: number): string => {
    const { t: _, ...others } = view.params;
    const sel = writeEvent({ key: recording?.key ?? "", event });
    return view.hrefOf("trace", { ...others, sel });
  };
  return (
    <>
      {recordings.length > 1 ? (
        // Figures are those of one worker at a time.
        <Select
          label="Worker"
          value={String(source)}
          options={recordings.map(({ label }, place) => ({ value: String(place), label }))}
          onChange={(value) => setChosen(Number(value))}
        />
      ) : null}
      {recording ? (
        <Statistics
          label={table === "area" ? "Events of the area" : "Events in view"}
          recording={recording}
          range={table === "area" && area ? area : seen}
          lanes={table === "area" ? (area?.lanes.get(source) ?? null) : null}
          height={height - (recordings.length > 1 ? 40 : 0)}
          onEvent={(event) => choice.reach(source, event)}
          hrefOfEvent={hrefOfEvent}
          state={state}
        />
      ) : null}
    </>
  );
}

interface StatisticsProps {
  label: string;
  recording: Recording;
  range: TimeRange;
  lanes: readonly number[] | null;
  height: number;
  onEvent: (event: number) => void;
  hrefOfEvent: (event: number) => string;
  state: TraceState;
}

function Statistics({ recording, range, lanes, state, ...table }: StatisticsProps) {
  const { query, timeline } = recording;
  const { set, view } = state;
  const kind = readKind(view.params.akind);
  const own = ownWindow({ ...range, parts: 1 }, recording, timeline.span_ns);
  const asked = own && {
    ...query,
    ...timesOf(own),
    ...(lanes ? { lanes: rangesText(lanes) } : {}),
  };
  const { data, error, stale } = useResource(
    "trace/area",
    asked && { ...asked, kind: kind === "all" ? "first" : kind },
  );
  if (!asked) return <p class="trace-note">This trace has no events in this range.</p>;
  if (error) {
    return (
      <p class="trace-note" role="alert">
        {error.message} {error.hint}
      </p>
    );
  }
  if (!data) return <Skeleton height={120} label="Loading the statistics" />;
  return (
    <div class={stale ? "drawer-content view-stale" : "drawer-content"}>
      <AreaTable
        payload={data}
        groups={timeline.groups}
        look={view.params.alook === "flame" ? "flame" : "table"}
        onLook={(look) => set({ alook: look })}
        onKind={(next) => set({ akind: next })}
        flame={(of) => (
          <AreaFlame
            query={asked}
            kind={of}
            view={view}
            height={table.height}
            onEvent={table.onEvent}
          />
        )}
        {...table}
      />
    </div>
  );
}

/** Hits by name; following a name zooms to its hits. */
function Hits({ state, height }: { state: TraceState; height: number }) {
  const { found, finder, view, visible } = state;
  const { names, namesTotal, total } = found;
  const seen: Record<string, string> = visible ? { t: writeView(visible.view) } : {};
  const columns = useColumns(
    () =>
      declaredColumns("matches", names, {
        name: {
          href: (row) =>
            view.hrefOf("trace", { ...view.params, ...seen, q: names.name[row] ?? "", re: "" }),
          onFollow: (row) => finder.name(names.name[row] ?? ""),
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
        height={height}
        storage="trace-hits"
        empty="No matches."
      />
      {namesTotal > names.name.length ? (
        <p class="trace-note">
          The {formatCount(names.name.length)} names with the longest total time, of{" "}
          {formatCount(namesTotal)}; {formatCount(total)} matches in all.
        </p>
      ) : null}
    </div>
  );
}
