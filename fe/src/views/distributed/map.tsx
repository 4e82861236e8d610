/** The heat map of workers and steps: one measure of each, who is far above the others, and what a chosen cell leads to. */

import { useMemo, useState } from "preact/hooks";
import { formatCount, formatTime } from "../../base/units";
import type { DistributedMapPayload, DistributedPayload, Measure } from "../../api/types.gen";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Card, Checkbox, Figure, HeatMap, Segmented, Select } from "../../widgets";
import { Loaded } from "../loaded";
import { columnNames, columnOf, readColumn, stepsPerColumn } from "./columns";
import { chosenCell, type MapOrder, MEASURES, orderOf, readMeasure, readOrder } from "./map_model";
import { readWorker, traceOf, workerName } from "./model";
import { timelineHref } from "./timeline_link";

type MapProps = ViewProps & { payload: DistributedPayload };

export function MeasureMap(props: MapProps) {
  const { payload, params, selection } = props;
  const measure = readMeasure(params.measure, payload.matched > 0);
  const resource = useResource("distributed/map", { ...selection, measure });
  useUntilComplete(resource);
  return (
    <Card>
      <Loaded resource={resource} shape={[400]}>
        {(map) => <MapFigure {...props} wanted={measure} measure={map.measure} map={map} />}
      </Loaded>
    </Card>
  );
}

/** `wanted`: the measure whose map may still be on its way. */
type FigureProps = MapProps & { wanted: Measure; measure: Measure; map: DistributedMapPayload };

function MapFigure(props: FigureProps) {
  const { payload, params, setParam, setSteps, steps, measure, map } = props;
  const { workers } = payload;
  const { title, label, term } = MEASURES[measure];
  const by = readOrder(params.by);
  const [fit, setFit] = useState(true);
  const rows = useMemo(() => workers.map(workerName), [workers]);
  const columns = useMemo(() => columnNames(map), [map]);
  const order = useMemo(() => orderOf(by, map, workers), [by, map, workers]);
  const note = noteOf(payload, map);
  // Where each row has its name a second one beside it says nothing.
  const marks = useMemo(
    () =>
      rows.length > MOST_ROWS
        ? map.outliers.map(({ worker }) => ({ row: worker, label: rows[worker] ?? "" }))
        : [],
    [map, rows],
  );
  const [row, column] = [readWorker(params.at, workers), readColumn(params.step, map)];
  const onPick = (worker: number, at: number): void => {
    setParam("at", workers[worker]?.worker ?? null);
    const first = map.column_begin[at] ?? 0;
    setParam("step", map.steps[first] ?? null);
    const next = map.column_begin[at + 1] ?? map.steps.length;
    const [from = -1, to = -1] = [first, next - 1].map((step) => payload.own_steps[step]);
    if (from >= 0 && to >= from) setSteps({ ...steps, first: from, last: to });
  };
  return (
    <Figure
      title={title}
      term={term}
      table={{
        columns: [
          { label: "Worker" },
          ...columns.map((name) => ({ label: `step ${name}`, unit: "ns" as const })),
        ],
        rows: order.map((place) => [
          rows[place] ?? "",
          ...columns.map((_, at) => map.values_ns[place]?.[at] ?? null),
        ]),
      }}
      actions={<MapTools {...{ by, fit, setFit, setParam, workers }} measure={props.wanted} />}
    >
      <HeatMap
        label={`${label} by worker and step`}
        {...{ rows, columns, order, note, marks, fit, onPick }}
        rowWord={workers.every(({ rank }) => rank !== null) ? "rank" : "worker"}
        columnWord="step"
        perColumn={stepsPerColumn(map)}
        values={map.values_ns}
        unit="ns"
        picked={row !== null && column !== null ? { row, column } : null}
      />
      <Chosen {...props} row={row} column={column} />
      <Outliers {...props} />
    </Figure>
  );
}

/** What holds a step back, said of the cell of the worker that does. */
function noteOf({ blame }: DistributedPayload, map: DistributedMapPayload) {
  return (worker: number, column: number): string => {
    const item = blame.find(
      (candidate) => candidate.worker === worker && columnOf(map, candidate.step) === column,
    );
    return item
      ? `It holds this step back by ${formatTime(item.held_ns)}. What takes longer on it: ${item.text || "not known"}.`
      : "";
  };
}

interface ToolsProps {
  by: MapOrder;
  fit: boolean;
  measure: Measure;
  workers: DistributedPayload["workers"];
  setFit: (fit: boolean) => void;
  setParam: ViewProps["setParam"];
}

/** Rows above this are drawn thinner, or together, unless each of them is wanted. */
const MOST_ROWS = 83;

function MapTools({ by, fit, measure, workers, setFit, setParam }: ToolsProps) {
  const nodes = new Set(workers.map(({ node }) => node));
  return (
    <>
      <Select
        label="Show"
        value={measure}
        options={Object.entries(MEASURES).map(([value, item]) => ({ value, label: item.label }))}
        onChange={(value) => setParam("measure", value)}
      />
      <Segmented<MapOrder>
        label="Order"
        value={by}
        options={[
          { value: "rank", label: "by rank" },
          { value: "largest", label: measure === "late" ? "latest first" : "largest first" },
          ...(nodes.size > 1 ? [{ value: "node" as const, label: "by node" }] : []),
        ]}
        onChange={(value) => setParam("by", value === "rank" ? null : value)}
      />
      {workers.length > MOST_ROWS ? (
        <Checkbox label="All in sight" checked={fit} onChange={setFit} />
      ) : null}
    </>
  );
}

type ChosenProps = FigureProps & { row: number | null; column: number | null };

/** The chosen worker and step, and where they lead. */
function Chosen({ payload, map, measure, hrefOf, selection, row, column }: ChosenProps) {
  const worker = row === null ? undefined : payload.workers[row];
  if (row === null || !worker) return null;
  const trace = traceOf(selection, worker);
  return (
    <p class="heat-chosen" role="status">
      <strong>{chosenCell(payload.workers, map, measure, row, column)}</strong>{" "}
      <a href={hrefOf("overview", {}, trace)}>Its overview</a>
      {" · "}
      <a href={hrefOf("trace", {}, trace)}>Its timeline</a>
      {map.outliers.length || payload.workers.length > 1 ? (
        <>
          {" · "}
          <a href={timelineHref(hrefOf, selection, payload.workers, besideIt(map, row))}>
            Its timeline beside the median&apos;s
          </a>
        </>
      ) : null}
    </p>
  );
}

/** A worker, and the one in the middle of all by this measure. */
function besideIt(map: DistributedMapPayload, row: number): number[] {
  const known = map.means_ns.flatMap((mean, place) => (mean === null ? [] : [{ mean, place }]));
  const order = known.sort((a, b) => a.mean - b.mean);
  return [...new Set([row, order[order.length >> 1]?.place ?? row])];
}

const MOST_NAMED = 8;

function Outliers({ payload, map, hrefOf, selection }: FigureProps) {
  const { outliers } = map;
  if (!outliers.length) return null;
  const more = outliers.length - MOST_NAMED;
  return (
    <div class="heat-outliers">
      <h4>Far above the others</h4>
      <ul class="notes">
        {outliers.slice(0, MOST_NAMED).map(({ worker, text }) => (
          <li key={worker}>{text}</li>
        ))}
        {more > 0 ? <li>{`${formatCount(more)} more, named beside the map.`}</li> : null}
      </ul>
      <a
        href={timelineHref(
          hrefOf,
          selection,
          payload.workers,
          outliers.map(({ worker }) => worker),
        )}
      >
        Show them on the timeline
      </a>
    </div>
  );
}
