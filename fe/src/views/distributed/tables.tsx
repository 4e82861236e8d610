/** The tables of the Distributed page. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { DistributedDevice, DistributedPayload } from "../../api/types.gen";
import { formatBytes } from "../../base/units";
import type { Selection, ViewProps } from "../../state/view";
import { type Column, Grid, Panel, Select } from "../../widgets";
import { gridParams } from "../grid_params";
import { pick } from "../rows";
import { beforeName, operationRows, readWorker, stepName, workerName } from "./model";

type TableProps = ViewProps & { payload: DistributedPayload };

/** A table with less than this is as high as its rows. */
const HEIGHT = 380;

/** The trace of the n-th worker. */
function traceOf({ selection, payload }: TableProps, place: number): Selection {
  const found = payload.workers[place];
  return { run: selection.run, worker: found?.worker ?? "", span: found?.span ?? "" };
}

/** Who was last in each step, what that cost, and what it did before. */
export function LateTable(props: TableProps): JSX.Element {
  const { payload, hrefOf } = props;
  const { late, steps, workers } = payload;
  const columns = useMemo<Column[]>(() => {
    const event = (row: number, key: "event" | "before_event"): string | null => {
      const item = late[row];
      const number = item?.[key] ?? null;
      return item && number !== null ? hrefOf("trace", { sel: String(number) }, traceOf(props, item.worker)) : null;
    };
    const of = <K extends keyof (typeof late)[number]>(key: K): (typeof late)[number][K][] => late.map((item) => item[key]);
    return [
      { key: "step", label: "Step", kind: "text", width: 90, values: late.map((item) => stepName(steps[item.step] ?? "")) },
      { key: "worker", label: "Last", term: "distributed_last", kind: "text", width: 110, values: late.map((item) => nameAt(workers, item.worker)), href: (row) => event(row, "event") },
      { key: "kind", label: "At", kind: "text", width: 130, values: of("kind") },
      { key: "caused", label: "Caused wait", term: "distributed_caused", kind: "time", bar: true, width: 120, values: of("caused_ns") },
      { key: "longest", label: "Longest wait", term: "distributed_longest", kind: "time", values: of("longest_ns") },
      { key: "lead", label: "Behind the next", term: "distributed_lead", kind: "time", width: 112, values: of("lead_ns") },
      { key: "collectives", label: "Collectives", term: "distributed_collectives", kind: "count", hidden: true, values: of("collectives") },
      { key: "before", label: "What took longer before", term: "distributed_before", kind: "code", width: 200, values: late.map(beforeName), href: (row) => event(row, "before_event") },
      { key: "before_time", label: "by", term: "distributed_before", kind: "time", width: 88, values: of("before_ns") },
      { key: "side", label: "on the", kind: "text", width: 70, values: of("before_side") },
      { key: "module", label: "Module", kind: "code", width: 150, values: of("before_module") },
      { key: "line", label: "Source line", kind: "code", width: 220, grow: true, values: of("before_line") },
    ];
    // The links read the address bar when they are drawn or followed; new functions need no new columns.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [payload]);
  return (
    <Panel title="Who is late, per step" term="distributed_last" flush>
      <Grid label="Who is late" columns={columns} rowCount={late.length} height={HEIGHT} storage="distributed-late" />
    </Panel>
  );
}

function nameAt(workers: DistributedPayload["workers"], place: number): string {
  const found = workers[place];
  return found ? workerName(found) : "";
}

const perSecond = (values: readonly (number | null)[]): (number | null)[] => values.map((value) => (value === null ? null : value / 1e9));

/** Communication by kind, size, type and group. */
export function OperationsTable({ payload, params, setParam }: TableProps): JSX.Element {
  const { workers, operations } = payload;
  const chosen = readWorker(params.worker_of, workers);
  const rows = useMemo(() => operationRows(operations, chosen), [operations, chosen]);
  const columns = useMemo<Column[]>(() => {
    const of = <T,>(values: readonly T[]): T[] => pick(values, rows);
    return [
      { key: "kind", label: "Operation", term: "distributed_operation", kind: "text", width: 170, values: of(operations.kind) },
      { key: "bytes", label: "Message", term: "distributed_bytes", kind: "bytes", values: of(operations.bytes) },
      { key: "dtype", label: "Type", kind: "text", width: 84, values: of(operations.dtype) },
      { key: "library", label: "Library", kind: "text", width: 84, values: of(operations.library) },
      { key: "group", label: "Group", term: "distributed_group", kind: "text", width: 110, values: of(operations.group) },
      { key: "group_size", label: "Ranks", kind: "count", width: 72, values: of(operations.group_size) },
      { key: "calls", label: "Calls", term: "calls", kind: "count", width: 76, values: of(operations.calls) },
      { key: "total", label: "Total", term: "distributed_total", kind: "time", bar: true, width: 116, values: of(operations.total_ns) },
      { key: "mean", label: "Mean", kind: "time", width: 92, values: of(operations.mean_ns) },
      { key: "exposed", label: "Exposed", term: "distributed_exposed", kind: "time", width: 92, values: of(operations.exposed_ns) },
      { key: "waiting", label: "Waiting", term: "distributed_waiting", kind: "time", width: 92, values: of(operations.waiting_ns) },
      { key: "transfer", label: "Transferring", term: "distributed_transfer", kind: "time", width: 104, values: of(operations.transfer_ns) },
      { key: "algorithm", label: "Algorithm GB/s", term: "distributed_algorithm_bandwidth", kind: "number", width: 92, values: perSecond(of(operations.algorithm_bandwidth)) },
      { key: "bus", label: "Bus GB/s", term: "distributed_bus_bandwidth", kind: "number", width: 84, values: perSecond(of(operations.bus_bandwidth)) },
      { key: "split", label: "Without waiting", term: "distributed_split", kind: "knowledge", hidden: true, values: of(operations.split) },
    ];
  }, [operations, rows]);
  const asked = [...new Set(operations.worker)].flatMap((place) => (place >= 0 && workers[place] ? [{ value: workers[place].worker, label: nameAt(workers, place) }] : []));
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
export function UnmatchedTable({ payload }: { payload: DistributedPayload }): JSX.Element {
  const { unmatched, workers } = payload;
  const columns = useMemo<Column[]>(
    () => [
      { key: "kind", label: "Operation", kind: "text", width: 170, values: unmatched.map(({ kind }) => kind) },
      { key: "group", label: "Group", kind: "text", width: 150, values: unmatched.map(({ group }) => group) },
      { key: "reason", label: "Why", kind: "text", width: 300, grow: true, values: unmatched.map(({ reason }) => reason) },
      { key: "counts", label: "Recorded", kind: "text", width: 320, grow: true, values: unmatched.map(({ counts }) => countsText(counts, workers)) },
    ],
    [unmatched, workers],
  );
  return (
    <Panel title="Not matched" term="distributed_unmatched" flush>
      <Grid label="Collectives that are not matched" columns={columns} rowCount={unmatched.length} height={HEIGHT} />
    </Panel>
  );
}

/** `3 each`, or which ranks have how many. */
export function countsText(counts: readonly number[], workers: DistributedPayload["workers"]): string {
  const by = new Map<number, string[]>();
  counts.forEach((count, place) => by.set(count, [...(by.get(count) ?? []), nameAt(workers, place)]));
  if (by.size === 1) return `${counts[0] ?? 0} each`;
  return [...by].map(([count, names]) => `${count} on ${names.slice(0, 4).join(", ")}${names.length > 4 ? ` and ${names.length - 4} more` : ""}`).join("; ");
}

const deviceText = ({ id, name, memory_bytes, capability }: DistributedDevice): string =>
  [`${id}: ${name ?? "name unknown"}`, memory_bytes === null ? "" : formatBytes(memory_bytes), capability ?? ""].filter(Boolean).join(" · ");

/** Nodes, processes and devices. */
export function WorkersTable(props: TableProps): JSX.Element {
  const { payload, hrefOf } = props;
  const { workers } = payload;
  const columns = useMemo<Column[]>(() => {
    const of = <K extends keyof (typeof workers)[number]>(key: K): (typeof workers)[number][K][] => workers.map((item) => item[key]);
    return [
      { key: "worker", label: "Worker", term: "worker", kind: "text", width: 190, values: of("worker"), href: (row) => hrefOf("overview", {}, traceOf(props, row)) },
      { key: "rank", label: "Rank", term: "rank", kind: "count", width: 68, values: of("rank") },
      { key: "rank_source", label: "Rank from", term: "rank", kind: "text", width: 104, hidden: true, values: of("rank_source") },
      { key: "node", label: "Node", kind: "text", width: 150, values: of("node") },
      { key: "process", label: "Process", kind: "text", width: 84, values: of("process") },
      { key: "devices", label: "Devices", term: "device", kind: "text", width: 300, grow: true, values: workers.map(({ devices }) => devices.map(deviceText).join("; ")), unknown: () => "none recorded" },
      { key: "backend", label: "Backend", term: "backend", kind: "text", width: 84, values: of("backend") },
      { key: "collectives", label: "Collectives", term: "distributed_collectives", kind: "count", values: of("collectives") },
      { key: "offset", label: "Clock offset", term: "distributed_offset", kind: "delta", width: 108, values: of("offset_ns") },
      { key: "error", label: "Clock error", term: "distributed_error", kind: "time", values: of("error_ns") },
      { key: "state", label: "State", kind: "text", width: 150, values: workers.map(({ state, message }) => (message ? `${state}: ${message}` : state)) },
    ];
    // The links read the address bar when they are drawn or followed; new functions need no new columns.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [payload]);
  return (
    <Panel title="Nodes, processes and devices" flush>
      <Grid label="Workers" columns={columns} rowCount={workers.length} height={HEIGHT} storage="distributed-workers" />
    </Panel>
  );
}
