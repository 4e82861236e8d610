import { useMemo } from "preact/hooks";
import { OPERATIONS } from "../../api/tables.gen";
import type { DistributedPayload } from "../../api/types.gen";
import { stepName } from "../../base/words";
import type { Selection, ViewProps } from "../../state/view";
import { type CellKind, type CellValue, type Column, Grid, Panel, Select } from "../../widgets";
import { gridParams } from "../grid_params";
import { columnsOf, declaredColumns, pickRows, useColumns } from "../columns";
import { beforeName, nameAt, operationRows, readWorker } from "./model";

type TableProps = ViewProps & { payload: DistributedPayload };

const column = columnsOf("distributed");

/** Makes columns of what comes row by row. */
const columnsOfRows =
  <T,>(rows: readonly T[]) =>
  (
    key: string,
    label: string,
    kind: CellKind,
    width: number,
    value: (row: T) => CellValue,
    more?: Partial<Column>,
  ): Column =>
    column(key, label, kind, width, rows.map(value), more);

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
    const of = columnsOfRows(late);
    return [
      of("step", "Step", "text", 62, ({ step }) => stepName(steps[step] ?? "")),
      of("last", "Last", "text", 82, ({ worker }) => nameAt(workers, worker), {
        href: (row) => event(row, "event"),
      }),
      of("kind", "At", "text", 112, ({ kind }) => kind),
      of("caused", "Caused wait", "time", 112, (item) => item.caused_ns, { bar: true }),
      of("longest", "Longest wait", "time", 88, (item) => item.longest_ns),
      of("lead", "Behind the next", "time", 92, (item) => item.lead_ns),
      of("collectives", "Collectives", "count", 92, (item) => item.collectives, { hidden: true }),
      of("before", "What took longer before", "code", 190, beforeName, {
        href: (row) => event(row, "before_event"),
      }),
      of("before_ns", "Longer by", "time", 84, (item) => item.before_ns),
      of("before_side", "Where", "text", 66, (item) => item.before_side),
      of("module", "Module", "code", 120, (item) => item.before_module),
      of("line", "Source line", "code", 170, (item) => item.before_line, { grow: true }),
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
  const columns = useMemo(() => {
    const of = columnsOfRows(unmatched);
    return [
      of("operation", "Operation", "text", 140, ({ kind }) => kind),
      of("group", "Group", "text", 120, ({ group }) => group),
      of("reason", "Why", "text", 420, ({ reason }) => reason, { grow: true }),
      of("counts", "Recorded", "text", 320, ({ counts }) => countsText(counts, workers), {
        grow: true,
      }),
    ];
  }, [unmatched, workers]);
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
    const of = columnsOfRows(workers);
    const unknown = (row: number): string =>
      workers[row]?.state === "ready" ? "none recorded" : "not read";
    return [
      of("worker", "Worker", "text", 170, ({ worker }) => worker, {
        term: "worker",
        href: (row) => hrefOf("overview", {}, traceOf(props, row)),
      }),
      of("rank", "Rank", "count", 64, ({ rank }) => rank, { term: "rank" }),
      of("rank_source", "Rank from", "text", 104, (item) => item.rank_source, { hidden: true }),
      of("node", "Node", "text", 130, ({ node }) => node),
      of("process", "Process", "text", 80, ({ process }) => process),
      of("devices", "Devices", "text", 290, (item) => item.devices.join("; "), {
        grow: true,
        unknown,
      }),
      of("backend", "Backend", "text", 78, ({ backend }) => backend, { term: "backend" }),
      of("collectives", "Collectives", "count", 90, ({ state, collectives }) =>
        state === "ready" ? collectives : null,
      ),
      of("offset", "Clock offset", "delta", 100, (item) => item.offset_ns),
      of("error", "Clock error", "time", 92, (item) => item.error_ns),
      of("state", "State", "text", 90, ({ state, message }) =>
        message ? `${state}: ${message}` : state,
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
