/** The tables of the Diff page: what changed, and where in the call tree. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ChangeStatus, ChangeTable, DiffPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import {
  Badge,
  type Column,
  CopyButton,
  EmptyState,
  Grid,
  GridPanel,
  Segmented,
  type Sort,
} from "../../widgets";
import { gridParams, onTimeline } from "../grid_params";
import { declaredColumns, pickRows, useColumns } from "../columns";
import {
  bothNames,
  changeRows,
  readStatus,
  readTable,
  statusCounts,
  STATUSES,
  TABLES,
  tablesOf,
  treeDelta,
} from "./model";

type TableProps = ViewProps & { payload: DiffPayload; names: readonly [string, string] };

type Known<T> = readonly (T | null)[];

/** Links to a side's timeline: to the longest event, else to all of the name; none where neither is known. */
function timelineColumn(
  { hrefOf, payload, names: sides }: TableProps,
  of: "a" | "b",
  events: Known<number>,
  names: Known<string> = [],
): Column {
  const values = events.map((event, row) => (event === null ? names[row] : String(event)) ?? null);
  const { run, worker, span } = payload[of];
  return {
    key: `timeline_${of}`,
    label: `Timeline, ${(of === "a" ? sides[0] : sides[1]).toLowerCase()}`,
    kind: "text",
    width: 84,
    values,
    term: "diff_timeline",
    short: values.map((value) => (value === null ? null : "show")),
    unknown: () => "",
    href: (row) => {
      const value = values[row] ?? null;
      return (
        value &&
        hrefOf("trace", events[row] === null ? onTimeline(value) : { sel: value }, {
          run,
          worker,
          span,
        })
      );
    },
  };
}

/** Columns that stand before all others. */
const FOREMOST = ["name", "delta_ns", "time_a_ns", "time_b_ns"];

function changeColumns(props: TableProps, rows: readonly number[]): Column[] {
  const changes = pickRows(props.payload.changes, rows);
  const { status, name_b } = changes;
  const searched = changes.name.map((name, i) =>
    changes.table[i] === "category" || changes.table[i] === "module" || changes.rest[i]
      ? null
      : name,
  );
  const inA = searched.map((name, i) => (status[i] === "new" ? null : name));
  const inB = searched.map((name, i) => (status[i] === "gone" ? null : (name_b[i] ?? name)));
  const place = (column: Column): number => (FOREMOST.indexOf(column.key) + 9) % 9;
  return [
    ...declaredColumns("diff", changes, {
      name: {
        // It grows; on a phone the change stands beside it.
        width: 150,
        short: changes.short,
        note: (row) =>
          name_b[row] ? <Badge title={`After: ${name_b[row]}`}>renamed</Badge> : null,
      },
      beyond: {
        kind: "knowledge",
        values: changes.beyond.map((value) => (value === null ? 2 : Number(value))),
      },
    }).sort((one, other) => place(one) - place(other)),
    timelineColumn(props, "a", changes.event_a, inA),
    timelineColumn(props, "b", changes.event_b, inB),
  ];
}

/** Operators, kernels, modules … by how much they changed. */
export function ChangesTable(
  props: TableProps & { downloads: ComponentChildren; tables?: readonly ChangeTable[] | undefined },
) {
  const { payload, params, setParam, downloads, tables } = props;
  const { changes, wholes } = payload;
  const choices = tablesOf(changes, tables);
  const table = readTable(params.table, choices) ?? tables?.[0] ?? "operator";
  const status = readStatus(params.status);
  const rows = useMemo(() => changeRows(changes, table, status), [changes, table, status]);
  const columns = useColumns(() => changeColumns(props, rows), [changes, rows]);
  const whole = wholes.find((item) => item.table === table);
  const counts = statusCounts(changes, table);
  const statuses = STATUSES.map((value) => ({
    value,
    label: `${value} ${formatCount(counts[value])}`,
    disabled: counts[value] === 0,
  }));
  return (
    <GridPanel
      title="What changed, in all compared steps"
      term="diff_delta"
      note={
        whole
          ? `${formatTime(whole.time_a_ns)} → ${formatTime(whole.time_b_ns)} per step in all`
          : null
      }
      actions={downloads}
      label={`Changes of ${TABLES.find(({ value }) => value === table)?.label.toLowerCase() ?? ""}`}
      columns={columns}
      rowKey={(row) => `${table} ${changes.name[rows[row] ?? 0] ?? ""}`}
      pinned={[...rows.keys()].filter((row) => changes.rest[rows[row] ?? 0])}
      searchIn={["name"]}
      detail={(row) => <ChangeDetail payload={payload} row={rows[row] ?? 0} />}
      storage="diff"
      tools={
        <>
          {choices.length > 1 ? (
            <Segmented
              label="Changes of"
              showLabel={false}
              value={table}
              options={choices}
              onChange={(value) => setParam("table", value)}
            />
          ) : null}
          <Segmented<ChangeStatus | "all">
            label="Status"
            showLabel={false}
            value={status ?? "all"}
            options={[{ value: "all", label: "all" }, ...statuses]}
            onChange={(value) => setParam("status", value === "all" ? null : value)}
          />
        </>
      }
      empty={
        <EmptyState compact title="Nothing of this kind" text="Neither side has anything here." />
      }
      {...gridParams(params, setParam)}
    />
  );
}

/** The full names, and the host's part. */
function ChangeDetail({ payload: { changes }, row }: { payload: DiffPayload; row: number }) {
  const names = [changes.name[row], changes.name_b[row]].flatMap((name) => name ?? []);
  return (
    <div class="kernel-detail">
      {names.map((name, i) => (
        <div key={i} class="full-name">
          {names.length > 1 ? <span class="muted">{i ? "after" : "before"}</span> : null}
          <code>{name}</code>
          <CopyButton text={name} label="Copy the full name" />
        </div>
      ))}
      {changes.host_a_ns[row] !== null || changes.host_b_ns[row] !== null ? (
        <p>
          On the host itself: {formatTime(changes.host_a_ns[row])} →{" "}
          {formatTime(changes.host_b_ns[row])} per step
        </p>
      ) : null}
    </div>
  );
}

/** Both call trees, matched on their structure. */
export function TreeTable(props: TableProps & { device: boolean }) {
  const { payload, device } = props;
  const { tree } = payload;
  const [sort, setSort] = useState<Sort | null>({ key: "delta_ns", descending: true });
  const columns = useColumns(() => {
    const name = tree.parent.map((_, node) =>
      bothNames(tree.name_a[node] ?? null, tree.name_b[node] ?? null),
    );
    const declared = declaredColumns("diff_tree", tree, {
      name_a: {
        values: name,
        note: (node) =>
          tree.backward[node] ? (
            <Badge title="It runs in the backward pass.">backward</Badge>
          ) : null,
      },
    });
    const other = device ? "host" : "device";
    const shown = declared.filter(({ key }) => !key.startsWith(`${other}_`));
    const delta: Column = {
      key: "delta_ns",
      label: "Change per step",
      kind: "delta",
      values: treeDelta(tree, device),
      term: "diff_delta",
      width: 160,
      bar: true,
    };
    return [
      ...shown.slice(0, 3),
      delta,
      ...shown.slice(3),
      timelineColumn(props, "a", tree.event_a),
      timelineColumn(props, "b", tree.event_b),
    ];
  }, [tree, device]);
  if (!tree.parent.length)
    return (
      <EmptyState
        compact
        title="There is no call tree"
        text="Neither side recorded operators in the chosen steps."
      />
    );
  return (
    <>
      <Grid
        label="Call tree of both sides"
        columns={columns}
        tree={tree.parent}
        sort={sort}
        onSort={setSort}
        searchIn={["name"]}
        storage="diff-tree"
      />
      {payload.tree_pooled ? (
        <p class="table-notes muted">
          {formatCount(payload.tree_pooled)} smaller nodes are counted in those around them.
        </p>
      ) : null}
    </>
  );
}
