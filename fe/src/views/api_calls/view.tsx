/** The API Calls page: what calls of the runtime and driver cost, how launches wait, what is copied. */

import type {
  ApiCallsPayload,
  ApiCallsTable,
  LaunchHistogram,
  TableName,
} from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { formatCount, formatTime } from "../../base/units";
import { type ViewProps, viewQuery } from "../../state/view";
import { Bars, Panel, Select, StackedBars } from "../../widgets";
import { Folded } from "../folded";
import { gridParams } from "../grid_params";
import { linkedTo } from "../links";
import { InShort, Nothing, viewOf } from "../loaded";
import { TableView } from "../table_view";

export const ApiCallsView = viewOf("api_calls", [60, 360, 360], Page, (props) =>
  viewQuery(props, { short_ns: props.params.short }),
);

type PageProps = ViewProps & { payload: ApiCallsPayload };

function Page(props: PageProps) {
  const { payload, params, setParam, hrefOf } = props;
  const { rows, longest, launches, copies } = payload;
  const { vocabulary } = payload;
  if (!rows.name.length && !launches.name.length && !copies.kind.length)
    return (
      <Nothing
        title="No call of a runtime or driver was recorded"
        text="The selected steps hold none, and no device work. Choose other steps."
        missing={payload.missing}
      />
    );
  const of = (name: TableName, rows: { event: number[] }) => ({
    ...{ name, rows, vocabulary, height: 340 },
    events: { page: name, text: "show", hrefOf },
  });
  return (
    <>
      <InShort sentences={payload.sentences} />
      <Costs rows={rows} pooled={payload.pooled} />
      <TableView
        {...of("api_calls", rows)}
        {...gridParams(params, setParam)}
        title="Runtime and driver calls"
        term="api_calls_view"
        pooled={payload.pooled}
        additions={{
          kind: {
            short: inWords(rows.kind),
            unknown: () => "",
          },
        }}
      />
      <Folded title="Longest calls">
        {() => (
          <TableView
            {...of("long_calls", longest)}
            title="Longest calls"
            term="long_calls"
            additions={{
              operator: { href: linkedTo(hrefOf, "operator", longest.operator) },
              reason: { short: inWords(longest.reason), unknown: () => "" },
            }}
          />
        )}
      </Folded>
      {/* Open where the link asks for a limit. */}
      <Folded title="Launches" open={params.short !== undefined}>
        {() => (
          <>
            <Histogram payload={payload} />
            <TableView
              {...of("launches", launches)}
              title="Launches"
              term="launch_statistics"
              pooled={payload.launches_pooled}
              additions={{ name: { href: linkedTo(hrefOf, "kernel", launches.name) } }}
              tools={
                <Select
                  label="Short below"
                  value={params.short ?? LIMIT_NS}
                  onChange={(next) => setParam("short", next === LIMIT_NS ? null : next)}
                  options={LIMITS.map((ns) => ({ value: String(ns), label: formatTime(ns) }))}
                />
              }
            />
          </>
        )}
      </Folded>
      {copies.kind.length ? (
        <Folded title="Copies">
          {() => (
            <TableView {...of("copies", copies)} title="Copies" term="copies" note={payload.link} />
          )}
        </Folded>
      ) : null}
    </>
  );
}

/** Bars of so many calls. */
const MOST_BARS = 8;
const WAITING = "synchronization";

/** `code loading` of `code_loading`. */
const inWords = (kinds: readonly (string | null)[]) =>
  kinds.map((kind) => (kind === WAITING ? "waits" : (kind?.replaceAll("_", " ") ?? null)));

/** The calls that take longest: first those that cost time by themselves, then those that only wait, hatched. */
export function Costs({ rows, pooled }: { rows: ApiCallsTable; pooled: number }) {
  const longest = rows.name
    .map((name, row) => ({
      name,
      time: rows.total_ns[row] ?? 0,
      calls: rows.calls[row] ?? 0,
      waits: rows.kind[row] === WAITING,
    }))
    .slice(0, rows.name.length - Number(pooled > 0))
    .filter(({ time }) => time > 0)
    .slice(0, MOST_BARS)
    .sort((a, b) => Number(a.waits) - Number(b.waits));
  if (!longest.length) return null;
  const most = Math.max(...longest.map(({ time }) => time));
  return (
    <Bars
      label="Time by call"
      bars={longest.map(({ name, time, calls, waits }) => ({
        name,
        code: true,
        share: time / most,
        text: formatTime(time),
        note: waits ? "waits" : `${formatCount(calls)} ×`,
        tone: waits ? "call-waits" : "call-costs",
      }))}
    />
  );
}

function Histogram({ payload: { histogram } }: Pick<PageProps, "payload">) {
  const { labels, first, last } = bucketLabels(histogram);
  if (last < first) return null;
  const chart = (label: string, counts: readonly number[], color: string) => (
    <StackedBars
      label={`Launches of kernels by ${label}`}
      series={[{ key: label, label, color }]}
      bars={labels.slice(first, last + 1).map((bucket, i) => ({
        key: first + i,
        label: bucket,
        title: `time ${bucket}`,
        values: [counts[first + i] ?? 0],
      }))}
      unit="count"
      axisLabel="time"
      height={190}
    />
  );
  return (
    <Panel title="Launch times" term="launch_statistics" note="launches of kernels in each bucket">
      <div class="api-charts">
        {chart("delay until the kernel begins", histogram.delays, seriesColor(0))}
        {chart("duration of the launch", histogram.durations, seriesColor(1))}
      </div>
    </Panel>
  );
}

/** What may be called a short kernel, ns. */
const LIMITS = [2_000, 5_000, 10_000, 20_000, 50_000, 100_000] as const;
const LIMIT_NS = "10000";

interface Buckets {
  labels: string[];
  /** The buckets from the first to the last that hold anything; `last < first` where none does. */
  first: number;
  last: number;
}

/** Each bucket by where it begins. */
export function bucketLabels({ edges_ns, delays, durations }: LaunchHistogram): Buckets {
  const used = edges_ns.map((_, i) => (delays[i] ?? 0) + (durations[i] ?? 0) > 0);
  return {
    labels: edges_ns.map((edge) => (edge ? `≥ ${formatTime(edge)}` : "less")),
    first: Math.max(0, used.indexOf(true)),
    last: used.lastIndexOf(true),
  };
}
