import { useMemo } from "preact/hooks";
import type { OperatorPayload } from "../../api/types.gen";
import { readableShapes } from "../../base/shapes";
import { formatCount } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Column, CopyButton } from "../../widgets";
import { declaredColumns } from "../columns";
import { linkColumn } from "../links";
import type { ChartsProps } from "../chart_top";
import { Pie } from "../pie";
import { chartsOf, splitFrame, stackTexts, type Summed } from "./model";

/** `device_self` → `GPU self time`. */
export const chartTitle = (summed: Summed, device: string): string =>
  summed === "calls"
    ? "Calls"
    : capitalised(`${summed.replace("device", device).replace("_", " ")} time`);

export function OperatorCharts({
  payload,
  found,
  sortedBy,
  ...props
}: ChartsProps<OperatorPayload>) {
  const charts = useMemo(() => chartsOf(payload, found, sortedBy), [payload, found, sortedBy]);
  return (
    <>
      {charts.map(({ summed, parts }) => (
        <Pie
          key={summed}
          {...{ parts, ...props }}
          title={chartTitle(summed, payload.vocabulary.device)}
          term={summed}
          of="Operator"
          unit={summed === "calls" ? "count" : "ns"}
          caption={summed.endsWith("total") ? "totals overlap" : "of the rows"}
        />
      ))}
    </>
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

/** One frame: where, and which function. */
function FrameLine({ text }: { text: string }) {
  const { file, line, func } = splitFrame(text);
  if (line === null) return <li class="frame frame-plain">{func || "(no name)"}</li>;
  return (
    <li class="frame">
      <span class="frame-func">{func}</span>
      <code class="frame-place">
        {file}:{line}
      </code>
      <CopyButton text={`${file}:${line}`} label="Copy file and line" />
    </li>
  );
}

export function Frames({ frames }: { frames: readonly string[] }) {
  return (
    <div class="frames">
      <div class="frames-head">
        <span class="muted">
          {formatCount(frames.length)} {frames.length === 1 ? "frame" : "frames"}, innermost first
        </span>
        <CopyButton text={() => frames.join("\n")} label="Copy stack">
          Copy stack
        </CopyButton>
      </div>
      <ol>
        {frames.map((text, i) => (
          <FrameLine key={i} text={text} />
        ))}
      </ol>
    </div>
  );
}
