/** The critical path through all ranks of a run. */

import type { RanksPathPayload, RanksRowsPayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { type Params, type ViewId, type ViewProps, viewQuery } from "../../state/view";
import { type Column, Panel, Segmented, Skeleton } from "../../widgets";
import { nameAt, traceOf } from "../distributed/model";
import { InShort, Notes, Nothing, viewOf } from "../loaded";
import {
  drawnText,
  type Group,
  groupOf,
  rangeParams,
  rangeSetter,
  RANKS_GROUPS,
  stepTitle,
  readRange,
} from "./model";
import { columnsBy, OnThePath } from "./parts";
import { Stragglers } from "./stragglers";
import { PathGlyphs } from "./glyphs";

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

export const RanksPath = viewOf("critical_path/ranks", [60, 160, 480], RanksPage);

type PageProps = ViewProps & { payload: RanksPathPayload };

function RanksPage(props: PageProps) {
  const { payload } = props;
  if (payload.progress < 1) return <Skeleton height={480} label="Reading the ranks" />;
  if (!payload.parts.kind.length)
    return (
      <Nothing
        title="The path through all ranks is not known"
        text={payload.notes.join(" ")}
        missing={[]}
      />
    );
  return <Ranks {...props} />;
}

function Ranks(props: PageProps) {
  const { payload, params, setParam } = props;
  const range = readRange(params, payload.strips);
  const by = groupOf(RANKS_GROUPS, params.by);
  const rows = useResource(
    "critical_path/ranks/rows",
    viewQuery(props, { by: by.value, ...rangeParams(range) }),
  );
  const name = stepTitle(payload.strips[0]?.name ?? "") || "the whole span";
  return (
    <>
      <InShort sentences={payload.headline} />
      <Notes notes={[...payload.notes, payload.clock]} />
      <Panel
        title="Critical path"
        term="critical_path_ranks"
        note={drawnText(name, payload.strips.length, payload.steps)}
      >
        <PathGlyphs
          {...props}
          device="GPU"
          range={range}
          onRange={rangeSetter(setParam)}
          within={range ? (rows.data ?? undefined) : undefined}
        />
      </Panel>
      <OnThePath
        {...props}
        term="critical_path_ranks"
        range={range}
        by={by}
        groups={RANKS_GROUPS}
        resource={rows}
        shape={300}
        height={420}
        columns={(data) => ranksColumns(data, by, props)}
      />
      <Stragglers {...props} />
    </>
  );
}

function ranksColumns(
  { rows }: RanksRowsPayload,
  by: Group,
  { payload: { workers }, hrefOf, selection }: PageProps,
): Column[] {
  const ranks = rows.worker.map((place) => nameAt(workers, place) || null);
  /** A link to a view of the rank of a row. */
  const toRank = (view: ViewId, row: number, params: Params = {}): string | null => {
    const worker = workers[rows.worker[row] ?? -1];
    return worker ? hrefOf(view, params, traceOf(selection, worker)) : null;
  };
  const toPath = (row: number): string | null => toRank("critical_path", row);
  const toEvent = (row: number): string | null =>
    (rows.event[row] ?? -1) < 0
      ? null
      : toRank("trace", row, { sel: String(rows.event[row]), path: "1" });
  const rank = { values: ranks, href: toPath };
  const byRank = by.value === "rank";
  const [name, ...others] = columnsBy("path_ranks", rows, by, {
    name: byRank ? rank : { href: toEvent },
  });
  return [
    ...(name ? [name] : []),
    ...(byRank
      ? []
      : [{ key: "rank", label: "Rank", term: "rank", kind: "text" as const, width: 90, ...rank }]),
    ...others,
  ];
}
