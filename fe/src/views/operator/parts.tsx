import { useMemo } from "preact/hooks";
import type { OperatorPayload } from "../../api/types.gen";
import { capitalised } from "../../base/words";
import { Donut, Figure, type Column } from "../../widgets";
import { declaredColumns } from "../columns";
import { linkColumn } from "../links";
import { ASIDE_PARTS } from "../parts_by_name";
import { chartOf, readableShapes, stackTexts, type Duration } from "./model";

export const chartTitle = (duration: Duration, device: string): string =>
  `${duration === "device_self" ? capitalised(device) : "Host"} self time`;

interface OperatorChartProps {
  payload: OperatorPayload;
  /** The rows that the search found. */
  found: Uint32Array;
  sortedBy: string;
  onSelect: (key: string) => void;
}

export function OperatorChart({ payload, found, sortedBy, onSelect }: OperatorChartProps) {
  const { duration, parts } = useMemo(
    () => chartOf(payload, found, sortedBy),
    [payload, found, sortedBy],
  );
  const title = chartTitle(duration, payload.vocabulary.device);
  return (
    <Figure
      key={duration}
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
        top={ASIDE_PARTS}
        caption="of the rows"
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
