import type { PathRowsPayload, TableName, Vocabulary } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { Resource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { type Column, Grid, Panel, Select } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { linkedTo } from "../links";
import { Loaded } from "../loaded";
import { type Group, labelOf, ofEvents, type PathGroup, type Range } from "./model";
import { halvedColumns } from "./what_if_links";

type HrefOf = ViewProps["hrefOf"];

interface OnThePathProps<T> extends ViewProps {
  term: string;
  range: Range | null;
  by: Group;
  /** The first of them needs no word in the link. */
  groups: readonly Group[];
  resource: Resource<T>;
  /** Height in px of what is coming, and the largest of the table; otherwise what is left of the window. */
  shape: number;
  height?: number;
  columns: (data: T) => Column[];
}

interface Rows {
  rows: { kind: readonly (string | null)[] };
  pooled: number;
}

/** The table of what is on the path, or on a chosen part of it, with a choice of what a row is one of. */
export function OnThePath<T extends Rows>(props: OnThePathProps<T>) {
  const { term, range, by, groups, resource, shape, setParam } = props;
  return (
    <Panel
      title="On the path"
      term={term}
      note={range ? `only the chosen ${formatTime(range.t1 - range.t0)}` : null}
      actions={
        <Select
          label="Group by"
          value={by.value}
          options={groups}
          onChange={(next) => setParam("by", next === groups[0]?.value ? null : next)}
        />
      }
      flush
    >
      <Loaded resource={resource} shape={[shape]}>
        {(data) => <PathTable {...props} data={data} />}
      </Loaded>
    </Panel>
  );
}

function PathTable<T extends Rows>(props: OnThePathProps<T> & { data: T }) {
  const { data, term, by, height, params, setParam } = props;
  const columns = useColumns(() => props.columns(data), [data]);
  const count = data.rows.kind.length;
  return (
    <Grid
      label="On the path"
      columns={columns}
      rowKey={String}
      height={height}
      pinned={data.pooled > 0 ? [count - 1] : []}
      storage={`${term}_${by.value}`}
      empty="Nothing matches the search."
      {...gridParams(params, setParam)}
    />
  );
}

/** The columns that both paths have, with what one of them adds. */
export function columnsBy(
  table: TableName,
  rows: Rows["rows"],
  by: Group,
  { name, ...others }: Readonly<Record<string, Partial<Column>>>,
  words?: Vocabulary,
): Column[] {
  const events = ofEvents(by);
  return declaredColumns(
    table,
    rows,
    {
      name: {
        ...(events ? {} : { label: by.label, term: by.term }),
        unknown: () => (events ? "nothing recorded" : "none"),
        ...name,
      },
      kind: {
        values: rows.kind.map((kind) => kind && labelOf(kind)),
        ...(events ? {} : { label: "Mostly" }),
      },
      ...others,
    },
    words,
  );
}

export function pathColumns(
  { rows }: PathRowsPayload,
  by: Group<PathGroup>,
  hrefOf: HrefOf,
  words: Vocabulary,
): Column[] {
  const toEvent = (row: number): string | null =>
    (rows.event[row] ?? -1) < 0
      ? null
      : hrefOf("trace", { sel: String(rows.event[row]), path: "1" });
  const columns = columnsBy(
    "path_events",
    rows,
    by,
    {
      name: { href: by.value === "operator" ? linkedTo(hrefOf, "operator", rows.name) : toEvent },
      operator: { href: linkedTo(hrefOf, "operator", rows.operator) },
    },
    words,
  );
  return [...columns, ...halvedColumns(rows, by.value, hrefOf)];
}
