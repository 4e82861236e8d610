/** The heat map of ranks and steps: one measure of each, whom each step waited for, what each rank costs, and what a chosen cell leads to. */

import { useMemo } from "preact/hooks";
import { formatCount, formatTime } from "../../base/units";
import type { DistributedMapPayload, DistributedPayload, Measure } from "../../api/types.gen";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Card, Figure, HeatMap, Segmented, Select } from "../../widgets";
import { Loaded } from "../loaded";
import { columnNames, columnOf, readColumn, stepsPerColumn } from "./columns";
import {
  chosenCell,
  costTexts,
  framedCells,
  type MapOrder,
  mapRows,
  MEASURES,
  offered,
  orderOf,
  pooledText,
  readMeasure,
  readOrder,
} from "./map_model";
import { readWorker, traceOf } from "./model";
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
  const { workers, costs, unjudged } = payload;
  const { title, label, term, hue } = MEASURES[measure];
  const by = readOrder(params.by);
  const [row, column] = [readWorker(params.at, workers), readColumn(params.step, map)];
  const rows = useMemo(
    () => mapRows(payload, map, orderOf(by, map, workers), row),
    [payload, map, by, workers, row],
  );
  const columns = useMemo(() => columnNames(map), [map]);
  const framed = useMemo(() => framedCells(payload, map), [payload, map]);
  const beside = useMemo(() => costTexts(payload), [payload]);
  const onPick = (place: number, at: number): void => {
    if (place >= workers.length) return;
    setParam("at", workers[place]?.worker ?? null);
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
      note={
        payload.blame.length ? "per step; framed: the rank that the step waited for" : "per step"
      }
      table={{
        columns: [
          { label: "Rank" },
          ...columns.map((name) => ({ label: `step ${name}`, unit: "ns" as const })),
        ],
        rows: orderOf(by, map, workers).map((place) => [
          rows.names[place] ?? "",
          ...columns.map((_, at) => map.values_ns[place]?.[at] ?? null),
        ]),
      }}
      actions={<MapTools {...{ by, setParam, workers }} measure={props.wanted} />}
    >
      <HeatMap
        label={`${label} by rank and step`}
        rows={rows.names}
        values={rows.values}
        order={rows.order}
        {...{ columns, framed, hue, onPick }}
        note={noteOf(payload, map)}
        faint={stepsPerColumn(map) > 1 ? [] : unjudged}
        strong={costs.map(({ worker }) => worker)}
        {...(costs.length ? { beside: { head: "Holds the others back", texts: beside } } : {})}
        columnWord="step"
        perColumn={stepsPerColumn(map)}
        unit="ns"
        picked={row !== null && column !== null ? { row, column } : null}
      />
      {rows.pooled ? <p class="heat-rule">{pooledText(rows)}</p> : null}
      <Chosen {...props} row={row} column={column} />
      <Outliers {...props} />
    </Figure>
  );
}

/** Of the cell of a rank that a step waited for: by how much, and what takes longer; and of a step that is not judged, that. */
function noteOf({ blame, unjudged }: DistributedPayload, map: DistributedMapPayload) {
  return (worker: number, column: number): string => {
    const item = blame.find(
      (candidate) => candidate.worker === worker && columnOf(map, candidate.step) === column,
    );
    return [
      item
        ? `The step waited for it by ${formatTime(item.held_ns)}. What takes longer on it: ${item.text || "not known"}.`
        : "",
      stepsPerColumn(map) === 1 && unjudged.includes(column)
        ? "The step is no usual one, such as a cold one, and counts in no verdict."
        : "",
    ]
      .filter(Boolean)
      .join(" ");
  };
}

interface ToolsProps {
  by: MapOrder;
  measure: Measure;
  workers: DistributedPayload["workers"];
  setParam: ViewProps["setParam"];
}

function MapTools({ by, measure, workers, setParam }: ToolsProps) {
  const nodes = new Set(workers.map(({ node }) => node));
  return (
    <>
      <Select
        label="Order"
        value={by}
        options={[
          { value: "rank", label: "by rank" },
          { value: "largest", label: "largest first" },
          ...(nodes.size > 1 ? [{ value: "node", label: "by node" }] : []),
        ]}
        onChange={(value) => setParam("by", value === "rank" ? null : value)}
      />
      <Segmented<Measure>
        label="Show"
        showLabel={false}
        value={measure}
        options={offered(measure).map((value) => ({ value, label: MEASURES[value].label }))}
        onChange={(value) => setParam("measure", value)}
      />
    </>
  );
}

type ChosenProps = FigureProps & { row: number | null; column: number | null };

/** The chosen rank and step, and where they lead. */
function Chosen({ payload, map, measure, hrefOf, selection, row, column }: ChosenProps) {
  const worker = row === null ? undefined : payload.workers[row];
  if (row === null || !worker) return null;
  const trace = traceOf(selection, worker);
  return (
    <p class="heat-chosen" role="status">
      <strong>{chosenCell(payload.workers, map, measure, row, column)}</strong>{" "}
      <a href={hrefOf("overview", { all: "" }, trace)}>Its overview</a>
      {" · "}
      <a href={hrefOf("trace", {}, trace)}>Its timeline</a>
      {" · "}
      <a href={timelineHref(hrefOf, selection, payload.workers, besideIt(map, row))}>
        Its timeline beside the median&apos;s
      </a>
    </p>
  );
}

/** A worker, and the one in the middle of all by this measure. */
function besideIt(map: DistributedMapPayload, row: number): number[] {
  const known = map.means_ns.flatMap((mean, place) => (mean === null ? [] : [{ mean, place }]));
  const order = known.sort((a, b) => a.mean - b.mean);
  return [...new Set([row, order[order.length >> 1]?.place ?? row])];
}

const MOST_NAMED = 4;

/** Who lies far above the others without that the verdict says so, and the way to all of them on the timeline. */
function Outliers({ payload, map, hrefOf, selection }: FigureProps) {
  const named = payload.costs.map(({ worker }) => worker);
  const others = map.outliers.filter(({ worker }) => !named.includes(worker));
  const all = [...new Set([...named, ...map.outliers.map(({ worker }) => worker)])];
  if (!all.length) return null;
  const more = others.length - MOST_NAMED;
  return (
    <p class="heat-rule">
      {others.length ? "Far above the others: " : ""}
      {others.slice(0, MOST_NAMED).map(({ text }) => `${text} `)}
      {more > 0 ? `${formatCount(more)} more. ` : ""}
      <a href={timelineHref(hrefOf, selection, payload.workers, all)}>
        Show {all.length > 1 ? "them" : "it"} on the timeline
      </a>
    </p>
  );
}
