/** What is computed from the findings: their order, those of a view, sums and figures in words. */

import type { Finding, FindingsPayload, FindingView, Number as Figure } from "../../api/types.gen";
import { format, formatCount, formatShare, formatTime, type Unit } from "../../base/units";

const UNITS: Readonly<Record<string, Unit>> = {
  ns: "ns",
  bytes: "bytes",
  share: "share",
  count: "count",
};

export function figureText(figure: Figure): string {
  return format(figure.value, UNITS[figure.unit] ?? "number");
}

/** Largest first; what costs no step time after what does, and what the profiler itself costs at the end. */
export function ordered(findings: readonly Finding[]): Finding[] {
  const cost = (finding: Finding): number => finding.recoverable_ns ?? -1;
  return [...findings].sort((a, b) => Number(a.artefact) - Number(b.artefact) || cost(b) - cost(a));
}

export function findingsOf(payload: FindingsPayload, view: FindingView): Finding[] {
  return ordered(payload.findings.filter((finding) => finding.views.includes(view)));
}

/** `up to 12.3 ms (8.1 %) of a step`, or that no time is at stake. */
export function gainText({
  recoverable_ns,
  share,
}: Pick<Finding, "recoverable_ns" | "share">): string {
  if (recoverable_ns === null) return "costs no step time";
  return `up to ${formatTime(recoverable_ns)}${share === null ? "" : ` (${formatShare(share)})`} of a step`;
}

/** What all of them cost together. No time is claimed by two, so that they may be summed. */
export function gainOfAll(findings: readonly Finding[]): string {
  const costly = findings.filter((finding) => finding.recoverable_ns !== null && !finding.artefact);
  if (!costly.length) return "";
  const sum = (value: (finding: Finding) => number | null): number =>
    costly.reduce((total, finding) => total + (value(finding) ?? 0), 0);
  const share = costly.some((finding) => finding.share === null)
    ? null
    : sum((finding) => finding.share);
  return gainText({ recoverable_ns: sum((finding) => finding.recoverable_ns), share });
}

export const countText = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? "finding" : "findings"}`;

export function basisText({ steps, step_ns }: FindingsPayload): string {
  if (step_ns === null) return "";
  return steps === 1
    ? `1 step of ${formatTime(step_ns)}`
    : `${formatCount(steps)} steps of ${formatTime(step_ns)} on average`;
}
