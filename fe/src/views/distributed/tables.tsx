import { useMemo } from "preact/hooks";
import { OPERATIONS } from "../../api/tables.gen";
import type { DistributedPayload } from "../../api/types.gen";
import { stepName } from "../../base/words";
import type { Selection, ViewProps } from "../../state/view";
import { type Column, Grid, Panel, Select } from "../../widgets";
import { gridParams } from "../grid_params";
import { columnsOf, declaredColumns, pickRows, useColumns } from "../columns";
import { beforeName, nameAt, operationRows, readWorker } from "./model";

type TableProps = ViewProps & { payload: DistributedPayload };

const column = columnsOf("distributed");

/** A table with less than this is as high as its rows. */
const HEIGHT = 380;

/** The trace of the n-th worker. */
function traceOf({ selection, payload }: TableProps, place: number): Selection {
  const found = payload.workers[place];
  return { run: selection.run, worker: found?.worker ?? "", span: found?.span ?? "" };
}

/** Who was last in each step, what that cost, and what it did before. */
export function LateTable(props: TableProps) {
  const { payload, hrefOf } = props;
  const { late, steps, workers } = payload;
  const columns = useColumns(() => {
    const event = (row: number, key: "event" | "before_event"): string | null => {
      const item = late[row];
      const number = item?.[key] ?? null;
      return item && number !== null
        ? hrefOf("trace", { sel: String(number) }, traceOf(props, item.worker))
        : null;
    };
    const of = <K extends keyof (typeof late)[number]>(key: K): (typeof late)[number][K][] =>
      late.map((item) => item[key]);
    return [
      column(
        "step",
        "Step",
        "text",
        62,
        late.map((item) => stepName(steps[item.step] ?? "")),
      ),
      column(
        "last",
        "Last",
        "text",
        82,
        late.map((item) => nameAt(workers, item.worker)),
        { href: (row) => event(row, "event") },
      ),
      column("kind", "At", "text", 112, of("kind")),
      column("caused", "Caused wait", "time", 112, of("caused_ns"), { bar: true }),
      column("longest", "Longest wait", "time", 88, of("longest_ns")),
      column("lead", "Behind the next", "time", 92, of("lead_ns")),
      column("collectives", "Collectives", "count", 92, of("collectives"), { hidden: true }),
      column("before", "What took longer before", "code", 190, late.map(beforeName), {
        href: (row) => event(row, "before_event"),
      }),
      column("before_ns", "Longer by", "time", 84, of("before_ns")),
      column("before_side", "Where", "text", 66, of("before_side")),
      column("module", "Module", "code", 120, of("before_module")),
      column("line", "Source line", "code", 170, of("before_line"), { grow: true }),
    ];
  }, [payload]);
  return (
    <Panel title="Who is late, per step" term="distributed_last" flush>
      <Grid
        label="Who is late"
        columns={columns}
        rowCount={late.length}
        height={HEIGHT}
        storage="distributed-late"
      />
    </Panel>
  );
}

/** Communication by kind, size, type and group. */
export function OperationsTable({ payload, params, setParam }: TableProps) {
  const { workers, operations } = payload;
  const chosen = readWorker(params.worker_of, workers);
  const rows = useMemo(() => operationRows(operations, chosen), [operations, chosen]);
  const columns = useMemo(
    () => declaredColumns(OPERATIONS, pickRows(operations, rows)),
    [operations, rows],
  );
  const asked = [...new Set(operations.worker)].flatMap((place) =>
    place >= 0 && workers[place]
      ? [{ value: workers[place].worker, label: nameAt(workers, place) }]
      : [],
  );
  return (
    <Panel title="Communication operations" term="distributed_operation" flush>
      <Grid
        label="Communication operations"
        columns={columns}
        rowCount={rows.length}
        height={HEIGHT}
        storage="distributed-operations"
        tools={
          asked.length > 1 ? (
            <Select
              label="Worker"
              value={chosen === null ? "" : (params.worker_of ?? "")}
              options={[{ value: "", label: "all together" }, ...asked]}
              onChange={(name) => setParam("worker_of", name || null)}
            />
          ) : null
        }
        {...gridParams(params, setParam)}
      />
    </Panel>
  );
}

/** Collectives that the workers did not record alike. */
export function UnmatchedTable({ payload }: { payload: DistributedPayload }) {
  const { unmatched, workers } = payload;
  const columns = useMemo<Column[]>(
    () => [
      column(
        "operation",
        "Operation",
        "text",
        140,
        unmatched.map(({ kind }) => kind),
      ),
      column(
        "group",
        "Group",
        "text",
        120,
        unmatched.map(({ group }) => group),
      ),
      column(
        "reason",
        "Why",
        "text",
        420,
        unmatched.map(({ reason }) => reason),
        { grow: true },
      ),
      column(
        "counts",
        "Recorded",
        "text",
        320,
        unmatched.map(({ counts }) => countsText(counts, workers)),
        { grow: true },
      ),
    ],
    [unmatched, workers],
  );
  return (
    <Panel title="Not matched" term="distributed_unmatched" flush>
      <Grid
        label="Collectives that are not matched"
        columns={columns}
        rowCount={unmatched.length}
        height={HEIGHT}
      />
    </Panel>
  );
}

/** `3 each`, or which ranks have how many. */
export function countsText(
  counts: readonly number[],
  workers: DistributedPayload["workers"],
): string {
  const by = new Map<number, string[]>();
  counts.forEach((count, place) =>
    by.set(count, [...(by.get(count) ?? []), nameAt(workers, place)]),
  );
  if (by.size === 1) return `${counts[0] ?? 0} each`;
  return [...by]
    .map(
      ([count, names]) =>
        `${count} on ${names.slice(0, 4).join(", ")}${names.length > 4 ? ` and ${names.length - 4} more` : ""}`,
    )
    .join("; ");
}

export function WorkersTable(props: TableProps) {
  const { payload, hrefOf } = props;
  const { workers } = payload;
  const columns = useColumns(() => {
    const of = <K extends keyof (typeof workers)[number]>(key: K): (typeof workers)[number][K][] =>
      workers.map((item) => item[key]);
    return [
      column("worker", "Worker", "text", 170, of("worker"), {
        term: "worker",
        href: (row) => hrefOf("overview", {}, traceOf(props, row)),
      }),
      column("rank", "Rank", "count", 64, of("rank"), { term: "rank" }),
      column("rank_source", "Rank from", "text", 104, of("rank_source"), { hidden: true }),
      column("node", "Node", "text", 130, of("node")),
      column("process", "Process", "text", 80, of("process")),
      column(
        "devices",
        "Devices",
        "text",
        290,
        workers.map(({ devices }) => devices.join("; ")),
        {
          grow: true,
          unknown: (row) => (workers[row]?.state === "ready" ? "none recorded" : "not read"),
        },
      ),
      column("backend", "Backend", "text", 78, of("backend"), { term: "backend" }),
      column(
        "collectives",
        "Collectives",
        "count",
        90,
        workers.map(({ state, collectives }) => (state === "ready" ? collectives : null)),
      ),
      column("offset", "Clock offset", "delta", 100, of("offset_ns")),
      column("error", "Clock error", "time", 92, of("error_ns")),
      column(
        "state",
        "State",
        "text",
        90,
        workers.map(({ state, message }) => (message ? `${state}: ${message}` : state)),
      ),
    ];
  }, [payload]);
  return (
    <Panel title="Nodes, processes and devices" flush>
      <Grid
        label="Workers"
        columns={columns}
        rowCount={workers.length}
        height={HEIGHT}
        storage="distributed-workers"
      />
    </Panel>
  );
}
