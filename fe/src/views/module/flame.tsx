/** The flame graph of the Module page: of modules and operators, or of Python lines. */

import { useMemo, useState } from "preact/hooks";
import { served, urlOf } from "../../api/client";
import type { FlamePayload, FlameTree, Missing } from "../../api/types.gen";
import { compileSearch, matchAll } from "../../base/search";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import {
  CopyButton,
  Checkbox,
  Flame,
  foundShare,
  Grid,
  Icon,
  layOutFlame,
  Panel,
  SearchBox,
  Select,
  type FlameLayout,
  type Sort,
} from "../../widgets";
import { Choice, chosenOf } from "../choice";
import { exactly, searchParams } from "../grid_params";
import { Loaded, MissingList, Nothing, unsaid } from "../loaded";
import { coloursOf, mergedRows, plainName, readColouring, type Colours } from "./flame_model";
import { frameOfKey, keyOfFrame, kindsOf, readMetric, valuesOf, type Metric } from "./model";
import { FlameLegend, frameColumns, frameLines } from "./parts";
import { SandwichOf } from "./sandwich";

const TREES: Readonly<Record<FlameTree, string>> = { module: "Modules", line: "Python lines" };
const ORDERS = { size: "Largest first", time: "In time" } as const;
const SHOWN = { graph: "Graph", sandwich: "Sandwich", table: "Table" } as const;

interface PanelProps extends ViewProps {
  device: string;
  /** What the page says already that was not recorded. */
  known: readonly Missing[];
}

export function FlamePanel(props: PanelProps) {
  const tree = chosenOf(TREES, props.params.flame);
  const resource = useResource("module/flame", viewQuery(props, { tree }));
  return (
    <Panel
      title="Flame graph"
      term="flame_graph"
      note="width shows time; children below their callers"
    >
      <Loaded resource={resource} shape={[360]}>
        {(payload) => <FlameOf {...props} payload={payload} tree={tree} />}
      </Loaded>
    </Panel>
  );
}

type FlameProps = PanelProps & { payload: FlamePayload; tree: FlameTree };

function FlameOf({ payload: whole, tree, ...props }: FlameProps) {
  const { params } = props;
  const layers = params.layers === "1";
  const recursion = params.recursion === "1";
  const metric = readMetric(params.metric, whole.has_device);
  const rows = useMemo(
    () => mergedRows(whole.rows, metric, { layers, recursion }),
    [whole, metric, layers, recursion],
  );
  const payload = { ...whole, rows };
  // When lines ran is not known.
  const order = tree === "line" ? "size" : chosenOf(ORDERS, params.order);
  const layout = useMemo(
    () =>
      layOutFlame({
        parent: rows.parent,
        value: valuesOf(rows, metric),
        order: order === "time" ? rows.first_ns : null,
      }),
    [rows, metric, order],
  );
  const shown = chosenOf(SHOWN, params.show);
  return (
    <div>
      <Tools {...props} {...{ payload, tree, metric, shown }} />
      {layout.total === 0 ? (
        <Nothing
          title={tree === "line" ? "No Python lines are known" : "There is nothing to draw"}
          text={
            metric === "device"
              ? "Nothing on the accelerator was launched by a known frame in the selected steps."
              : "No call was recorded in the selected steps."
          }
          missing={payload.missing}
        />
      ) : (
        <>
          <MissingList missing={unsaid(payload.missing, props.known)} />
          {shown === "table" ? (
            <FrameTable {...props} payload={payload} />
          ) : shown === "sandwich" ? (
            <SandwichOf {...props} payload={whole} {...{ metric, layers }} />
          ) : (
            <Graph {...props} {...{ payload, layout, metric }} />
          )}
        </>
      )}
    </div>
  );
}

interface ToolsProps extends FlameProps {
  metric: Metric;
  shown: keyof typeof SHOWN;
}

function Tools({ payload, tree, metric, shown, device, ...props }: ToolsProps) {
  const { params, setParam } = props;
  const file = (format: "folded" | "speedscope"): string =>
    urlOf("module/flame/file", viewQuery(props, { tree, metric, format }));
  const merge = (param: "layers" | "recursion") => (
    <Checkbox
      label={`Merge ${param}`}
      checked={params[param] === "1"}
      onChange={(on) => setParam(param, on ? "1" : null)}
    />
  );
  return (
    <div class="flame-tools">
      <Choice
        label="Of"
        labels={TREES}
        param="flame"
        params={params}
        setParam={(...choice) => {
          setParam(...choice);
          setParam("zoom", null);
        }}
      />
      {payload.has_device ? (
        <Choice
          {...props}
          label="Time on"
          labels={{ device: capitalised(device), host: "Host" }}
          param="metric"
        />
      ) : null}
      {tree === "module" && shown !== "sandwich" ? (
        <Choice {...props} label="Order" labels={ORDERS} param="order" />
      ) : null}
      <Choice {...props} label="Show as" showLabel={false} labels={SHOWN} param="show" />
      {merge("layers")}
      {shown === "sandwich" ? null : merge("recursion")}
      {served ? <Files file={file} /> : null}
    </div>
  );
}

function Files({ file }: { file: (format: "folded" | "speedscope") => string }) {
  return (
    <span class="toolbar-end">
      <a
        class="button button-quiet"
        href={file("folded")}
        download
        title="One line per stack, for flamegraph.pl and others"
      >
        <Icon name="download" /> Folded stacks
      </a>
      <a class="button button-quiet" href={file("speedscope")} download title="For speedscope.app">
        <Icon name="download" /> speedscope
      </a>
    </span>
  );
}

type GraphProps = ViewProps & {
  device: string;
  payload: FlamePayload;
  layout: FlameLayout;
  metric: Metric;
};

function Graph({ payload, layout, metric, device, ...props }: GraphProps) {
  const { params, setParam } = props;
  const { rows } = payload;
  const {
    search: { text: find, regex },
    onSearch,
  } = searchParams(params, setParam, "find", "find_re");
  const kinds = useMemo(() => kindsOf(rows), [rows]);
  const line = payload.tree === "line";
  const by = readColouring(params.colour, line);
  const tint = useMemo(() => coloursOf(rows, metric, by), [rows, metric, by]);
  const search = useMemo(() => {
    if (!find.trim()) return { found: null, error: null };
    const { flags, error } = matchAll(rows.name, compileSearch(find, regex));
    return { found: error ? null : flags, error };
  }, [rows, find, regex]);
  const zoom = useMemo(() => frameOfKey(rows, params.zoom), [rows, params.zoom]);
  const result = search.found
    ? `${formatShare(foundShare(layout, rows.parent, search.found))} of the time`
    : "";
  return (
    <>
      <div class="flame-search">
        <SearchBox
          label="Search in the flame graph"
          text={find}
          regex={regex}
          error={search.error}
          result={result}
          onChange={onSearch}
        />
        <Select
          label="Colour"
          value={by}
          onChange={(next) => setParam("colour", next === "kind" ? null : next)}
          options={[
            { value: "kind", label: "Kind" },
            line ? { value: "file", label: "File" } : { value: "module", label: "Module" },
            { value: "time", label: "Time per call" },
          ]}
        />
        {tint ? <TintLegend tint={tint} /> : <FlameLegend rows={rows} />}
      </div>
      <Flame
        label={`Flame graph of ${line ? "Python lines" : "modules and operators"}, ${metric === "device" ? device : "host"} time`}
        layout={layout}
        parent={rows.parent}
        name={rows.name}
        kind={kinds}
        hatched={rows.backward}
        found={search.found}
        tint={tint}
        zoom={zoom}
        onZoom={(row) => setParam("zoom", keyOfFrame(rows, row))}
        describe={(row) => frameLines(payload, row, device, layout)}
        detail={(row) => <FrameDetail {...props} {...{ payload, row, device, layout }} />}
      />
      <p class="muted">{restText(payload, metric, device)}</p>
    </>
  );
}

/** As many groups are named; the others have colours too. */
const NAMED = 8;

function TintLegend({ tint: { colours, labels } }: { tint: Colours }) {
  const texts = labels.length
    ? labels.slice(0, NAMED)
    : colours.map((_, i) => (i ? (i === colours.length - 1 ? "longest call" : "") : "shortest"));
  return (
    <ul class="flame-legend" aria-label="Colours of frames">
      {texts.map((text, i) => (
        <li key={i} title={text}>
          <span
            class="flame-swatch"
            style={{
              background: `hsl(${colours[i]?.[0]} ${colours[i]?.[1]}% var(--flame-light))`,
            }}
          />
          {endOf(text)}
        </li>
      ))}
      {labels.length > NAMED ? <li>{formatCount(labels.length - NAMED)} more</li> : null}
    </ul>
  );
}

/** The end of a long path, which tells files apart. */
const endOf = (text: string): string => (text.length > 36 ? `…${text.slice(-35)}` : text);

function restText(
  { pooled, unattributed_device_ns: lost }: FlamePayload,
  metric: Metric,
  device: string,
): string {
  return [
    pooled
      ? `${formatCount(pooled)} frames below 1/10,000 of the time are merged into their callers.`
      : "",
    metric === "device" && lost
      ? `${formatTime(lost)} of ${device} time was launched outside known frames.`
      : "",
  ]
    .filter(Boolean)
    .join(" ");
}

type DetailProps = ViewProps & {
  payload: FlamePayload;
  row: number;
  device: string;
  layout: FlameLayout;
};

function FrameDetail({ payload, row, device, layout, hrefOf, params }: DetailProps) {
  const { rows } = payload;
  if (row < 0) return <p class="flame-detail muted">Click a frame to zoom in and see its links.</p>;
  const [name = "", ...lines] = frameLines(payload, row, device, layout);
  const event = rows.event[row] ?? -1;
  return (
    <p class="flame-detail">
      <strong>{name}</strong> <CopyButton text={name} label="Copy the full name" />
      <span class="number">{lines.join(" · ")}</span>
      {event >= 0 ? (
        <a href={hrefOf("trace", { sel: String(event) })}>Longest call on the timeline</a>
      ) : null}
      {rows.kind[row] === "rest" ? null : (
        <a href={hrefOf("module", { ...params, show: "sandwich", focus: plainName(rows, row) })}>
          Callers and callees
        </a>
      )}
      {rows.kind[row] === "operator" ? (
        <a href={hrefOf("operator", exactly(plainName(rows, row)))}>Show in Operator view</a>
      ) : null}
    </p>
  );
}

/** The frames of the graph as a tree to be sorted and saved. */
function FrameTable({
  payload,
  device,
  ...props
}: ViewProps & { device: string; payload: FlamePayload }) {
  const { rows } = payload;
  const { params, setParam, hrefOf } = props;
  const [sort, setSort] = useState<Sort | null>(null);
  const columns = useMemo(() => frameColumns(rows, device, hrefOf), [rows, device, hrefOf]);
  return (
    <Grid
      label={payload.tree === "line" ? "Python lines" : "Modules and operators"}
      columns={columns}
      tree={rows.parent}
      height={460}
      sort={sort}
      onSort={setSort}
      {...searchParams(params, setParam, "find", "find_re")}
    />
  );
}
