import type { ComponentChildren } from "preact";
import { MEMORY_ALIVE, MEMORY_BLOCKS, MEMORY_STATISTICS } from "../../api/tables.gen";
import type {
  MemoryAlivePayload,
  MemoryAliveTable,
  MemoryBlocksTable,
  MemoryCurvePayload,
  MemoryStatisticsPayload,
} from "../../api/types.gen";
import { otherColor, seriesColor } from "../../base/theme";
import { formatBytes, formatShare } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Column, Figure, type StairLine, Staircase } from "../../widgets";
import { declaredColumns, knownColumns } from "../columns";
import type { Total } from "../totals";
import type { Stretch } from "./model";
import type { Step } from "../rows";

interface CurveProps {
  curve: MemoryCurvePayload;
  categories: readonly string[];
  steps: readonly Step[];
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
      values: curve.rows.allocated_bytes,
    },
  ];
  if (curve.rows.reserved_bytes.some((value) => value !== null))
    lines.push({ label: "reserved", color: seriesColor(5), values: curve.rows.reserved_bytes });
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
        rows: curve.rows.time_ns.map((time, i) => [
          time,
          ...drawn.map((line) => line.values[i] ?? null),
        ]),
      }}
    >
      <Staircase
        {...rest}
        label="Memory over time"
        unit="bytes"
        time={curve.rows.time_ns}
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

function originLinks(
  { operator, parent, module }: MemoryAliveTable | MemoryBlocksTable,
  links: MemoryLinks,
): Record<string, Partial<Column>> {
  const linked = (
    values: readonly (string | null)[],
    href: (name: string) => string,
  ): Partial<Column> => ({ href: (row) => (values[row] ? href(values[row]) : null) });
  return {
    operator: linked(operator, links.operator),
    parent: { grow: true, ...linked(parent, links.operator) },
    module: linked(module, links.module),
    line: { grow: true },
    category: { kind: "text" },
  };
}

const before = { unknown: () => "before the recording" };

export const aliveColumns = (rows: MemoryAliveTable, links: MemoryLinks): Column[] =>
  declaredColumns(MEMORY_ALIVE, rows, { ...originLinks(rows, links), oldest_ns: before });

export function blockColumns(rows: MemoryBlocksTable, links: MemoryLinks): Column[] {
  const called = rows.event.map((event) => (event < 0 ? null : "its call"));
  return [
    ...declaredColumns(MEMORY_BLOCKS, rows, {
      ...originLinks(rows, links),
      allocated_ns: before,
      released_ns: { unknown: () => "not in the recording" },
    }),
    ...knownColumns([
      {
        key: "timeline",
        label: "Timeline",
        kind: "text",
        width: 76,
        term: "memory_timeline",
        values: called,
        href: (row) => (called[row] ? links.event(rows.event[row] ?? -1) : null),
      },
    ]),
  ];
}

export function statisticsColumns(
  { rows, group, pooled }: MemoryStatisticsPayload,
  links: MemoryLinks,
): Column[] {
  const isRest = (row: number): boolean => pooled > 0 && row === rows.name.length - 1;
  return declaredColumns(MEMORY_STATISTICS, rows, {
    name: {
      label: capitalised(group),
      term: `memory_block_${group}`,
      href: (row) => (isRest(row) ? null : links[group](rows.name[row] ?? "")),
    },
  });
}
