/** The table of the Efficiency page, and what is said of one row. */

import { EFFICIENCY } from "../../api/tables.gen";
import type { EfficiencyPayload } from "../../api/types.gen";
import { capitalised } from "../../base/words";
import type { Column } from "../../widgets";
import { CopyButton } from "../../widgets";
import { columnsOf, declaredColumns, knownColumns } from "../columns";
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

/** The declared columns with what only the page has: links, notes, why a figure is unknown. */
export function efficiencyColumns(payload: EfficiencyPayload, links: RowLinks): Column[] {
  const { rows, group, vocabulary } = payload;
  const calls = ownRows(payload);
  const rest = (row: number): boolean => row >= calls;
  const reason = (row: number): string | null =>
    rest(row) || isModelled(rows, row) ? null : NOT_MODELLED;
  const linked = (names: readonly (string | null)[], href: (name: string) => string) => {
    return (row: number): string | null => (names[row] && !rest(row) ? href(names[row]) : null);
  };
  const columns = declaredColumns(
    EFFICIENCY,
    rows,
    {
      ...Object.fromEntries(FIGURES.map((key) => [key, { unknown: reason }])),
      name: {
        width: group === "kernel" ? 170 : 200,
        unknown: () => "launched by no operator",
        href: linked(rows.name, links.operator),
      },
      kernel: { short: rows.short_name, href: linked(rows.kernel, links.kernel) },
      // What has no model is told apart by its shapes.
      parameters: {
        values: rows.parameters.map((text, row) => text ?? rows.input_shapes[row] ?? null),
        grow: true,
        hidden: group === "kernel",
      },
      family: { values: rows.family.map((family, row) => family ?? reason(row)) },
      time_ns: { label: `${capitalised(timeWord(payload))} time` },
      flops_share: {
        unknown: reason,
        note: (row) =>
          typeof rows.flops_share[row] === "number" ? (
            <span class="muted">of {peakText(rows, row)}</span>
          ) : rows.fast[row] && !rest(row) ? (
            <span class="muted">{FAST}</span>
          ) : null,
      },
      bytes_share: {
        unknown: reason,
        note: (row) =>
          (rows.bytes_share[row] ?? 0) > ROUNDING ? <span class="muted">cache</span> : null,
      },
      bound: {
        values: rows.bound.map((bound, row) => (rest(row) || bound === "unknown" ? null : bound)),
        unknown: () => "",
      },
    },
    vocabulary,
  ).filter(({ key }) => payload.has_device || key !== "matrix");
  if (group === "kernel") columns.splice(0, 2, ...columns.slice(0, 2).reverse());
  const added = knownColumns([
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
  return [...columns, ...added];
}

/** Figures of work, unknown where no model gives them. */
const FIGURES = [
  "recoverable_ns",
  "flops_rate",
  "bytes_rate",
  "intensity",
  "flops",
  "bytes",
  "ideal_ns",
];

/** All of a row: below it in the table, and below the chart when its point is chosen. */
export function RowDetail({
  payload,
  row,
  links,
}: {
  payload: EfficiencyPayload;
  row: number;
  links: RowLinks;
}) {
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
