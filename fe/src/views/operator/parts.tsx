import { useMemo } from "preact/hooks";
import type { OperatorPayload } from "../../api/types.gen";
import { readableShapes } from "../../base/shapes";
import { capitalised } from "../../base/words";
import { Donut, Figure, type Column } from "../../widgets";
import { declaredColumns } from "../columns";
import { linkColumn } from "../links";
import { chartsOf, stackTexts, type Chart, type Duration } from "./model";

/** `device_self` → `GPU self time`. */
export const chartTitle = (duration: Duration, device: string): string =>
  capitalised(`${duration.replace("device", device).replace("_", " ")} time`);

interface ChartProps {
  /** Parts that stand by themselves. */
  top: number;
  onSelect: (key: string) => void;
}

interface OperatorChartsProps extends ChartProps {
  payload: OperatorPayload;
  /** The rows that the search found. */
  found: Uint32Array;
  sortedBy: string;
}

export function OperatorCharts({ payload, found, sortedBy, ...props }: OperatorChartsProps) {
  const charts = useMemo(() => chartsOf(payload, found, sortedBy), [payload, found, sortedBy]);
  return (
    <>
      {charts.map((chart) => (
        <OperatorChart
          key={chart.duration}
          {...chart}
          {...props}
          title={chartTitle(chart.duration, payload.vocabulary.device)}
        />
      ))}
    </>
  );
}

function OperatorChart({
  duration,
  parts,
  title,
  top,
  onSelect,
}: Chart & ChartProps & { title: string }) {
  return (
    <Figure
      title={title}
      term={duration}
      table={{
        columns: [{ label: "Operator" }, { label: title, unit: "ns" }],
        rows: parts.map((part) => [part.label, part.value]),
      }}
    >
      <Donut
        label={`${title} by operator`}
        parts={parts}
        unit="ns"
        top={top}
        caption={duration.endsWith("total") ? "totals overlap" : "of the rows"}
        onSelect={onSelect}
      />
    </Figure>
  );
}

export interface OperatorLinks {
  kernels: (name: string) => string;
  timeline: (name: string) => string;
}

/** The declared columns with the calls stacks and links that only the page has. */
export function operatorColumns(payload: OperatorPayload, links: OperatorLinks): Column[] {
  const { rows, pooled } = payload;
  const link = (
    key: "kernels" | "timeline",
    label: string,
    text: string,
    linked: readonly boolean[],
  ): Column =>
    linkColumn("operator", key, label, 84, text, linked, (row) => links[key](rows.name[row] ?? ""));
  const columns = declaredColumns(
    "operators",
    rows,
    {
      input_shapes: {
        short: rows.input_shapes.map(readableShapes),
        unknown: () => "not recorded",
      },
    },
    payload.vocabulary,
  ).filter(({ key }) => payload.has_device || key !== "matrix_eligible");
  const stack = payload.group === "stack" ? [stackColumn(payload)] : [];
  const identity = columns.findIndex(({ key }) => key === "calls");
  return [
    ...columns.slice(0, identity),
    ...stack,
    ...columns.slice(identity),
    ...(payload.has_device
      ? [
          link(
            "kernels",
            "Kernels",
            "kernels",
            rows.device_self_ns.map((ns) => (ns ?? 0) > 0),
          ),
        ]
      : []),
    link(
      "timeline",
      "Timeline",
      "calls",
      rows.name.map((_, row) => !pooled || row < rows.name.length - 1),
    ),
  ];
}

function stackColumn({ stacks, frames }: OperatorPayload): Column {
  const { full, short } = stackTexts(frames);
  return {
    key: "stack",
    label: "Call stack",
    term: "call_stack",
    kind: "code",
    width: 360,
    values: stacks.map((stack) => (stack === null ? null : (full[stack] ?? null))),
    short: stacks.map((stack) => (stack === null ? null : (short[stack] ?? null))),
    unknown: () => "no call stack",
  };
}
