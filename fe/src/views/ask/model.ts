/** What the rows of an answer read, and where they lead. */

import type { AskTable } from "../../api/types.gen";
import {
  formatAbout,
  formatBytes,
  formatCount,
  formatDelta,
  formatTime,
  MINUS,
} from "../../base/units";
import { capitalised } from "../../base/words";
import {
  ALL_STEPS,
  parseSteps,
  VIEW_IDS,
  type ViewId,
  type ViewProps,
  withoutMode,
} from "../../state/view";
import type { RowOf } from "../rows";

export type Row = RowOf<AskTable>;

/** Names of the recording, as it has them. */
const CODE = ["line", "operator", "kernel", "call", "module", "range", "function", "memory"];

export const isCode = ({ kind, name }: Row): boolean => CODE.includes(kind) && name !== "";

export const kindName = (kind: string): string => capitalised(kind.replaceAll("_", " "));

/** Rows of one group stand together: what to change, what costs, and where else to go. */
export const groupOf = ({ kind }: Row): string =>
  kind === "finding" || CODE.includes(kind) ? (kind === "finding" ? kind : "cost") : "place";

/** By how much a step changes, what it holds, or how long it takes. What is predicted has two digits. */
export const figureOf = ({ kind, change_ns, bytes, time_ns }: Row): string =>
  change_ns !== null
    ? kind === "step"
      ? formatDelta(change_ns)
      : `${MINUS}${formatAbout(-change_ns)}`
    : bytes !== null
      ? formatBytes(bytes)
      : time_ns === null
        ? ""
        : formatTime(time_ns);

/** What follows the name: a function, in which steps, how often. The text of a word stands below the list. */
export const moreOf = ({ kind, more, calls }: Row): string =>
  kind === "word" || kind === "trace"
    ? ""
    : [more, calls === null ? "" : `× ${formatCount(calls)}`].filter(Boolean).join(" ");

/** A text in pieces, those at odd places the words that were looked for. */
export function piecesOf(text: string, question: string): string[] {
  const words = question.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return [text];
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  return text.split(new RegExp(`(${pattern})`, "i"));
}

/** Another question, or the address of a row; null of what leads nowhere. A row without a section stays in the shown one. */
export function leadsTo(
  { to }: Row,
  here: ViewId,
  { hrefOf, params, selection, steps }: ViewProps,
): { question: string } | { href: string } | null {
  if (!to) return null;
  const {
    view,
    run,
    worker,
    span,
    steps: chosen,
    ask,
    ...more
  } = Object.fromEntries(new URLSearchParams(to));
  if (ask !== undefined) return { question: ask };
  const id = VIEW_IDS.find((one) => one === view) ?? here;
  const other =
    worker === undefined ? selection : { run: run ?? selection.run, worker, span: span ?? "" };
  const range = chosen === undefined ? undefined : { ...ALL_STEPS, ...parseSteps(chosen) };
  const own = view === undefined ? withoutMode(params) : {};
  return {
    href: hrefOf(
      id,
      { ...own, ...more },
      other,
      range ?? (other === selection ? steps : undefined),
    ),
  };
}
