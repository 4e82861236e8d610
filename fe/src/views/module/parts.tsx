/** Pure parts of the Module page. */

import type { JSX } from "preact";
import type { FlameColumns, ModulePayload } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type CellValue, type Column, FLAME_KINDS, Term } from "../../widgets";
import { byClass, kindText, totalParts, type Part } from "./model";

export interface ModuleLinks {
  /** The timeline at an event. */
  timeline: (event: number) => string;
  /** The flame graph at a module. */
  flame: (event: number) => string;
  onFlame: (event: number) => void;
}

type Times = Pick<
  ModulePayload["rows"],
  | "forward_host_total_ns"
  | "forward_host_self_ns"
  | "forward_device_total_ns"
  | "forward_device_self_ns"
  | "backward_host_total_ns"
  | "backward_host_self_ns"
  | "backward_device_total_ns"
  | "backward_device_self_ns"
  | "allocated_bytes"
  | "increase_bytes"
  | "calls"
  | "operators"
  | "event"
>;

const noClass = (): string => "not known";

/** The columns of the tree. */
export function treeColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const { rows } = payload;
  return [
    { key: "name", label: "Module", term: "module_name", kind: "code", width: 210, values: rows.name },
    { key: "kind", label: "Class", term: "module_class", kind: "code", width: 120, hidden: true, values: rows.kind, unknown: noClass },
    ...figureColumns(payload, rows),
    ...linkColumns(rows.event, links),
  ];
}

/** The columns of the classes. */
export function classColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const flat = byClass(payload.rows);
  return [
    { key: "kind", label: "Class", term: "module_class", kind: "code", width: 250, values: flat.kind, unknown: noClass },
    { key: "modules", label: "Modules", term: "module_instances", kind: "count", width: 82, values: flat.modules },
    ...figureColumns(payload, flat),
    ...linkColumns(flat.event, links).slice(-1),
  ];
}

function figureColumns({ has_device, has_backward, has_memory, vocabulary }: ModulePayload, rows: Times): Column[] {
  const device = capitalised(vocabulary.device);
  const time = (key: string, label: string, values: ArrayLike<CellValue>, more: Partial<Column> = {}): Column => ({
    key,
    label,
    term: `module_${key}`,
    kind: "time",
    width: 98,
    bar: true,
    values,
    ...more,
  });
  // With a device its times are the news; those of the host are a press away.
  const aside = { hidden: has_device };
  return [
    { key: "calls", label: "Calls", term: "module_calls", kind: "count", width: 64, values: rows.calls },
    { key: "operators", label: "Operators", term: "module_operators", kind: "count", width: 82, values: rows.operators },
    ...(has_device ? [time("forward_device_total", `Forward ${device}`, rows.forward_device_total_ns), time("forward_device_self", `Forward ${device} self`, rows.forward_device_self_ns)] : []),
    ...(has_device && has_backward
      ? [time("backward_device_total", `Backward ${device}`, rows.backward_device_total_ns), time("backward_device_self", `Backward ${device} self`, rows.backward_device_self_ns)]
      : []),
    time("forward_host_total", "Forward host", rows.forward_host_total_ns),
    time("forward_host_self", "Forward host self", rows.forward_host_self_ns, aside),
    ...(has_backward ? [time("backward_host_total", "Backward host", rows.backward_host_total_ns), time("backward_host_self", "Backward host self", rows.backward_host_self_ns, aside)] : []),
    ...(has_memory
      ? [
          { key: "allocated", label: "Allocated", term: "module_allocated", kind: "bytes" as const, width: 96, values: rows.allocated_bytes },
          { key: "increase", label: "Memory increase", term: "module_increase", kind: "bytes" as const, width: 96, values: rows.increase_bytes, hidden: has_device },
        ]
      : []),
  ];
}

function linkColumns(events: readonly number[], links: ModuleLinks): Column[] {
  const column = (key: string, label: string, text: string, width: number, href: (event: number) => string, onFollow?: (event: number) => void): Column => ({
    key,
    label,
    kind: "text",
    width,
    values: events.map((event) => (event < 0 ? "" : text)),
    href: (row) => ((events[row] ?? -1) < 0 ? null : href(events[row] ?? -1)),
    unknown: () => "",
    ...(onFollow ? { onFollow: (row: number) => onFollow(events[row] ?? -1) } : {}),
  });
  return [column("flame", "Inside", "its frames", 96, links.flame, links.onFlame), column("timeline", "Timeline", "longest call", 100, links.timeline)];
}

/** Where the time is, and how much of the backward pass is laid at modules. */
export function Totals({ payload }: { payload: ModulePayload }): JSX.Element {
  return (
    <dl class="totals">
      {totalParts({ ...payload, backward: payload.has_backward }).map(({ term, label, text }: Part) => (
        <div key={term}>
          <dt>
            <Term id={term}>{label}</Term>
          </dt>
          <dd class="number">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What is said of a frame; its name first. */
export function frameLines(rows: FlameColumns, row: number, hasDevice: boolean, device: string, total: number, width: number): string[] {
  return [
    rows.name[row] ?? "",
    kindText(rows, row),
    `${formatShare(total > 0 ? width / total : null)} of all`,
    `Host ${formatTime(rows.host_ns[row])}`,
    ...(hasDevice ? [`${capitalised(device)} ${formatTime(rows.device_ns[row])}`] : []),
    `${formatCount(rows.calls[row])} ${rows.kind[row] === "line" ? "operator " : ""}${rows.calls[row] === 1 ? "call" : "calls"}`,
  ];
}

const KIND_LABELS: Readonly<Record<(typeof FLAME_KINDS)[number], string>> = { module: "Module", annotation: "Annotation", operator: "Operator", line: "Python line", rest: "Smaller ones" };

/** The kinds that occur, with their colour and their letters. */
export function FlameLegend({ rows }: { rows: FlameColumns }): JSX.Element {
  const kinds = new Set(rows.kind);
  return (
    <ul class="flame-legend" aria-label="Kinds of frames">
      {FLAME_KINDS.filter((kind) => kinds.has(kind)).map((kind) => (
        <li key={kind} class={`flame-kind-${kind}`}>
          <span class="flame-swatch" style={{ background: `var(--flame-${kind})` }} />
          {KIND_LABELS[kind]}
        </li>
      ))}
      {rows.backward.includes(true) ? (
        <li>
          <span class="flame-swatch hatched" />
          Backward
        </li>
      ) : null}
    </ul>
  );
}

/** The frames as a table. */
export function frameColumns(rows: FlameColumns, hasDevice: boolean, device: string, href: (row: number) => string | null): Column[] {
  return [
    { key: "frame", label: "Frame", kind: "code", width: 320, values: rows.name, href },
    { key: "frame_kind", label: "Kind", kind: "text", width: 150, values: rows.name.map((_, row) => kindText(rows, row)) },
    { key: "calls", label: rows.kind.includes("line") ? "Operator calls" : "Calls", kind: "count", width: 80, values: rows.calls },
    ...(hasDevice ? [{ key: "device", label: `${capitalised(device)} total`, term: "flame_device", kind: "time" as const, width: 120, bar: true, values: rows.device_ns }] : []),
    { key: "host", label: "Host total", term: "flame_host", kind: "time", width: 120, bar: true, values: rows.host_ns },
  ];
}
