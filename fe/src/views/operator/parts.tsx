/** Pure parts of the Operator page. */

import type { JSX } from "preact";
import type { OperatorPayload } from "../../api/types.gen";
import { Donut, Figure, type Column } from "../../widgets";
import { capitalised, readableShapes, stackTexts, type Chart, type Duration } from "./model";

/** The title of a chart in the vendor's words. */
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

/** The four charts, or two where no accelerator was recorded. */
export function OperatorCharts({
  charts,
  device,
  top,
  onSelect,
}: OperatorChartsProps): JSX.Element {
  return (
    <div class="chart-grid">
      {charts.map(({ duration, parts }) => {
        const title = chartTitle(duration, device);
        return (
          <Figure
            key={duration}
            title={title}
            term={duration}
            note={duration.endsWith("total") ? "children included, so the parts overlap" : null}
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
  onKernels: (name: string) => void;
  timeline: (name: string) => string;
  onTimeline: (name: string) => void;
}

/** The table's columns; those of the accelerator are left out where none was recorded. */
export function operatorColumns(payload: OperatorPayload, links: OperatorLinks): Column[] {
  const { rows, group, has_device } = payload;
  return [
    {
      key: "name",
      label: "Operator",
      term: "operator",
      kind: "code",
      width: 232,
      values: rows.name,
    },
    ...(group === "name" ? [] : [shapesColumn(payload)]),
    ...(group === "stack" ? [stackColumn(payload)] : []),
    { key: "calls", label: "Calls", term: "calls", kind: "count", width: 72, values: rows.calls },
    ...(has_device ? deviceColumns(payload) : []),
    {
      key: "host_self",
      label: "Host self",
      term: "host_self",
      kind: "time",
      width: has_device ? 106 : 190,
      bar: true,
      values: rows.host_self_ns,
    },
    {
      key: "host_total",
      label: "Host total",
      term: "host_total",
      kind: "time",
      width: has_device ? 106 : 190,
      bar: true,
      values: rows.host_total_ns,
    },
    ...(has_device ? matrixColumns(payload, links) : []),
    timelineColumn(payload, links),
  ];
}

function timelineColumn({ rows, pooled }: OperatorPayload, links: OperatorLinks): Column {
  const named = (row: number): boolean => pooled === 0 || row !== rows.name.length - 1;
  return {
    key: "timeline",
    label: "Timeline",
    kind: "text",
    width: 78,
    values: rows.name.map((_, row) => (named(row) ? "its calls" : "")),
    href: (row) => (named(row) ? links.timeline(rows.name[row] ?? "") : null),
    onFollow: (row) => links.onTimeline(rows.name[row] ?? ""),
  };
}

function shapesColumn({ rows }: OperatorPayload): Column {
  return {
    key: "shapes",
    label: "Input shapes",
    term: "input_shapes",
    kind: "code",
    width: 240,
    values: rows.shapes,
    short: rows.shapes.map(readableShapes),
    unknown: () => "not recorded",
  };
}

function deviceColumns({ rows, vocabulary }: OperatorPayload): Column[] {
  const device = capitalised(vocabulary.device);
  return [
    {
      key: "device_self",
      label: `${device} self`,
      term: "device_self",
      kind: "time",
      width: 106,
      bar: true,
      values: rows.device_self_ns,
    },
    {
      key: "device_total",
      label: `${device} total`,
      term: "device_total",
      kind: "time",
      width: 106,
      bar: true,
      values: rows.device_total_ns,
    },
  ];
}

function matrixColumns(payload: OperatorPayload, links: OperatorLinks): Column[] {
  const { rows, vocabulary } = payload;
  const matrix = capitalised(vocabulary.matrix_cores);
  const linked = (row: number): boolean => hasDeviceTime(payload, row);
  return [
    {
      key: "matrix_eligible",
      label: `${matrix} eligible`,
      term: "matrix_eligible",
      kind: "knowledge",
      width: 112,
      values: rows.matrix_eligible,
    },
    {
      key: "matrix_self",
      label: `${matrix} self`,
      term: "matrix_self_share",
      kind: "share",
      width: 104,
      values: rows.matrix_self_share,
    },
    {
      key: "matrix_total",
      label: `${matrix} total`,
      term: "matrix_total_share",
      kind: "share",
      width: 104,
      values: rows.matrix_total_share,
    },
    {
      key: "kernels",
      label: "Kernels",
      kind: "text",
      width: 92,
      values: rows.name.map((_, row) => (linked(row) ? "its kernels" : "")),
      href: (row) => (linked(row) ? links.kernels(rows.name[row] ?? "") : null),
      onFollow: (row) => links.onKernels(rows.name[row] ?? ""),
    },
  ];
}

function hasDeviceTime({ rows }: OperatorPayload, row: number): boolean {
  return (rows.device_self_ns[row] ?? 0) > 0;
}

function stackColumn({ rows, frames }: OperatorPayload): Column {
  const { full, short } = stackTexts(frames);
  return {
    key: "stack",
    label: "Call stack",
    term: "call_stack",
    kind: "code",
    width: 360,
    values: rows.stack.map((stack) => (stack === null ? null : (full[stack] ?? null))),
    short: rows.stack.map((stack) => (stack === null ? null : (short[stack] ?? null))),
    unknown: () => "no call stack",
  };
}
