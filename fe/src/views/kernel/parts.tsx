import { useMemo } from "preact/hooks";
import type { EfficiencyPayload, KernelPayload, Vocabulary } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { Badge, CopyButton, type Column, type Part } from "../../widgets";
import { arranged, columnsOf, declaredColumns, pickRows } from "../columns";
import { counterColumns } from "../counters/model";
import { roofsOfRows } from "../efficiency/roof_cell";
import type { ChartsProps } from "../chart_top";
import { Pie } from "../pie";
import { matrixTime, partsByKernel, reasonText, type MatrixTime, type Unattributed } from "./model";

/** Of the rows that the search found. */
export function KernelCharts({
  payload,
  found,
  sortedBy,
  top,
  onSelect,
}: ChartsProps<KernelPayload>) {
  const figure = sortedBy === "calls" ? "calls" : "total_ns";
  const unit = figure === "calls" ? "count" : "ns";
  const word = figure === "calls" ? "calls" : "time";
  const parts = useMemo(() => partsByKernel(payload, found, figure), [payload, found, figure]);
  const matrix = useMemo(
    () => matrixParts(matrixTime(payload, found), payload.vocabulary),
    [payload, found],
  );
  return (
    <>
      <Pie
        title={`${capitalised(word)} by kernel`}
        term={figure === "calls" ? "calls" : "total"}
        of="Kernel"
        figure={`Total ${word}`}
        {...{ parts, unit, top, onSelect }}
        caption="of the rows"
      />
      <Pie
        title={`${capitalised(payload.vocabulary.matrix_cores)} in use`}
        term="matrix"
        of={capitalised(payload.vocabulary.matrix_cores)}
        figure="Kernel time"
        parts={matrix}
        unit="ns"
        caption="kernel time"
      />
    </>
  );
}

function matrixParts(time: MatrixTime, words: Vocabulary): Part[] {
  return [
    { key: "yes", label: `with ${words.matrix_cores}`, value: time.yes, color: "var(--series-3)" },
    { key: "no", label: "without", value: time.no, color: "var(--compute)" },
    { key: "unknown", label: "not known", value: time.unknown, color: "var(--not-recorded)" },
  ];
}

export function UnattributedList({ items }: { items: readonly Unattributed[] }) {
  if (!items.length) return null;
  return (
    <div class="table-notes unattributed">
      <p>Operator unknown, by reason:</p>
      <ul>
        {items.map((item) => (
          <li key={item.reason}>
            <Badge>{item.reason}</Badge> {formatCount(item.calls)}{" "}
            {item.calls === 1 ? "call" : "calls"}, {formatTime(item.ns)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Shown at first. */
const FIRST = [
  ...["name", "operator", "total_ns", "calls", "mean_ns", "of_roof", "occupancy", "matrix"],
  ...["matrix_eligible", "grid", "block", "registers", "shared_memory_bytes", "blocks_per_sm"],
];

/** The declared columns with what only the page has: short names, links, reasons, and what the operators tell of the roof. */
export function kernelColumns(
  payload: KernelPayload,
  operatorHref: (name: string) => string,
  work: EfficiencyPayload | null,
): Column[] {
  const { rows, vocabulary } = payload;
  const columns = declaredColumns(
    "kernels",
    rows,
    {
      name: {
        short: rows.short_name,
        note: (row) =>
          rows.communication[row] ? (
            <Badge tone="info" title="It moves data between devices.">
              comm
            </Badge>
          ) : null,
      },
      operator: {
        unknown: (row) => reasonText(payload, row),
        href: (row) => (rows.operator[row] ? operatorHref(rows.operator[row]) : null),
      },
    },
    vocabulary,
  ).filter(({ key }) => payload.group === "properties" || key !== "matrix_eligible");
  if (payload.group !== "name") return arranged(columns, FIRST);
  const counters = measuredColumns(payload, rows.name);
  return [
    ...arranged([...columns, ...roofs(payload, work)], FIRST),
    ...counters.map((column) => ({ ...column, hidden: counters.length > FEW })),
  ];
}

/** Counters beyond which none is shown at first, and, where nothing else is known, those that are. */
const FEW = 4;

/** The counters of some kernels. */
function measuredColumns({ measured }: KernelPayload, names: readonly string[]): Column[] {
  const place = new Map(measured.name.map((name, at) => [name, at]));
  return counterColumns(
    measured.counters,
    measured.values.map((of) => names.map((name) => of[place.get(name) ?? -1] ?? null)),
  );
}

/** The kernels of a recording of counters, which has no times. */
export function countedColumns(payload: KernelPayload): Column[] {
  const { name, short_name, calls } = payload.measured;
  const column = columnsOf("kernel");
  return [
    column("name", "Kernel", "code", 320, name, { term: "kernel", short: short_name, grow: true }),
    column("calls", "Calls", "count", 80, calls, { term: "calls" }),
    ...measuredColumns(payload, name).map((one, at) => ({ ...one, hidden: at >= FEW })),
  ];
}

/** The share of the roof of all work of a kernel; no column where no kernel has one. */
function roofs({ rows, vocabulary }: KernelPayload, work: EfficiencyPayload | null): Column[] {
  if (!work) return [];
  const { kernels_together: known } = work;
  const place = new Map(known.name.map((name, row) => [name, row]));
  const ofKernels = pickRows(
    known,
    rows.name.map((name) => place.get(name) ?? -1),
  );
  return declaredColumns(
    "kernels_together",
    { of_roof: ofKernels.of_roof.map((share) => share ?? null) },
    { of_roof: roofsOfRows(ofKernels, vocabulary) },
  );
}

export function KernelDetail({ name, timelineHref }: { name: string; timelineHref: string }) {
  return (
    <div class="full-name beneath-name">
      <code>{name || "(no name)"}</code>
      <CopyButton text={name} label="Copy the full name" />
      <a href={timelineHref}>Show on the timeline</a>
    </div>
  );
}
