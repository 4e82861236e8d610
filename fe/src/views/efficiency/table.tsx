/** The table of the Efficiency page, and what is said of one row. */

import type { EfficiencyPayload } from "../../api/types.gen";
import { capitalised } from "../../base/words";
import type { ViewProps } from "../../state/view";
import type { Column } from "../../widgets";
import { CopyButton } from "../../widgets";
import { columnsOf, declaredColumns } from "../columns";
import { exactly } from "../grid_params";
import { linkedTo, timelineColumns } from "../links";
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

type Href = ViewProps["hrefOf"];

/** A share of the bandwidth beyond it cannot come from memory. */
const ROUNDING = 1.005;

/** The declared columns with what only the page has: links, notes, why a figure is unknown. */
export function efficiencyColumns(payload: EfficiencyPayload, hrefOf: Href): Column[] {
  const { rows, group, vocabulary } = payload;
  const calls = ownRows(payload);
  const rest = (row: number): boolean => row >= calls;
  const reason = (row: number): string | null =>
    rest(row) || isModelled(rows, row) ? null : NOT_MODELLED;
  const parameters = rows.parameters.map((text, row) => text ?? rows.input_shapes[row] ?? null);
  const columns = declaredColumns(
    "efficiency",
    rows,
    {
      ...Object.fromEntries(FIGURES.map((key) => [key, { unknown: reason }])),
      name: {
        width: 176,
        unknown: () => "launched by no operator",
        href: linkedTo(hrefOf, "operator", rows.name.slice(0, calls)),
      },
      kernel: {
        short: rows.short_name,
        href: linkedTo(hrefOf, "kernel", rows.kernel.slice(0, calls)),
      },
      // What has no model is told apart by its shapes.
      parameters: {
        values: parameters,
        width: Math.min(
          330,
          28 + 7.3 * parameters.reduce((most, text) => Math.max(most, text?.length ?? 0), 16),
        ),
        grow: true,
        hidden: group === "kernel",
      },
      family: { width: 112, values: rows.family.map((family, row) => family ?? reason(row)) },
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
  const texts = rows.calls.map((_, row) => (rest(row) ? "" : callText(rows, row)));
  // Beside the charts there is room for few: what the view is about comes first.
  const named = columns.findIndex(({ key }) => key === "family");
  const first = columns.filter(({ key }) => FIRST.includes(key));
  const others = columns.slice(named).filter(({ key }) => !FIRST.includes(key));
  return [
    ...columns.slice(0, named),
    ...first,
    ...others,
    ...timelineColumns("efficiency", 92, "longest", rows.event, hrefOf),
    columnsOf("efficiency")("call", "Call", "code", 300, texts, { hidden: true }),
  ];
}

/** Beside what names a row. */
const FIRST = ["time_ns", "flops_share", "bytes_share", "bound"];

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
  payload: { rows, group, has_device },
  row,
  hrefOf,
}: {
  payload: EfficiencyPayload;
  row: number;
  hrefOf: Href;
}) {
  const [name, kernel, event] = [rows.name[row], rows.kernel[row] ?? null, rows.event[row] ?? -1];
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
        {group === "operator" && has_device ? (
          <a href={hrefOf("efficiency", { ...searchFor(rows, row), group: "kernel" })}>
            Its kernels
          </a>
        ) : null}
        {kernel ? <a href={hrefOf("kernel", exactly(kernel))}>Kernel view</a> : null}
        {name ? <a href={hrefOf("operator", exactly(name))}>Operator view</a> : null}
        {event >= 0 ? (
          <a href={hrefOf("trace", { sel: String(event) })}>Longest on the timeline</a>
        ) : null}
      </p>
    </div>
  );
}
