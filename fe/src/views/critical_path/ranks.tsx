/** The critical path through all ranks of a run. */

import { useMemo } from "preact/hooks";
import type { RanksPathPayload, RanksRowsPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useResource, useUntilComplete } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { type Column, Grid, Panel, Progress, Segmented } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { workerName } from "../distributed/model";
import { gridParams } from "../grid_params";
import { InShort, Loaded, Nothing, Notes } from "../loaded";
import { labelOf, rangeQuery, rangeSetter, readRange } from "./model";
import { OnThePath } from "./parts";
import {
  drawnText,
  onTimeline,
  rankOf,
  RANKS_GROUPS,
  ranksOf,
  readRanksGroup,
  traceOfRank,
  type RanksGroup,
} from "./ranks_model";
import { Stragglers } from "./stragglers";
import { PathStrips } from "./strip";

const CHOICES = [
  { value: "own", label: "This rank" },
  { value: "all", label: "All ranks", term: "critical_path_ranks" },
] as const;

/** Whose path is shown. A part, a grouping and a search of the one say nothing of the other. */
export function RanksChoice({ params, setParam }: Pick<ViewProps, "params" | "setParam">) {
  return (
    <Segmented
      label="Path of"
      value={params.ranks === "all" ? "all" : "own"}
      options={CHOICES}
      onChange={(next) => {
        for (const key of ["t0", "t1", "by", "sort", "search", "regex"]) setParam(key, null);
        setParam("ranks", next === "all" ? "all" : null);
      }}
    />
  );
}

export function RanksPath(props: ViewProps) {
  const resource = useResource("critical_path/ranks", viewQuery(props));
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[60, 160, 480]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) => <RanksPage {...props} payload={payload} />}
    </Loaded>
  );
}

type PageProps = ViewProps & { payload: RanksPathPayload };

function RanksPage(props: PageProps) {
  const { payload, hrefOf } = props;
  if (payload.progress < 1)
    return (
      <Progress
        value={payload.progress}
        label="Reading the workers"
        detail={`${formatCount(payload.ready)} of ${formatCount(payload.workers_total)} are here`}
      />
    );
  if (!payload.parts.kind.length)
    return (
      <Nothing
        title="The path through all ranks is not known"
        text={payload.notes.join(" ")}
        missing={[]}
        diagnosisHref={hrefOf("diagnosis")}
      />
    );
  return <Ranks {...props} />;
}

function Ranks(props: PageProps) {
  const { payload, params, setParam, hrefOf, selection } = props;
  const range = readRange(params, payload.strips);
  const by = readRanksGroup(params.by);
  const rows = useResource(
    "critical_path/ranks/rows",
    viewQuery(props, { by, ...rangeQuery(range) }),
  );
  const setRange = rangeSetter(setParam);
  const placeOf = useMemo(() => ranksOf(payload), [payload]);
  const shown = onTimeline(payload, range);
  return (
    <>
      <InShort sentences={payload.headline} />
      <Notes notes={[...payload.notes, payload.clock]} />
      <Panel title="Critical path" term="critical_path_ranks" note={drawnText(payload)}>
        <PathStrips
          payload={payload}
          range={range}
          onRange={setRange}
          within={range ? (rows.data ?? undefined) : undefined}
          placeOf={placeOf}
          links={
            shown ? (
              <a
                class="button button-plain"
                href={hrefOf("trace", shown.params, traceOfRank(selection, shown.worker))}
              >
                Show on the timeline of {workerName(shown.worker)}
              </a>
            ) : null
          }
        />
      </Panel>
      <OnThePath
        term="critical_path_ranks"
        range={range}
        by={by}
        groups={RANKS_GROUPS}
        onGroup={(next) => setParam("by", next === "rank" ? null : next)}
      >
        <Loaded resource={rows} shape={[300]} diagnosisHref={hrefOf("diagnosis")}>
          {(data) => <RanksTable {...props} data={data} by={by} />}
        </Loaded>
      </OnThePath>
      <Stragglers {...props} />
    </>
  );
}

function RanksTable({
  data,
  by,
  ...props
}: PageProps & { data: RanksRowsPayload; by: RanksGroup }) {
  const columns = useColumns(() => ranksColumns(data, by, props), [data]);
  const count = data.rows.kind.length;
  return (
    <Grid
      label="On the path"
      columns={columns}
      rowCount={count}
      rowKey={String}
      height={420}
      pinned={data.pooled > 0 ? [count - 1] : []}
      storage={`critical_path_ranks_${by}`}
      empty="Nothing matches the search."
      {...gridParams(props.params, props.setParam)}
    />
  );
}

function ranksColumns(
  { rows }: RanksRowsPayload,
  by: RanksGroup,
  { payload, hrefOf, selection }: PageProps,
): Column[] {
  const workers = payload.workers;
  const group = RANKS_GROUPS.find(({ value }) => value === by);
  const ranks = rows.worker.map((place) => rankOf(workers, place) || null);
  const toPath = (row: number): string | null => {
    const worker = workers[rows.worker[row] ?? -1];
    return worker ? hrefOf("critical_path", {}, traceOfRank(selection, worker)) : null;
  };
  const toEvent = (row: number): string | null => {
    const worker = workers[rows.worker[row] ?? -1];
    const event = rows.event[row] ?? -1;
    return worker && event >= 0
      ? hrefOf("trace", { sel: String(event), path: "1" }, traceOfRank(selection, worker))
      : null;
  };
  const columns = declaredColumns("path_ranks", rows, {
    name: {
      ...(group ? { label: group.label, term: group.term } : {}),
      ...(by === "rank" ? { values: ranks, href: toPath } : { href: toEvent }),
      unknown: () => (by === "event" ? "nothing recorded" : "none"),
    },
    kind: {
      values: rows.kind.map((kind) => (kind === null ? null : labelOf(kind))),
      ...(by === "event" ? {} : { label: "Mostly" }),
    },
  });
  const rank: Column = {
    key: "rank",
    label: "Rank",
    term: "rank",
    kind: "text",
    width: 90,
    values: ranks,
    href: toPath,
  };
  return by === "rank" ? columns : [...columns.slice(0, 1), rank, ...columns.slice(1)];
}
