import type { ComponentChildren } from "preact";
import type {
  AliveColumns,
  BlockColumns,
  MemoryAlivePayload,
  MemoryCurvePayload,
  MemoryDevice,
  MemoryStatisticsPayload,
  StepItem,
} from "../../api/types.gen";
import { otherColor, seriesColor } from "../../base/theme";
import { formatBytes, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Column, Figure, type StairLine, Staircase } from "../../widgets";
import { columnsOf, knownColumns } from "../columns";
import type { Total } from "../totals";
import { lifetimes, type Stretch } from "./model";

interface CurveProps {
  curve: MemoryCurvePayload;
  categories: readonly string[];
  steps: readonly StepItem[];
  window: Stretch;
  whole: Stretch;
  picked: number;
  onWindow: (window: Stretch | null) => void;
  onPick: (time: number) => void;
  /** What the chart shows, and the controls beside its title. */
  note: string;
  actions: ComponentChildren;
}

export function Curve({ curve, categories, steps, note, actions, ...rest }: CurveProps) {
  const areas = curve.categories_bytes.map((values, i) => ({
    label: categories[i] ?? "",
    color: i === categories.length - 1 ? otherColor : seriesColor(i),
    values,
  }));
  const lines: StairLine[] = [
    {
      label: "allocated",
      color: areas.length ? "var(--text)" : seriesColor(0),
      values: curve.allocated_bytes,
    },
  ];
  if (curve.reserved_bytes.some((value) => value !== null))
    lines.push({ label: "reserved", color: seriesColor(5), values: curve.reserved_bytes });
  const drawn = [...lines, ...areas];
  return (
    <Figure
      title="Memory over time"
      term="memory_view"
      note={`${note}${curve.thinned ? "; thinned to what can be drawn, highs and lows are exact" : ""}`}
      actions={actions}
      table={{
        columns: [
          { label: "Time", unit: "ns" },
          ...drawn.map((line) => ({ label: capitalised(line.label), unit: "bytes" as const })),
        ],
        rows: curve.time_ns.map((time, i) => [
          time,
          ...drawn.map((line) => line.values[i] ?? null),
        ]),
      }}
    >
      <Staircase
        {...rest}
        label="Memory over time"
        unit="bytes"
        time={curve.time_ns}
        lines={lines}
        areas={areas}
        bands={steps.map((step) => ({
          t0: step.start_ns,
          t1: step.start_ns + step.wall_ns,
          label: step.name.replace(/^ProfilerStep#/, "step "),
        }))}
        peak={{ time: curve.peak_ns, value: curve.peak_bytes }}
      />
    </Figure>
  );
}

/** The device's peak, and how near it is to what the device has. */
export function Headline({ device }: { device: MemoryDevice }) {
  const {
    name,
    peak_bytes,
    peak_ns,
    peak_reserved_bytes: reserved,
    capacity_bytes: capacity,
  } = device;
  return (
    <section class="headline" aria-label="In short">
      <p class="headline-first">
        {`${name}: at most ${formatBytes(peak_bytes)} allocated, at ${formatTime(peak_ns)}`}
        {capacity ? `, ${formatShare(peak_bytes / capacity)} of its ${formatBytes(capacity)}` : ""}
      </p>
      {reserved ? (
        <p class="headline-more">{`At most ${formatBytes(reserved)} reserved${capacity ? `, ${formatShare(reserved / capacity)}` : ""}.`}</p>
      ) : null}
    </section>
  );
}

/** What was held at the moment, and how much of it to no use; the CPU's allocator reserves nothing ahead. */
export function aliveFacts({
  allocated_bytes: allocated,
  reserved_bytes: reserved,
  fragmented_bytes: fragmented,
}: MemoryAlivePayload): Total[] {
  return [
    { term: "memory_curve", label: "Allocated", text: formatBytes(allocated) },
    ...(reserved === null
      ? []
      : [{ term: "memory_curve_reserved", label: "Reserved", text: formatBytes(reserved) }]),
    ...(fragmented === null
      ? []
      : [
          {
            term: "memory_fragmented",
            label: "Reserved, not allocated",
            text: `${formatBytes(fragmented)}${reserved ? ` (${formatShare(fragmented / reserved)})` : ""}`,
          },
        ]),
  ];
}

export interface MemoryLinks {
  operator: (name: string) => string;
  module: (name: string) => string;
  event: (event: number) => string;
}

const column = columnsOf("memory");

function originColumns(rows: BlockColumns | AliveColumns, links: MemoryLinks): Column[] {
  const linked = (
    values: readonly (string | null)[],
    href: (name: string) => string,
  ): Partial<Column> => ({ href: (row) => (values[row] ? href(values[row]) : null) });
  return [
    column(
      "block_operator",
      "Operator",
      "code",
      200,
      rows.operator,
      linked(rows.operator, links.operator),
    ),
    column("block_parent", "Called by", "code", 180, rows.parent, {
      grow: true,
      ...linked(rows.parent, links.operator),
    }),
    column("block_module", "Module", "code", 150, rows.module, linked(rows.module, links.module)),
    column("block_line", "Line", "code", 220, rows.line, { grow: true }),
    column("block_category", "Category", "text", 120, rows.category),
  ];
}

export function aliveColumns(rows: AliveColumns, links: MemoryLinks): Column[] {
  return knownColumns([
    ...originColumns(rows, links),
    column("alive", "Alive", "bytes", 110, rows.bytes, { bar: true }),
    column("alive_count", "Blocks", "count", 80, rows.count),
    column("largest", "Largest", "bytes", 92, rows.largest_bytes),
    column("oldest", "Oldest", "time", 100, rows.oldest_ns, { unknown: () => BEFORE }),
  ]);
}

const BEFORE = "before the recording";

export function blockColumns(rows: BlockColumns, links: MemoryLinks): Column[] {
  const { event } = rows;
  return knownColumns([
    ...originColumns(rows, links),
    column("block_bytes", "Size", "bytes", 100, rows.bytes, { bar: true }),
    column("allocated_at", "Allocated at", "time", 100, rows.allocated_ns, {
      unknown: () => BEFORE,
    }),
    column("released_at", "Released at", "time", 100, rows.released_ns, {
      unknown: () => "not in the recording",
    }),
    column("lifetime", "Lifetime", "time", 84, lifetimes(rows)),
    column(
      "timeline",
      "Timeline",
      "text",
      76,
      event.map((number) => (number === null ? null : "its call")),
      {
        href: (row) => (typeof event[row] === "number" ? links.event(event[row]) : null),
      },
    ),
  ]);
}

export function statisticsColumns(
  { rows, group }: MemoryStatisticsPayload,
  links: MemoryLinks,
): Column[] {
  const pooled = (row: number): boolean =>
    row === rows.name.length - 1 && rows.name[row] === "other";
  return knownColumns([
    column(`block_${group}`, capitalised(group), "code", 240, rows.name, {
      href: (row) => (pooled(row) ? null : links[group](rows.name[row] ?? "")),
    }),
    column("calls", "Calls", "count", 80, rows.calls),
    column("increase", "Size increase", "bytes", 116, rows.increase_bytes),
    column("self_increase", "Self size increase", "bytes", 120, rows.self_increase_bytes, {
      bar: true,
    }),
    column("allocations", "Allocations", "count", 104, rows.allocations),
    column("self_allocations", "Self allocations", "count", 104, rows.self_allocations),
    column("allocation_bytes", "Allocated in all", "bytes", 116, rows.allocation_bytes),
    column(
      "self_allocation_bytes",
      "Self allocated in all",
      "bytes",
      120,
      rows.self_allocation_bytes,
      { bar: true },
    ),
  ]);
}
