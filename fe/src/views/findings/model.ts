/** What is computed from the findings: those of a view, savings and figures in words. */

import type { Certainty, Finding, FindingsPayload, FindingView } from "../../api/types.gen";
import { formatAbout, formatCount, MINUS } from "../../base/units";

export function findingsOf(payload: FindingsPayload, view: FindingView): Finding[] {
  return payload.findings.filter((finding) => finding.views.includes(view));
}

/** `−12 ms`: predicted, so two digits; empty where no time is at stake. */
export const gainText = ({ recoverable_ns }: Pick<Finding, "recoverable_ns">): string =>
  recoverable_ns === null ? "" : `${MINUS}${formatAbout(recoverable_ns)}`;

/** What the first of them saves: savings of several are no sum. */
export function gainOfFirst(findings: readonly Finding[]): string {
  const [first] = findings;
  return first && !first.artefact ? gainText(first) : "";
}

/** What recurs before what happened in a step of its own, and then what saves most of a step. */
const bySaving = (a: Finding, b: Finding): number =>
  Number(a.step !== null) - Number(b.step !== null) ||
  (b.recoverable_ns ?? 0) - (a.recoverable_ns ?? 0);

const MOST = 4;
const CERTAINTIES: Readonly<Record<Certainty, [dots: string, word: string]>> = {
  certain: ["●●●", "certain"],
  likely: ["●●○", "likely"],
  theoretical: ["●○○", "possible"],
};
export const certaintyOf = (certainty: Certainty) => CERTAINTIES[certainty];

/** The step that a finding is of, and what it would be with its change, ns; null where no time is at stake. */
export function nowAndThen({ recoverable_ns, share, ...range }: Finding) {
  if (recoverable_ns === null || !share) return null;
  const now = recoverable_ns / share;
  const { recoverable_low_ns: least, recoverable_high_ns: most } = range;
  return {
    now,
    then: now - recoverable_ns,
    range:
      least === null || most === null
        ? ""
        : `${formatAbout(now - most)} to ${formatAbout(now - least)}`,
  };
}

/** What saves time beside the profiler's own doing; `rest`: what saves less, what is only possible beside something likelier, and what costs no time. */
export function ranked(findings: readonly Finding[]): Record<"top" | "rest", Finding[]> {
  const saving = findings.filter(
    ({ recoverable_ns, artefact }) => recoverable_ns !== null && !artefact,
  );
  const likely = saving.filter(({ certainty }) => certainty !== "theoretical");
  // What the answer says stands first.
  const leads = (finding: Finding) => Number(finding === findings[0]);
  const top = [...(likely.length ? likely : saving)]
    .sort((a, b) => leads(b) - leads(a) || bySaving(a, b))
    .slice(0, MOST);
  return { top, rest: findings.filter((finding) => !top.includes(finding)) };
}

/** `saves per step, simulated; savings overlap`. */
export function headingText({ findings, together, steps, healthy }: FindingsPayload): string {
  const { top } = ranked(findings);
  if (!top.length)
    return healthy ? "no known cause costs 2 % or more" : "no cause in what could be checked";
  const where =
    steps < 2 ? "" : top.every(({ step }) => step === null) ? " per step" : " in each marked step";
  return `saves${where}, simulated${together ? "; savings overlap" : ""}`;
}

/** `Together they leave about 590 ms.`, of what is likely at least. */
export function togetherText({ totals, together }: FindingsPayload): string {
  const total = totals.filter((one) => one.certainty !== "theoretical").at(-1);
  return total && together
    ? `All of it at once would leave about ${formatAbout(total.step_ns)}.`
    : "";
}

export const countText = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? "finding" : "findings"}`;

/** `train.py:12` of `src/train.py(12): main`; of a call without a line its file, of other text the text. */
export function lineParts(line: string): { place: string; name: string } {
  const [, file = "", number, name = ""] =
    /^(?:.*[\\/])?([^\\/]+?)(?:\((\d+)\))?: (.+)$/s.exec(line) ?? [];
  return file ? { place: number ? `${file}:${number}` : file, name } : { place: line, name: "" };
}
