import type { ComponentChildren } from "preact";
import type {
  MemoryAlivePayload,
  MemoryAliveTable,
  MemoryBlocksTable,
  MemoryChangesPayload,
  MemoryCurvePayload,
  MemoryFailure,
  MemoryHolder,
  MemoryStatisticsPayload,
} from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { formatBytes, formatShare } from "../../base/units";
import { capitalised } from "../../base/words";
import type { ViewProps } from "../../state/view";
import { type Column, Figure, type StairLine, Staircase } from "../../widgets";
import { declaredColumns } from "../columns";
import { linkedTo, timelineColumns } from "../links";
import type { Total } from "../totals";
import { categoryColour, inOrder } from "./categories";
import { type AliveGroup, CHANGE_LABELS, type ChangesBy, type Stretch } from "./model";
import type { Step } from "../rows";

interface CurveProps {
  curve: MemoryCurvePayload;
  categories: readonly string[];
  known: readonly string[];
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

export function Curve({ curve, categories, known, steps, note, actions, ...rest }: CurveProps) {
  const areas = inOrder(categories).flatMap((i) => {
    const values = curve.categories_bytes[i] ?? [];
    const name = categories[i] ?? "";
    const label = known[i]?.includes("inferred") ? `${name} (${known[i]})` : name;
    return values.some((value) => value > 0)
      ? [{ label, color: categoryColour(name), values }]
      : [];
  });
  const lines: StairLine[] = [
    {
      label: "allocated",
      color: areas.length ? "var(--ink)" : seriesColor(0),
      values: curve.rows.allocated_bytes,
    },
  ];
  if (curve.rows.reserved_bytes.some((value) => value !== null))
    lines.push({
      label: "reserved",
      color: areas.length ? "var(--ink-2)" : seriesColor(5),
      values: curve.rows.reserved_bytes,
    });
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

type Href = ViewProps["hrefOf"];

function originLinks(
  { operator, parent, module }: MemoryAliveTable | MemoryBlocksTable,
  hrefOf: Href,
): Record<string, Partial<Column>> {
  return {
    operator: { href: linkedTo(hrefOf, "operator", operator) },
    parent: { grow: true, href: linkedTo(hrefOf, "operator", parent) },
    module: { href: linkedTo(hrefOf, "module", module) },
    line: { grow: true },
    category: { kind: "text" },
  };
}

const before = { unknown: () => "before the recording" };

/** The column of the group comes first. */
export function aliveColumns(rows: MemoryAliveTable, group: AliveGroup, hrefOf: Href): Column[] {
  const columns = declaredColumns("memory_alive", rows, {
    ...originLinks(rows, hrefOf),
    oldest_ns: before,
  });
  return [...columns].sort((a, b) => Number(b.key === group) - Number(a.key === group));
}

export const blockColumns = (rows: MemoryBlocksTable, hrefOf: Href): Column[] => [
  ...declaredColumns("memory_blocks", rows, {
    ...originLinks(rows, hrefOf),
    allocated_ns: before,
    released_ns: { unknown: () => "not in the recording" },
  }),
  ...timelineColumns("memory", 76, "its call", rows.event, hrefOf),
];

export function statisticsColumns(
  { rows, group, pooled }: MemoryStatisticsPayload,
  hrefOf: Href,
): Column[] {
  const names = pooled ? rows.name.slice(0, -1) : rows.name;
  return declaredColumns("memory_statistics", rows, {
    name: {
      label: capitalised(group),
      term: `memory_block_${group}`,
      href: linkedTo(hrefOf, group, names),
    },
  });
}

export function changesColumns(
  { rows }: MemoryChangesPayload,
  by: ChangesBy,
  hrefOf: Href,
): Column[] {
  const to = by === "parent" ? "operator" : by;
  const linked = to === "operator" || to === "module";
  return declaredColumns("memory_changes", rows, {
    name: {
      label: capitalised(CHANGE_LABELS[by]),
      term: `memory_block_${by}`,
      grow: true,
      ...(linked ? { href: linkedTo(hrefOf, to, rows.name) } : {}),
    },
  });
}

/** What the tiles' colours mean: the categories that are alive. */
export function CategoryLegend({ rows }: { rows: MemoryAliveTable }) {
  const names = [...new Set(rows.category)].map((name) => name ?? "unknown");
  if (!rows.category.some((name) => name !== null)) return null;
  return (
    <ul class="legend-line">
      {inOrder(names).map((i) => (
        <li key={names[i]}>
          <span class="swatch" style={{ background: categoryColour(names[i] ?? null) }} />
          {names[i]}
        </li>
      ))}
    </ul>
  );
}

function Holders({ title, holders }: { title: string; holders: readonly MemoryHolder[] }) {
  return holders.length ? (
    <div>
      <h3>{title}</h3>
      <ul>
        {holders.map(({ name, bytes }) => (
          <li key={name}>
            <span class="number">{formatBytes(bytes)}</span> {name ?? "not known"}
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}

/** An allocation that the device had no room for: where it came from, and what held the memory. */
export function Failed({ failure }: { failure: MemoryFailure }) {
  const { stack, by_category, by_line } = failure;
  return (
    <div class="memory-failed">
      {stack.length ? (
        <div>
          <h3>Asked for by</h3>
          <pre tabIndex={0} aria-label="Call stack">
            {stack.join("\n")}
          </pre>
        </div>
      ) : null}
      <Holders title="Held, by category" holders={by_category} />
      <Holders title="Held, by line" holders={by_line.some((row) => row.name) ? by_line : []} />
    </div>
  );
}
