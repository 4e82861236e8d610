import { useMemo } from "preact/hooks";
import type { Attribution, KernelPayload, Vocabulary } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { Badge, CopyButton, Donut, Figure, Term, type Column, type Part } from "../../widgets";
import { declaredColumns } from "../columns";
import { matrixTime, partsByKernel, reasonText, type MatrixTime, type Unattributed } from "./model";

interface KernelChartsProps {
  payload: KernelPayload;
  found: Uint32Array;
  sortedBy: string;
  /** Parts that stand by themselves. */
  top: number;
  onSelect: (key: string) => void;
}

/** Of the rows that the search found. */
export function KernelCharts({ payload, found, sortedBy, top, onSelect }: KernelChartsProps) {
  const figure = sortedBy === "calls" ? "calls" : "total_ns";
  const unit = figure === "calls" ? "count" : "ns";
  const word = figure === "calls" ? "calls" : "time";
  const parts = useMemo(() => partsByKernel(payload, found, figure), [payload, found, figure]);
  const matrix = useMemo(
    () => matrixParts(matrixTime(payload, found), payload.vocabulary),
    [payload, found],
  );
  const matrixCores = capitalised(payload.vocabulary.matrix_cores);
  return (
    <>
      <Figure
        title={`${capitalised(word)} by kernel`}
        term={figure === "calls" ? "calls" : "total"}
        table={{
          columns: [{ label: "Kernel" }, { label: `Total ${word}`, unit }],
          rows: parts.map((part) => [part.title ?? part.label, part.value]),
        }}
      >
        <Donut
          label={`Total ${word} by kernel`}
          parts={parts}
          unit={unit}
          top={top}
          caption="of the rows"
          onSelect={onSelect}
        />
      </Figure>
      <Figure
        title={`${matrixCores} in use`}
        term="matrix"
        table={{
          columns: [{ label: matrixCores }, { label: "Kernel time", unit: "ns" }],
          rows: matrix.map((part) => [part.label, part.value]),
        }}
      >
        <Donut
          label={`Kernel time by use of ${matrixCores}`}
          parts={matrix}
          unit="ns"
          caption="kernel time"
        />
      </Figure>
    </>
  );
}

function matrixParts(time: MatrixTime, words: Vocabulary): Part[] {
  return [
    { key: "yes", label: `with ${words.matrix_cores}`, value: time.yes, color: "var(--series-3)" },
    { key: "no", label: "without", value: time.no, color: "var(--compute)" },
    { key: "unknown", label: "not known", value: time.unknown, color: "var(--not-recorded)" },
  ];
}

export function AttributionLine({
  attribution,
  onWhy,
}: {
  attribution: Attribution;
  onWhy?: () => void;
}) {
  const { kernels, with_launch, with_operator, device_events } = attribution;
  const part = (count: number, of: number, term: string, text: string) => (
    <span class="attribution-part">
      <strong class="number">{formatCount(count)}</strong> <Term id={term}>{text}</Term>
      {count < of ? <span class="muted"> ({formatShare(count / of)})</span> : null}
    </span>
  );
  return (
    <p class="attribution">
      <span class="muted">In the whole trace:</span>
      {part(kernels, 0, "attribution", kernels === 1 ? "kernel" : "kernels")}
      {part(with_launch, kernels, "with_launch", "with launch")}
      {part(with_operator, kernels, "with_operator", "with operator")}
      {part(device_events, 0, "device_events", `device event${device_events === 1 ? "" : "s"}`)}
      {onWhy && with_operator < kernels ? (
        <button type="button" class="link" onClick={onWhy}>
          Which kernels have no operator?
        </button>
      ) : null}
    </p>
  );
}

export function UnattributedList({ items }: { items: readonly Unattributed[] }) {
  if (!items.length) return null;
  return (
    <div class="unattributed">
      <p>Operator unknown, by reason:</p>
      <ul>
        {items.map((item) => (
          <li key={item.reason}>
            <Badge>{item.reason}</Badge> {formatCount(item.calls)}{" "}
            {item.calls === 1 ? "call" : "calls"}, {formatTime(item.ns)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The declared columns with what only the page has: short names, links, reasons. */
export function kernelColumns(
  payload: KernelPayload,
  operatorHref: (name: string) => string,
): Column[] {
  const { rows, vocabulary } = payload;
  return declaredColumns(
    "kernels",
    rows,
    {
      name: {
        short: rows.short_name,
        note: (row) =>
          rows.communication[row] ? (
            <Badge tone="info" title="It moves data between devices.">
              comm
            </Badge>
          ) : null,
      },
      operator: {
        unknown: (row) => reasonText(payload, row),
        href: (row) => (rows.operator[row] ? operatorHref(rows.operator[row]) : null),
      },
    },
    vocabulary,
  ).filter(({ key }) => payload.group === "properties" || key !== "matrix_eligible");
}

export function KernelDetail({ name, timelineHref }: { name: string; timelineHref: string }) {
  return (
    <div class="full-name beneath-name">
      <code>{name || "(no name)"}</code>
      <CopyButton text={name} label="Copy the full name" />
      <a href={timelineHref}>Show on the timeline</a>
    </div>
  );
}
