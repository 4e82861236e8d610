import type { OperatorPayload } from "../../api/types.gen";
import { OPERATORS } from "../../api/tables.gen";
import { capitalised } from "../../base/words";
import { Donut, Figure, type Column } from "../../widgets";
import { declaredColumns } from "../columns";
import { readableShapes, stackTexts, type Chart, type Duration } from "./model";

export function chartTitle(duration: Duration, device: string): string {
  const where = duration.startsWith("device") ? capitalised(device) : "Host";
  return `${where} ${duration.endsWith("self") ? "self" : "total"} time`;
}

interface OperatorChartsProps {
  charts: readonly Chart[];
  device: string;
  top: number;
  onSelect: (key: string) => void;
}

export function OperatorCharts({ charts, device, top, onSelect }: OperatorChartsProps) {
  return (
    <div class="chart-grid">
      {charts.map(({ duration, parts }) => {
        const title = chartTitle(duration, device);
        return (
          <Figure
            key={duration}
            title={title}
            term={duration}
            note={duration.endsWith("total") ? "includes children, so the parts overlap" : null}
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
              caption={duration.endsWith("total") ? "all summed" : "total"}
              onSelect={onSelect}
            />
          </Figure>
        );
      })}
    </div>
  );
}

export interface OperatorLinks {
  kernels: (name: string) => string;
  timeline: (name: string) => string;
}

/** The declared columns with the calls stacks and links that only the page has. */
export function operatorColumns(payload: OperatorPayload, links: OperatorLinks): Column[] {
  const { rows, pooled } = payload;
  const named = (row: number): boolean => pooled === 0 || row !== rows.name.length - 1;
  const onDevice = (row: number): boolean => (rows.device_self_ns[row] ?? 0) > 0;
  const link = (
    key: "kernels" | "timeline",
    label: string,
    text: string,
    linked: (row: number) => boolean,
  ): Column => ({
    key,
    label,
    kind: "text",
    width: 92,
    values: rows.name.map((_, row) => (linked(row) ? text : "")),
    href: (row) => (linked(row) ? links[key](rows.name[row] ?? "") : null),
  });
  const columns = declaredColumns(
    OPERATORS,
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
    ...(payload.has_device ? [link("kernels", "Kernels", "its kernels", onDevice)] : []),
    link("timeline", "Timeline", "its calls", named),
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
