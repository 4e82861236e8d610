import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type {
  HeldFrames,
  MemoryAlivePayload,
  MemoryAliveTable,
  MemoryBlocksTable,
  MemoryChangesPayload,
  MemoryCurvePayload,
  MemoryFailure,
  MemoryStatisticsPayload,
} from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { formatBytes, formatCount, formatShare } from "../../base/units";
import { capitalised } from "../../base/words";
import type { ViewProps } from "../../state/view";
import { type Column, Figure, Flame, type StairLine, Staircase, Term } from "../../widgets";
import { declaredColumns } from "../columns";
import { linkedTo, timelineColumns } from "../links";
import type { Total } from "../totals";
import { categoryColour, inOrder } from "./categories";
import {
  type AliveGroup,
  CHANGE_LABELS,
  type ChangesBy,
  framesOf,
  shortageOf,
  type Stretch,
} from "./model";
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

/** All that is held, by the calls that allocated it. */
export function Held({ frames }: { frames: HeldFrames }) {
  const drawn = useMemo(() => framesOf(frames), [frames]);
  return <Flame label="What is held, by the calls that allocated it" {...drawn} />;
}

/** A request that failed, to scale: what was free, the reserved pieces beside it, and below it what was asked for, which sticks out by what is missing. */
export function Shortage({ failure }: { failure: MemoryFailure }) {
  const drawn = shortageOf(failure);
  if (!drawn) return null;
  const { allocated_bytes, free_bytes, requested_bytes, unused_bytes, pieces } = failure;
  const [allocated, free, asked] = [allocated_bytes, free_bytes, requested_bytes].map(formatBytes);
  const missing = drawn.missing ? `, ${formatBytes(drawn.missing)} more than was free` : "";
  const box = (kind: string, share: number, key: number | string = kind) => (
    <i key={key} class={`shortage-${kind}`} style={{ width: `${100 * share}%` }} />
  );
  const beside = pieces
    ? `${formatBytes(unused_bytes)} reserved, in ${formatCount(pieces)} ${pieces === 1 ? "piece" : "pieces"}`
    : unused_bytes
      ? `${formatBytes(unused_bytes)} reserved and free`
      : "";
  const [held = 0, unused = 0, left = 0] = drawn.device;
  return (
    <figure class="shortage" aria-label="Out of memory">
      {drawn.device.length ? (
        <div>
          <p>
            <span>allocated {allocated}</span>
            {unused ? <span>reserved</span> : null}
            <span>free</span>
          </p>
          <div class="shortage-bar">
            {box("held", held)}
            {unused ? box("piece", unused) : null}
            {box("free", left)}
          </div>
        </div>
      ) : null}
      <div>
        <p>
          <span>
            <Term id="memory_failed">free</Term> {free}
          </span>
          <span>{beside && `+ ${beside}`}</span>
        </p>
        <div class="shortage-bar">
          {box("free", drawn.free)}
          {drawn.pieces.map((share, i) => box("piece", share, i))}
        </div>
        <div class="shortage-bar">
          {box("asked", drawn.asked)}
          <span>
            {asked} asked for{missing}
          </span>
        </div>
      </div>
    </figure>
  );
}
