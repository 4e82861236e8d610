import { useMemo } from "preact/hooks";
import type { DistributedPayload } from "../../api/types.gen";
import { stepName } from "../../base/words";
import { isChosen, type ViewProps } from "../../state/view";
import { type CellKind, type CellValue, type Column, GridPanel, Select } from "../../widgets";
import { columnsOf, declaredColumns, knownColumns, pickRows, useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { chosenColumns, columnsText } from "./columns";
import {
  nameAt,
  operationRows,
  readWorker,
  type Table,
  traceOf,
  valuesAt,
  workerName,
} from "./model";
import { timelineHref } from "./timeline_link";

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
    value: (row: T) => CellValue | undefined,
    more?: Partial<Column>,
  ): Column => {
    const values = rows.map((row) => value(row) ?? null);
    return column(key, label, kind, width, values, more);
  };

/** A table with less than this is as high as its rows. */
const HEIGHT = 380;

/** Who holds each step back, by how much, and with what. */
export function BlameTable(props: TableProps) {
  const { payload, hrefOf, selection } = props;
  const { steps, workers } = payload;
  const blame = useMemo(
    () => payload.blame.filter(({ step }) => isChosen(props.steps, payload.own_steps[step] ?? -1)),
    [payload, props.steps],
  );
  const columns = useColumns(() => {
    const event = (row: number): string | null => {
      const { worker: place = -1, parts: [part] = [] } = blame[row] ?? {};
      const worker = workers[place];
      return worker && part
        ? hrefOf("trace", { sel: String(part.event) }, traceOf(selection, worker))
        : null;
    };
    const of = columnsOfRows(blame);
    const names = (places: readonly number[]) =>
      places.map((place) => nameAt(workers, place)).join(", ");
    return [
      of("step", "Step", "text", 84, ({ step }) =>
        [stepName(steps[step] ?? ""), payload.unjudged.includes(step) ? "not judged" : ""]
          .filter(Boolean)
          .join(", "),
      ),
      of("held_by", "Waited for", "text", 92, ({ worker }) => nameAt(workers, worker)),
      of("also", "Likewise", "text", 90, ({ also }) => names(also) || null),
      of("held", "By", "time", 112, (item) => item.held_ns, { bar: true }),
      of("on_path", "On the path", "time", 92, (item) => item.path_ns),
      of("work", "What takes longer", "code", 210, ({ parts: [part] }) => part?.name, {
        href: event,
      }),
      of("work_ns", "Longer by", "time", 84, ({ parts: [part] }) => part?.held_ns),
      of("kind", "Kind", "text", 110, ({ parts: [part] }) => part?.kind),
      of("module", "Module", "code", 120, ({ parts: [part] }) => part?.module),
      of("line", "Source line", "code", 170, ({ parts: [part] }) => part?.line, { grow: true }),
    ];
  }, [blame]);
  return (
    <GridPanel
      label="Who holds whom back"
      term="distributed_blame"
      columns={columns}
      height={HEIGHT}
      storage="distributed-blame"
    />
  );
}

/** Communication by kind, size, type and group. */
export function OperationsTable({ payload, params, setParam }: TableProps) {
  const { workers, operations } = payload;
  const chosen = readWorker(params.worker_of, workers);
  const rows = useMemo(() => operationRows(operations, chosen), [operations, chosen]);
  const columns = useMemo(
    () => declaredColumns("operations", pickRows(operations, rows)),
    [operations, rows],
  );
  const asked = [...new Set(operations.worker)].flatMap((place) =>
    place >= 0 && workers[place]
      ? [{ value: workers[place].worker, label: nameAt(workers, place) }]
      : [],
  );
  return (
    <GridPanel
      label="Communication operations"
      term="distributed_operation"
      columns={columns}
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
    <GridPanel
      title="Not matched"
      term="distributed_unmatched"
      label="Collectives that are not matched"
      columns={columns}
      height={HEIGHT}
    />
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

/** Links from workers to their overviews. */
export const toOverview =
  (
    hrefOf: ViewProps["hrefOf"],
    selection: ViewProps["selection"],
    workers: DistributedPayload["workers"],
  ) =>
  (row: number): string | null => {
    const worker = workers[row];
    return worker ? hrefOf("overview", { all: "" }, traceOf(selection, worker)) : null;
  };

export function WorkersTable({ payload, hrefOf, selection }: TableProps) {
  const { workers } = payload;
  const columns = useColumns(() => {
    const of = columnsOfRows(workers);
    const unknown = (row: number): string =>
      workers[row]?.state === "ready" ? "none recorded" : "not read";
    return [
      of("worker", "Worker", "text", 170, ({ worker }) => worker, {
        term: "worker",
        href: toOverview(hrefOf, selection, workers),
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
    <GridPanel
      title="Nodes, processes and devices"
      label="Workers"
      columns={columns}
      height={HEIGHT}
      storage="distributed-workers"
    />
  );
}

/** The figures of every worker as a table, where they are too many for a bar each. */
export function FiguresTable(props: ViewProps & { payload: DistributedPayload }) {
  const { payload, steps, hrefOf, selection } = props;
  const { workers, overlap, waiting, counts } = payload;
  const at = chosenColumns(steps, payload);
  const columns = useColumns((): Column[] => {
    const rounded = (table: Table): CellValue[] =>
      valuesAt(table, at, counts).map((value) => (value === null ? null : Math.round(value)));
    const time = (key: string, label: string, table: Table, term: string): Column =>
      column(key, label, "time", 108, rounded(table), { term: `distributed_${term}`, bar: true });
    return knownColumns([
      column("worker", "Worker", "text", 120, workers.map(workerName), {
        term: "worker",
        href: toOverview(hrefOf, selection, workers),
      }),
      column(
        "node",
        "Node",
        "text",
        110,
        workers.map(({ node }) => node || null),
      ),
      time("late", "Late", waiting.late_ns, "late"),
      time("waiting", "Waiting", waiting.waiting_ns, "waiting"),
      time("transfer", "Transferring", waiting.transfer_ns, "transfer"),
      time("computation", "Computation", overlap.computation_ns, "overlap"),
      time("hidden", "Overlapping", overlap.overlap_ns, "overlap"),
      time("exposed", "Communication", overlap.communication_ns, "overlap"),
      time("other", "Other", overlap.other_ns, "overlap"),
      column(
        "timeline",
        "Timeline",
        "text",
        80,
        workers.map(() => "show"),
        {
          term: "distributed_timeline",
          href: (row) => timelineHref(hrefOf, selection, workers, [row]),
        },
      ),
    ]);
  }, [payload, steps]);
  return (
    <GridPanel
      title={`Figures per worker, ${columnsText(at, payload)}`}
      label="Figures per worker"
      columns={columns}
      height={HEIGHT}
      storage="distributed-figures"
    />
  );
}
