/** Pure parts of the Module page. */

import type { FlamePayload, FlameTable, ModulePayload, ModulesTable } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import type { ViewProps } from "../../state/view";
import { type Column, FLAME_KINDS, type FlameLayout } from "../../widgets";
import { columnsOf, declaredColumns } from "../columns";
import { eventLink, linkColumn, timelineColumn } from "../links";
import { byClass, type Flat, KIND_WORDS, kindText } from "./model";

type Href = ViewProps["hrefOf"];

export function treeColumns(payload: ModulePayload, hrefOf: Href): Column[] {
  const { rows } = payload;
  return [
    ...figureColumns(payload, rows),
    linkColumn(
      "module",
      "flame",
      "Inside",
      96,
      "its frames",
      rows.event.map((event) => event >= 0),
      (row) => hrefOf("module", { zoom: String(rows.event[row]) }),
    ),
    longestCall(rows.event, hrefOf),
  ];
}

export function classColumns(payload: ModulePayload, hrefOf: Href): Column[] {
  const flat = byClass(payload.rows);
  const [kind, ...figures] = figureColumns(payload, flat);
  return [
    ...(kind ? [{ ...kind, width: 250, hidden: false }] : []),
    columnsOf("module")("instances", "Modules", "count", 82, flat.modules),
    ...figures,
    longestCall(flat.event, hrefOf),
  ];
}

const longestCall = (events: readonly number[], hrefOf: Href): Column =>
  timelineColumn("module", 100, "longest call", events, hrefOf);

/** With a device its times are the news; these are a press away. */
const ASIDE = ["forward_host_self_ns", "backward_host_self_ns", "increase_bytes"];

function figureColumns(payload: ModulePayload, rows: Flat | ModulesTable): Column[] {
  const hidden = { hidden: payload.has_device };
  const additions = Object.fromEntries(ASIDE.map((key) => [key, hidden]));
  return declaredColumns(
    "modules",
    rows,
    { ...additions, kind: { unknown: () => "not known" } },
    payload.vocabulary,
  ).filter(({ key }) => payload.has_backward || !key.startsWith("backward"));
}

/** What is said of a frame, its name first. */
export function frameLines(
  { rows, has_device }: Pick<FlamePayload, "rows" | "has_device">,
  row: number,
  device: string,
  { total, width }: FlameLayout,
): string[] {
  return [
    rows.name[row] ?? "",
    kindText(rows, row),
    `${formatShare(total > 0 ? (width[row] ?? 0) / total : null)} of all`,
    `Host ${formatTime(rows.host_ns[row])}`,
    ...(has_device ? [`${capitalised(device)} ${formatTime(rows.device_ns[row])}`] : []),
    `${formatCount(rows.calls[row])} ${rows.kind[row] === "line" ? "operator " : ""}${rows.calls[row] === 1 ? "call" : "calls"}`,
  ];
}

/** The kinds that occur, with their colour and their letters. */
export function FlameLegend({ rows }: { rows: FlameTable }) {
  const kinds = new Set(rows.kind);
  return (
    <ul class="flame-legend" aria-label="Kinds of frames">
      {FLAME_KINDS.filter((kind) => kinds.has(kind)).map((kind) => (
        <li key={kind} class={`flame-kind-${kind}`}>
          <span class="flame-swatch" style={{ background: `var(--flame-${kind})` }} />
          {capitalised(KIND_WORDS[kind] ?? kind)}
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

export function frameColumns(rows: FlameTable, device: string, hrefOf: Href): Column[] {
  return declaredColumns("flame", rows, {
    name: { href: eventLink(hrefOf, rows.event) },
    kind: { values: rows.name.map((_, row) => kindText(rows, row)) },
    calls: rows.kind.includes("line") ? { label: "Operator calls" } : {},
    device_ns: { label: `${capitalised(device)} total` },
  });
}
