/** Pure parts of the Memory page. */

import type { ComponentChildren, JSX } from "preact";
import type { AliveColumns, BlockColumns, MemoryAlivePayload, MemoryCurvePayload, MemoryDevice, MemoryStatisticsPayload, StepItem } from "../../api/types.gen";
import { otherColor, seriesColor } from "../../base/theme";
import { formatBytes, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Column, Figure, type StairLine, Staircase, Term } from "../../widgets";
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
}

export function Curve({ curve, categories, steps, ...rest }: CurveProps): JSX.Element {
  const areas = curve.categories_bytes.map((values, i) => ({
    label: categories[i] ?? "",
    color: i === categories.length - 1 ? otherColor : seriesColor(i),
    values,
  }));
  const lines: StairLine[] = [{ label: "allocated", color: areas.length ? "var(--text)" : seriesColor(0), values: curve.allocated_bytes }];
  if (curve.reserved_bytes.some((value) => value !== null)) lines.push({ label: "reserved", color: seriesColor(5), values: curve.reserved_bytes });
  const drawn = [...lines, ...areas];
  return (
    <Figure
      title="Allocated and reserved over time"
      term="memory_curve"
      note={curve.thinned ? "thinned to what can be drawn; highs and lows are exact" : null}
      table={{
        columns: [{ label: "Time", unit: "ns" }, ...drawn.map((line) => ({ label: capitalised(line.label), unit: "bytes" as const }))],
        rows: curve.time_ns.map((time, i) => [time, ...drawn.map((line) => line.values[i] ?? null)]),
      }}
    >
      <Staircase
        {...rest}
        label="Memory over time"
        unit="bytes"
        time={curve.time_ns}
        lines={lines}
        areas={areas}
        bands={steps.map((step) => ({ t0: step.start_ns, t1: step.start_ns + step.wall_ns, label: step.name.replace(/^ProfilerStep#/, "step ") }))}
        peak={{ time: curve.peak_ns, value: curve.peak_bytes }}
      />
    </Figure>
  );
}

/** The device's peak, and how near it is to what the device has. */
export function Headline({ device }: { device: MemoryDevice }): JSX.Element {
  const { name, peak_bytes, peak_ns, peak_reserved_bytes: reserved, capacity_bytes: capacity } = device;
  return (
    <section class="headline" aria-label="In short">
      <p class="headline-first">
        {`${name}: at most ${formatBytes(peak_bytes)} allocated, at ${formatTime(peak_ns)}`}
        {capacity ? `, ${formatShare(peak_bytes / capacity)} of its ${formatBytes(capacity)}` : ""}
      </p>
      {reserved ? <p class="headline-more">{`At most ${formatBytes(reserved)} reserved${capacity ? `, ${formatShare(reserved / capacity)}` : ""}.`}</p> : null}
    </section>
  );
}

/** What was held at the moment, and how much of it to no use. */
export function AliveFacts({ alive }: { alive: MemoryAlivePayload }): JSX.Element {
  const { reserved_bytes: reserved, fragmented_bytes: fragmented } = alive;
  const fact = (term: string, label: string, value: ComponentChildren): JSX.Element => (
    <div>
      <dt>
        <Term id={term}>{label}</Term>
      </dt>
      <dd class="number">{value}</dd>
    </div>
  );
  return (
    <dl class="totals">
      {fact("memory_curve", "Allocated", formatBytes(alive.allocated_bytes))}
      {fact("memory_curve_reserved", "Reserved", formatBytes(reserved))}
      {fact("memory_fragmented", "Reserved, not allocated", `${formatBytes(fragmented)}${reserved && fragmented !== null ? ` (${formatShare(fragmented / reserved)})` : ""}`)}
    </dl>
  );
}

export interface MemoryLinks {
  operator: (name: string) => string;
  module: (name: string) => string;
  event: (event: number) => string;
}

/** Only what at least one row knows. */
const told = (columns: readonly Column[]): Column[] => columns.filter(({ values }) => !values.length || Array.from(values).some((value) => value !== null));

function originColumns(rows: BlockColumns | AliveColumns, links: MemoryLinks): Column[] {
  const linked = (values: readonly (string | null)[], href: (name: string) => string) => ({
    values,
    href: (row: number): string | null => (values[row] ? href(values[row]) : null),
  });
  return [
    { key: "operator", label: "Operator", term: "memory_block_operator", kind: "code", width: 220, ...linked(rows.operator, links.operator) },
    { key: "parent", label: "Called by", term: "memory_block_parent", kind: "code", width: 180, grow: true, ...linked(rows.parent, links.operator) },
    { key: "module", label: "Module", term: "memory_block_module", kind: "code", width: 150, ...linked(rows.module, links.module) },
    { key: "line", label: "Line", term: "memory_block_line", kind: "code", width: 220, grow: true, values: rows.line },
    { key: "category", label: "Category", term: "memory_block_category", kind: "text", width: 120, values: rows.category },
  ];
}

const before = (values: readonly (number | null)[], text: string) => (row: number): string | null => (values[row] === null ? text : null);

export function aliveColumns(rows: AliveColumns, links: MemoryLinks): Column[] {
  return told([
    ...originColumns(rows, links),
    { key: "bytes", label: "Alive", term: "memory_alive", kind: "bytes", width: 110, bar: true, values: rows.bytes },
    { key: "count", label: "Blocks", term: "memory_alive_count", kind: "count", width: 80, values: rows.count },
    { key: "largest", label: "Largest", term: "memory_largest", kind: "bytes", width: 92, values: rows.largest_bytes },
    { key: "oldest", label: "Oldest", term: "memory_oldest", kind: "time", width: 110, values: rows.oldest_ns, unknown: before(rows.oldest_ns, "before the recording") },
  ]);
}

export function blockColumns(rows: BlockColumns, links: MemoryLinks): Column[] {
  const event = (row: number): string | null => (rows.event[row] === null || rows.event[row] === undefined ? null : links.event(rows.event[row]));
  return told([
    ...originColumns(rows, links),
    { key: "bytes", label: "Size", term: "memory_block_bytes", kind: "bytes", width: 110, bar: true, values: rows.bytes },
    { key: "allocated", label: "Allocated at", term: "memory_allocated_at", kind: "time", width: 110, values: rows.allocated_ns, href: event, unknown: before(rows.allocated_ns, "before the recording") },
    { key: "released", label: "Released at", term: "memory_released_at", kind: "time", width: 110, values: rows.released_ns, unknown: before(rows.released_ns, "not in the recording") },
    { key: "lifetime", label: "Lifetime", term: "memory_lifetime", kind: "time", width: 92, values: lifetimes(rows) },
  ]);
}

export function statisticsColumns({ rows, group }: MemoryStatisticsPayload, links: MemoryLinks): Column[] {
  const pooled = (row: number): boolean => row === rows.name.length - 1 && rows.name[row] === "other";
  return told([
    {
      key: "name",
      label: capitalised(group),
      term: `memory_block_${group}`,
      kind: "code",
      width: 260,
      values: rows.name,
      href: (row) => (pooled(row) ? null : links[group](rows.name[row] ?? "")),
    },
    { key: "calls", label: "Calls", term: "memory_calls", kind: "count", width: 80, values: rows.calls },
    { key: "increase", label: "Size increase", term: "memory_increase", kind: "bytes", width: 120, values: rows.increase_bytes },
    { key: "self_increase", label: "Self size increase", term: "memory_self_increase", kind: "bytes", width: 120, bar: true, values: rows.self_increase_bytes },
    { key: "allocations", label: "Allocations", term: "memory_allocations", kind: "count", width: 104, values: rows.allocations },
    { key: "self_allocations", label: "Self allocations", term: "memory_self_allocations", kind: "count", width: 104, values: rows.self_allocations },
    { key: "allocation", label: "Allocated in all", term: "memory_allocation_bytes", kind: "bytes", width: 120, values: rows.allocation_bytes },
    { key: "self_allocation", label: "Self allocated in all", term: "memory_self_allocation_bytes", kind: "bytes", width: 120, bar: true, values: rows.self_allocation_bytes },
  ]);
}
