/** What is computed from the findings: those of a view, sums and figures in words. */

import type { Finding, FindingsPayload, FindingView, Number as Figure } from "../../api/types.gen";
import { format, formatCount, formatShare, formatTime, type Unit } from "../../base/units";

export const figureText = ({ value, unit }: Figure): string =>
  format(value, (unit || "number") as Unit);

export function findingsOf(payload: FindingsPayload, view: FindingView): Finding[] {
  return payload.findings.filter((finding) => finding.views.includes(view));
}

/** `−12.3 ms (8.1 % of a step)`, or that no time is at stake. */
export function gainText({
  recoverable_ns,
  share,
}: Pick<Finding, "recoverable_ns" | "share">): string {
  if (recoverable_ns === null) return "costs no step time";
  return `−${formatTime(recoverable_ns)}${share === null ? "" : ` (${formatShare(share)} of a step)`}`;
}

/** What the first of them saves: savings of several are no sum. */
export function gainOfFirst(findings: readonly Finding[]): string {
  const [first] = findings;
  return first && !first.artefact && first.recoverable_ns !== null ? gainText(first) : "";
}

const MOST = 3;

/** The first few that are likely at least, else that are theoretical, else that cost no time or are the profiler's; and the others in this order. */
export function ranked(findings: readonly Finding[]): Record<"top" | "rest", Finding[]> {
  const rank = ({ recoverable_ns, artefact, certainty }: Finding): number =>
    recoverable_ns === null || artefact ? 2 : certainty === "theoretical" ? 1 : 0;
  const all = [...findings].sort((a, b) => rank(a) - rank(b));
  const [first] = all;
  const top = all.slice(0, MOST).filter((item) => first && rank(item) === rank(first));
  return { top, rest: all.slice(top.length) };
}

/** `simulated; all together: 11.6 → 7.90 ms (7.70 to 8.10 ms)`, of what is likely at least. */
export function togetherText({ totals, mean_ns }: FindingsPayload): string {
  const total = totals.filter((one) => one.certainty !== "theoretical").at(-1);
  if (!total || mean_ns === null) return "";
  return `simulated; all together: ${formatTime(mean_ns)} → ${formatTime(total.step_ns)} (${formatTime(total.low_ns)} to ${formatTime(total.high_ns)})`;
}

export const countText = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? "finding" : "findings"}`;

export function basisText({ steps, mean_ns }: FindingsPayload): string {
  if (mean_ns === null) return "";
  return steps === 1
    ? `1 step of ${formatTime(mean_ns)}`
    : `${formatCount(steps)} steps of ${formatTime(mean_ns)} on average`;
}
