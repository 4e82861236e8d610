/** The tables of the Diff page: what changed, and where in the call tree. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { DIFF, DIFF_TREE } from "../../api/tables.gen";
import type { ChangeStatus, DiffPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import {
  Badge,
  type Column,
  CopyButton,
  EmptyState,
  Grid,
  Panel,
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
  type Side,
  statusCounts,
  TABLES,
  treeDelta,
} from "./model";

type TableProps = ViewProps & { payload: DiffPayload; b: Side };

interface Links {
  label: string;
  /** Numbers of events; null: not there. */
  events: readonly (number | null)[];
  /** Names to search for where no event is known; null: nothing to search. */
  names: readonly (string | null)[];
  href: (params: Record<string, string>) => string;
}

/** A column of links to a side's timeline: to the longest event, or to all of the name. */
function timelineColumn({ label, events, names, href }: Links): Column {
  const values = events.map((event, row) =>
    event === null ? (names[row] ?? null) : String(event),
  );
  return {
    key: `timeline_${label}`,
    label: `Timeline ${label}`,
    kind: "text",
    width: 84,
    values,
    term: "diff_timeline",
    short: values.map((value) => (value === null ? null : "show")),
    unknown: () => "",
    href: (row) => {
      const [event, name] = [events[row] ?? null, names[row] ?? null];
      return event !== null
        ? href({ sel: String(event) })
        : name !== null
          ? href(onTimeline(name))
          : null;
    },
  };
}

function sidesOf({ hrefOf, selection, b }: TableProps): { a: Links["href"]; b: Links["href"] } {
  return {
    a: (params) => hrefOf("trace", params, selection),
    b: (params) => hrefOf("trace", params, b.selection),
  };
}

function changeColumns(props: TableProps, rows: readonly number[]): Column[] {
  const changes = pickRows(props.payload.changes, rows);
  const href = sidesOf(props);
  const { status, name_b } = changes;
  const searched = changes.name.map((name, i) =>
    changes.table[i] === "category" || changes.table[i] === "module" || changes.rest[i]
      ? null
      : name,
  );
  return [
    ...declaredColumns(DIFF, changes, {
      name: {
        short: changes.short,
        note: (row) => (name_b[row] ? <Badge title={`In B: ${name_b[row]}`}>renamed</Badge> : null),
      },
      beyond: {
        kind: "knowledge",
        values: changes.beyond.map((value) => (value === null ? 2 : Number(value))),
      },
    }),
    timelineColumn({
      label: "A",
      events: changes.event_a,
      names: searched.map((name, i) => (status[i] === "new" ? null : name)),
      href: href.a,
    }),
    timelineColumn({
      label: "B",
      events: changes.event_b,
      names: searched.map((name, i) => (status[i] === "gone" ? null : (name_b[i] ?? name))),
      href: href.b,
    }),
  ];
}

/** Operators, kernels, modules … by how much they changed. */
export function ChangesTable(props: TableProps & { downloads: ComponentChildren }) {
  const { payload, params, setParam, downloads } = props;
  const { changes, wholes } = payload;
  const table = readTable(params.table, changes);
  const status = readStatus(params.status);
  const rows = useMemo(() => changeRows(changes, table, status), [changes, table, status]);
  const columns = useColumns(() => changeColumns(props, rows), [changes, rows]);
  const whole = wholes.find((item) => item.table === table);
  const counts = statusCounts(changes, table);
  const statuses = (["changed", "new", "gone", "same"] as const).map((value) => ({
    value,
    label: `${value} ${formatCount(counts[value])}`,
    disabled: counts[value] === 0,
  }));
  return (
    <Panel
      title="What changed"
      term="diff_delta"
      note={
        whole
          ? `${formatTime(whole.time_a_ns)} → ${formatTime(whole.time_b_ns)} per step in all`
          : null
      }
      actions={downloads}
      flush
    >
      <Grid
        label={`Changes of ${TABLES.find(({ value }) => value === table)?.label.toLowerCase() ?? ""}`}
        columns={columns}
        rowCount={rows.length}
        rowKey={(row) => `${table} ${changes.name[rows[row] ?? 0] ?? ""}`}
        pinned={[...rows.keys()].filter((row) => changes.rest[rows[row] ?? 0])}
        searchIn={["name"]}
        detail={(row) => <ChangeDetail payload={payload} row={rows[row] ?? 0} />}
        storage="diff"
        tools={
          <>
            <Segmented
              label="Changes of"
              showLabel={false}
              value={table}
              options={TABLES.filter(({ value }) => changes.table.includes(value))}
              onChange={(value) => setParam("table", value)}
            />
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
    </Panel>
  );
}

/** The full names, and the host's part. */
function ChangeDetail({ payload: { changes }, row }: { payload: DiffPayload; row: number }) {
  const names = [changes.name[row], changes.name_b[row]].filter(
    (name) => name !== null && name !== undefined,
  );
  return (
    <div class="kernel-detail">
      {names.map((name, i) => (
        <div key={i} class="full-name">
          {names.length > 1 ? (
            <span class={`diff-mark diff-${i ? "b" : "a"}`}>{i ? "B" : "A"}</span>
          ) : null}
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
    const href = sidesOf(props);
    const name = tree.parent.map((_, node) =>
      bothNames(tree.name_a[node] ?? null, tree.name_b[node] ?? null),
    );
    const nothing = name.map(() => null);
    const declared = declaredColumns(DIFF_TREE, tree, {
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
      timelineColumn({ label: "A", events: tree.event_a, names: nothing, href: href.a }),
      timelineColumn({ label: "B", events: tree.event_b, names: nothing, href: href.b }),
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
        rowCount={tree.parent.length}
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
