/** The table of the Efficiency page. */

import type { EfficiencyPayload } from "../../api/types.gen";
import { readableShapes } from "../../base/shapes";
import type { ViewProps } from "../../state/view";
import type { Column } from "../../widgets";
import { arranged, declaredColumns } from "../columns";
import { linkedTo } from "../links";
import { ownRows } from "./model";
import { roofsOfRows } from "./roof_cell";

type Href = ViewProps["hrefOf"];

/** Shown at first, in this order; where no roof is known the rates stand in for it. */
const JUDGED = ["time_ns", "of_roof", "over_roof_ns"];
const RATED = ["time_ns", "calls", "flops_rate", "bytes_rate"];
/** Widths where there is little room, px. */
const NARROW: Readonly<Record<string, number>> = { time_ns: 72, of_roof: 92, over_roof_ns: 72 };

/** The declared columns with what only the page has: what was called with what in two lines, links, the roof, why a figure is unknown. */
export function efficiencyColumns(
  payload: EfficiencyPayload,
  hrefOf: Href,
  narrow: boolean,
): Column[] {
  const { rows, group, vocabulary } = payload;
  const calls = ownRows(payload);
  const reason = (row: number): string | null =>
    row >= calls ? null : (rows.no_roof[row] ?? null);
  const inputs = rows.parameters.map((text, row) => {
    const shapes = rows.input_shapes[row];
    return text ?? (shapes ? readableShapes(shapes) : null);
  });
  const names = { operator: "name", kernel: "kernel" } as const;
  const columns = declaredColumns(
    "efficiency",
    rows,
    {
      name: {
        unknown: () => "launched by no operator",
        href: linkedTo(hrefOf, "operator", rows.name.slice(0, calls)),
      },
      kernel: {
        short: rows.short_name,
        href: linkedTo(hrefOf, "kernel", rows.kernel.slice(0, calls)),
      },
      of_roof: roofsOfRows(rows, vocabulary, { narrow, judged: calls }),
      over_roof_ns: { unknown: reason },
      ...Object.fromEntries(
        ["flops_rate", "bytes_rate", "intensity", "flops", "bytes"].map((key) => [
          key,
          { unknown: reason },
        ]),
      ),
    },
    vocabulary,
  ).filter(({ key }) => payload.has_device || key !== "matrix");
  const judged = columns.some(({ key }) => key === "of_roof");
  const first = [names[group], ...(judged ? JUDGED : RATED)];
  const operator = (row: number): string =>
    [group === "kernel" ? (rows.name[row] ?? "launched by no operator") : null, inputs[row]]
      .filter(Boolean)
      .join("  ");
  return [
    ...arranged(columns, first).map((column): Column => ({
      ...column,
      ...(column.key === names[group] ? { width: narrow ? 80 : 176, beneath: operator } : {}),
      ...(narrow && NARROW[column.key] ? { width: NARROW[column.key] } : {}),
    })),
  ];
}
