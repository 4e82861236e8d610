/** Pure parts of the Module page. */

import type { FlameTable, ModulePayload, ModulesTable } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Column, FLAME_KINDS } from "../../widgets";
import { columnsOf, declaredColumns } from "../columns";
import { byClass, type Flat, kindText } from "./model";

export interface ModuleLinks {
  timeline: (event: number) => string;
  flame: (event: number) => string;
}

const noClass = (): string => "not known";

const column = columnsOf("module");

export function treeColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const { rows } = payload;
  return [...figureColumns(payload, rows), ...linkColumns(rows.event, links)];
}

export function classColumns(payload: ModulePayload, links: ModuleLinks): Column[] {
  const flat = byClass(payload.rows);
  const [kind, ...figures] = figureColumns(payload, flat);
  return [
    ...(kind ? [{ ...kind, width: 250, hidden: false }] : []),
    column("instances", "Modules", "count", 82, flat.modules),
    ...figures,
    ...linkColumns(flat.event, links).slice(-1),
  ];
}

/** With a device its times are the news; these are a press away. */
const ASIDE = ["forward_host_self_ns", "backward_host_self_ns", "increase_bytes"];

function figureColumns(payload: ModulePayload, rows: Flat | ModulesTable): Column[] {
  const hidden = { hidden: payload.has_device };
  const additions = Object.fromEntries(ASIDE.map((key) => [key, hidden]));
  return declaredColumns(
    "modules",
    rows,
    { ...additions, kind: { unknown: noClass } },
    payload.vocabulary,
  ).filter(({ key }) => payload.has_backward || !key.startsWith("backward"));
}

function linkColumns(events: readonly number[], links: ModuleLinks): Column[] {
  const link = (
    key: string,
    label: string,
    text: string,
    width: number,
    href: (event: number) => string,
  ): Column =>
    column(
      key,
      label,
      "text",
      width,
      events.map((event) => (event < 0 ? "" : text)),
      {
        href: (row) => ((events[row] ?? -1) < 0 ? null : href(events[row] ?? -1)),
        action: true,
      },
    );
  return [
    link("flame", "Inside", "its frames", 96, links.flame),
    link("timeline", "Timeline", "longest call", 100, links.timeline),
  ];
}

export function frameLines(
  rows: FlameTable,
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
  rest: "Smaller frames",
};

/** The kinds that occur, with their colour and their letters. */
export function FlameLegend({ rows }: { rows: FlameTable }) {
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

export function frameColumns(
  rows: FlameTable,
  device: string,
  href: (row: number) => string | null,
): Column[] {
  return declaredColumns("flame", rows, {
    name: { href },
    kind: { values: rows.name.map((_, row) => kindText(rows, row)) },
    calls: rows.kind.includes("line") ? { label: "Operator calls" } : {},
    device_ns: { label: `${capitalised(device)} total` },
  });
}
