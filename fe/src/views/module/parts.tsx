/** Pure parts of the Module page. */

import type { JSX } from "preact";
import type { FlameColumns, ModulePayload } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type CellValue, type Column, FLAME_KINDS } from "../../widgets";
import { columnsOf } from "../columns";
import { byClass, kindText } from "./model";

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

const column = columnsOf("module");

/** The columns of the tree. */
export function treeColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const { rows } = payload;
  return [
    column("name", "Module", "code", 210, rows.name),
    column("class", "Class", "code", 120, rows.kind, { hidden: true, unknown: noClass }),
    ...figureColumns(payload, rows),
    ...linkColumns(rows.event, links),
  ];
}

/** The columns of the classes. */
export function classColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const flat = byClass(payload.rows);
  return [
    column("class", "Class", "code", 250, flat.kind, { unknown: noClass }),
    column("instances", "Modules", "count", 82, flat.modules),
    ...figureColumns(payload, flat),
    ...linkColumns(flat.event, links).slice(-1),
  ];
}

function figureColumns(
  { has_device, has_backward, has_memory, vocabulary }: ModulePayload,
  rows: Times,
): Column[] {
  const device = capitalised(vocabulary.device);
  const time = (
    key: string,
    label: string,
    values: ArrayLike<CellValue>,
    more: Partial<Column> = {},
  ): Column => column(key, label, "time", 98, values, { bar: true, ...more });
  // With a device its times are the news; those of the host are a press away.
  const aside = { hidden: has_device };
  return [
    column("calls", "Calls", "count", 64, rows.calls),
    column("operators", "Operators", "count", 82, rows.operators),
    ...(has_device
      ? [
          time("forward_device_total", `Forward ${device}`, rows.forward_device_total_ns),
          time("forward_device_self", `Forward ${device} self`, rows.forward_device_self_ns),
        ]
      : []),
    ...(has_device && has_backward
      ? [
          time("backward_device_total", `Backward ${device}`, rows.backward_device_total_ns),
          time("backward_device_self", `Backward ${device} self`, rows.backward_device_self_ns),
        ]
      : []),
    time("forward_host_total", "Forward host", rows.forward_host_total_ns),
    time("forward_host_self", "Forward host self", rows.forward_host_self_ns, aside),
    ...(has_backward
      ? [
          time("backward_host_total", "Backward host", rows.backward_host_total_ns),
          time("backward_host_self", "Backward host self", rows.backward_host_self_ns, aside),
        ]
      : []),
    ...(has_memory
      ? [
          column("allocated", "Allocated", "bytes", 96, rows.allocated_bytes),
          column("increase", "Memory increase", "bytes", 96, rows.increase_bytes, aside),
        ]
      : []),
  ];
}

function linkColumns(events: readonly number[], links: ModuleLinks): Column[] {
  const link = (
    key: string,
    label: string,
    text: string,
    width: number,
    href: (event: number) => string,
    onFollow?: (event: number) => void,
  ): Column =>
    column(
      key,
      label,
      "text",
      width,
      events.map((event) => (event < 0 ? "" : text)),
      {
        href: (row) => ((events[row] ?? -1) < 0 ? null : href(events[row] ?? -1)),
        unknown: () => "",
        ...(onFollow ? { onFollow: (row: number) => onFollow(events[row] ?? -1) } : {}),
      },
    );
  return [
    link("flame", "Inside", "its frames", 96, links.flame, links.onFlame),
    link("timeline", "Timeline", "longest call", 100, links.timeline),
  ];
}

/** What is said of a frame; its name first. */
export function frameLines(
  rows: FlameColumns,
  row: number,
  hasDevice: boolean,
  device: string,
  total: number,
  width: number,
): string[] {
  return [
    rows.name[row] ?? "",
    kindText(rows, row),
    `${formatShare(total > 0 ? width / total : null)} of all`,
    `Host ${formatTime(rows.host_ns[row])}`,
    ...(hasDevice ? [`${capitalised(device)} ${formatTime(rows.device_ns[row])}`] : []),
    `${formatCount(rows.calls[row])} ${rows.kind[row] === "line" ? "operator " : ""}${rows.calls[row] === 1 ? "call" : "calls"}`,
  ];
}

const KIND_LABELS: Readonly<Record<(typeof FLAME_KINDS)[number], string>> = {
  module: "Module",
  annotation: "Annotation",
  operator: "Operator",
  line: "Python line",
  rest: "Smaller ones",
};

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
export function frameColumns(
  rows: FlameColumns,
  hasDevice: boolean,
  device: string,
  href: (row: number) => string | null,
): Column[] {
  const frame = columnsOf("flame");
  return [
    frame("frame", "Frame", "code", 320, rows.name, { href }),
    frame(
      "kind",
      "Kind",
      "text",
      150,
      rows.name.map((_, row) => kindText(rows, row)),
    ),
    frame(
      "calls",
      rows.kind.includes("line") ? "Operator calls" : "Calls",
      "count",
      80,
      rows.calls,
    ),
    ...(hasDevice
      ? [
          frame("device", `${capitalised(device)} total`, "time", 120, rows.device_ns, {
            bar: true,
          }),
        ]
      : []),
    frame("host", "Host total", "time", 120, rows.host_ns, { bar: true }),
  ];
}
