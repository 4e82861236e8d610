/** The table of the Efficiency page, and what is said of one row. */

import type { JSX } from "preact";
import type { EfficiencyPayload } from "../../api/types.gen";
import { capitalised } from "../../base/words";
import type { CellKind, Column } from "../../widgets";
import { CopyButton } from "../../widgets";
import { columnsOf, told } from "../columns";
import { Totals } from "../totals";
import {
  callText,
  FAST,
  figuresOf,
  isModelled,
  NOT_MODELLED,
  ownRows,
  peakText,
  searchFor,
  timeWord,
} from "./model";

export interface RowLinks {
  operator: (name: string) => string;
  kernel: (name: string) => string;
  /** The kernels of a call, in this page. */
  kernels: (search: { search: string; regex: string }) => string;
  event: (event: number) => string;
}

/** A share of the bandwidth beyond it cannot come from memory. */
const ROUNDING = 1.005;

const column = columnsOf("efficiency");

export function efficiencyColumns(payload: EfficiencyPayload, links: RowLinks): Column[] {
  const { rows, group, vocabulary } = payload;
  const calls = ownRows(payload);
  const rest = (row: number): boolean => row >= calls;
  const reason = (row: number): string | null =>
    rest(row) || isModelled(rows, row) ? null : NOT_MODELLED;
  const figure = (
    key: string,
    label: string,
    kind: CellKind,
    width: number,
    values: readonly (number | null)[],
    more: Partial<Column> = {},
  ): Column => column(key, label, kind, width, values, { unknown: reason, ...more });
  const operator = column(
    "operator",
    "Operator",
    "code",
    group === "kernel" ? 170 : 200,
    rows.name,
    {
      unknown: () => "launched by no operator",
      href: (row) => (rows.name[row] && !rest(row) ? links.operator(rows.name[row]) : null),
    },
  );
  const kernel = column("kernel", "Kernel", "code", 250, rows.kernel, {
    short: rows.short,
    href: (row) => (rows.kernel[row] && !rest(row) ? links.kernel(rows.kernel[row]) : null),
  });
  return told([
    ...(group === "kernel" ? [kernel, operator] : [operator]),
    // What has no model is told apart by its shapes.
    column(
      "parameters",
      "Parameters",
      "code",
      190,
      rows.parameters.map((text, row) => text ?? rows.shapes[row] ?? null),
      { grow: true, hidden: group === "kernel" },
    ),
    column("shapes", "Input shapes", "code", 220, rows.shapes, { hidden: true }),
    column("types", "Types", "code", 130, rows.types, { hidden: true }),
    column(
      "family",
      "Family",
      "text",
      130,
      rows.family.map((family, row) => family ?? reason(row)),
    ),
    figure("calls", "Calls", "count", 62, rows.calls, { term: "calls" }),
    figure("time", `${capitalised(timeWord(payload))} time`, "time", 100, rows.time_ns, {
      bar: true,
    }),
    figure("flops_share", "Of the peak", "share", 200, rows.flops_share, {
      bar: true,
      note: (row) =>
        typeof rows.flops_share[row] === "number" ? (
          <span class="muted">of {peakText(rows, row)}</span>
        ) : rows.fast[row] && !rest(row) ? (
          <span class="muted">{FAST}</span>
        ) : null,
    }),
    figure("bytes_share", "Of the bandwidth", "share", 116, rows.bytes_share, {
      bar: true,
      note: (row) =>
        (rows.bytes_share[row] ?? 0) > ROUNDING ? <span class="muted">cache</span> : null,
    }),
    column(
      "bound",
      "Bound by",
      "text",
      96,
      rows.bound.map((bound, row) => (rest(row) || bound === "unknown" ? null : bound)),
      { unknown: () => "" },
    ),
    figure("recoverable", "Recoverable", "time", 100, rows.recoverable_ns, { bar: true }),
    figure("flops_rate", "FLOP/s", "FLOP/s", 104, rows.flops_rate),
    figure("bytes_rate", "Bytes/s", "B/s", 88, rows.bytes_rate),
    figure("intensity", "FLOP/B", "number", 74, rows.intensity),
    figure("flops", "FLOPs per call", "FLOP", 96, rows.flops),
    figure("bytes", "Bytes per call", "bytes", 92, rows.bytes),
    figure("ideal", "At the peak", "time", 92, rows.ideal_ns, { hidden: true }),
    ...(payload.has_device
      ? [
          column("matrix", capitalised(vocabulary.matrix_cores), "knowledge", 88, rows.matrix, {
            term: "matrix",
          }),
        ]
      : []),
    column(
      "timeline",
      "Timeline",
      "text",
      92,
      rows.event.map((event) => (event < 0 ? null : "longest")),
      {
        unknown: () => "",
        href: (row) => ((rows.event[row] ?? -1) < 0 ? null : links.event(rows.event[row] ?? -1)),
      },
    ),
    column(
      "call",
      "Call",
      "code",
      300,
      rows.calls.map((_, row) => (rest(row) ? "" : callText(rows, row))),
      { hidden: true },
    ),
  ]);
}

/** All of a row: below it in the table, and below the chart when its point is chosen. */
export function RowDetail({
  payload,
  row,
  links,
}: {
  payload: EfficiencyPayload;
  row: number;
  links: RowLinks;
}): JSX.Element {
  const { rows, group } = payload;
  const [name, kernel, event] = [
    rows.name[row] ?? null,
    rows.kernel[row] ?? null,
    rows.event[row] ?? -1,
  ];
  const texts = [kernel, callText(rows, row)].filter((text) => text !== null);
  return (
    <div class="kernel-detail">
      {texts.map((text) => (
        <div key={text} class="full-name">
          <code>{text}</code>
          <CopyButton text={text} label="Copy this" />
        </div>
      ))}
      <Totals parts={figuresOf(rows, row).map(([label, text]) => ({ label, text }))} />
      <p class="detail-links">
        {group === "operator" && payload.has_device ? (
          <a href={links.kernels(searchFor(rows, row))}>Its kernels</a>
        ) : null}
        {kernel ? <a href={links.kernel(kernel)}>Kernel view</a> : null}
        {name ? <a href={links.operator(name)}>Operator view</a> : null}
        {event >= 0 ? <a href={links.event(event)}>Longest on the timeline</a> : null}
      </p>
    </div>
  );
}
