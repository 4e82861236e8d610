/**
 * What a view gets from the shell, and what it sends to the server.
 *
 * A view is a component `(props: ViewProps) => JSX`, registered in `app/registry.ts`. It fetches with
 * `useResource("overview", viewQuery(props))` (state/resource.ts), keeps its own choices (grouping, search, sort …) in the URL through
 * `params` and `setParam`, and knows neither the header nor TensorBoard.
 */

import type { OfSteps, OfTrace } from "../api/routes.gen";
import { SECTIONS } from "../base/sections.gen";

export type ViewId = keyof typeof SECTIONS;
export const VIEW_IDS = Object.keys(SECTIONS) as ViewId[];

/** The chosen trace; the names are those of the wire. `run` is empty while there is none. */
export interface Selection {
  run: string;
  worker: string;
  span: string;
}

/** The chosen steps: rows of `StepsPayload.steps`, both ends included; `null` and `null`: all of them, or those of one kind. */
export interface StepRange {
  first: number | null;
  last: number | null;
  skipCold: boolean;
  kind?: string;
}

export const ALL_STEPS: StepRange = { first: null, last: null, skipCold: false };

export const onlyOne = (step: number): StepRange => ({ ...ALL_STEPS, first: step, last: step });

/** The step that is chosen alone; null where all are, or several. */
export function onlyStep({ first, last }: StepRange): number | null {
  return first !== null && (last ?? first) === first ? first : null;
}

export function isChosen({ first, last }: StepRange, index: number): boolean {
  return first === null || (index >= first && index <= (last ?? first));
}

/** Chooses a step, or a row of several from `index` on; all of them where it was chosen before. */
export function withOnly(steps: StepRange, index: number, count = 1): StepRange {
  const last = index + count - 1;
  return steps.first === index && (steps.last ?? index) === last
    ? { ...steps, first: null, last: null }
    : { ...ALL_STEPS, skipCold: steps.skipCold, first: index, last };
}

/** A row of a table of steps: `steps` consecutive ones from `step` on, more than one only where there are very many. */
export interface StepRow {
  step: number;
  steps: number;
}

/** The row that holds a step. */
export function rowOfStep<T extends StepRow>(rows: readonly T[], index: number): T | undefined {
  return rows.find(({ step, steps }) => index >= step && index < step + steps);
}

/** The `step` of the row that holds all of the chosen steps; null where there is none. */
export function onlyRow(rows: readonly StepRow[], { first, last }: StepRange): number | null {
  const row = first === null ? undefined : rowOfStep(rows, first);
  return row && (last ?? first ?? 0) < row.step + row.steps ? row.step : null;
}

/** `withOnly` of the row that begins with a step. */
export function withRow(steps: StepRange, rows: readonly StepRow[], index: number): StepRange {
  return withOnly(steps, index, rowOfStep(rows, index)?.steps);
}

export type Params = Readonly<Record<string, string>>;

/** The keys of the other side of a comparison. `given2`: the chosen recording is before, whichever was made earlier. */
const COMPARISON = ["run2", "worker2", "span2", "steps2", "skip_cold2", "given2"];
/** What the address keeps from place to place until somebody ends it; `all`: all ranks are meant. */
const MODE = [...COMPARISON, "all"];

/** With some set; empty ones are left out. */
export const withParams = (params: Params, more: Params): Params => {
  const all = { ...params, ...more };
  return some(all, (key) => !!all[key]);
};

const some = (params: Params, keep: (key: string) => boolean): Params =>
  Object.fromEntries(Object.entries(params).filter(([key]) => keep(key)));

/** What of the mode stays where a link has these parameters: they may begin another comparison, or end it. */
export const modeOf = (params: Params, link: Params): Params =>
  some(params, (key) => (link.run2 === undefined ? MODE : ["all"]).includes(key));
export const withoutMode = (params: Params): Params => some(params, (key) => !MODE.includes(key));

/** Ends the comparison where it is given to a link. */
export const ALONE: Params = Object.fromEntries(COMPARISON.map((key) => [key, ""]));

/** A trace with its steps. */
export interface Side {
  selection: Selection;
  steps: StepRange;
}

/** A side as the other one of a comparison. */
export const sideParams = ({ run, worker, span }: Selection, steps: StepRange = ALL_STEPS) => ({
  run2: run,
  worker2: worker,
  span2: span,
  steps2: stepsText(steps),
  skip_cold2: steps.skipCold ? ("1" as const) : ("" as const),
});

export const sameTrace = (a: Selection, b: Selection): boolean =>
  a.run === b.run && a.worker === b.worker && a.span === b.span;

export interface ViewProps {
  selection: Selection;
  steps: StepRange;
  /** Chooses steps, e.g. when a bar of the chart is clicked. Goes into the URL. */
  setSteps: (steps: StepRange) => void;
  /** This view's own keys of the URL, e.g. `{group: "shape"}`. */
  params: Params;
  /** Sets one (`null` or empty: removes it). Replaces the history entry; the back button leaves the view, not the last keystroke. */
  setParam: (key: string, value: string | null) => void;
  /** The URL of a view with that view's own parameters, e.g. `hrefOf("kernel", {search: "aten::mm"})`. Another trace starts with all of its own steps; `steps` are others than these or than the chosen ones. What is compared stays, and that all ranks are meant. */
  hrefOf: (view: ViewId, params?: Params, selection?: Selection, steps?: StepRange) => string;
}

/** `3`, `3-7`, or all of them for anything else. */
export function parseSteps(text: string): Pick<StepRange, "first" | "last"> {
  const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(text);
  if (!match) return { first: null, last: null };
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  return { first: Math.min(first, last), last: Math.max(first, last) };
}

/** The text of a step choice in the URL and on the wire: empty (all), `4`, or `2-7`. */
export function stepsText(steps: StepRange): string {
  if (steps.first === null) return "";
  const last = steps.last ?? steps.first;
  return last === steps.first ? `${steps.first}` : `${steps.first}-${last}`;
}

/** The kind that is chosen; empty where steps are, or all. */
export const kindOf = ({ first, kind = "" }: StepRange): string => (first === null ? kind : "");

/** The query of a view's route: trace, steps, and what the view adds. Absent and empty values are left out. */
export function viewQuery<More extends object = object>(
  props: Pick<ViewProps, "selection" | "steps">,
  more?: More,
): OfTrace & OfSteps & { [K in keyof More]: Exclude<More[K], null | ""> } {
  const { run, worker, span } = props.selection;
  const kind = kindOf(props.steps);
  const all = {
    run,
    worker,
    span,
    steps: stepsText(props.steps),
    // A cold step that is chosen alone is wanted, and no other kind has one.
    skip_cold: props.steps.skipCold && onlyStep(props.steps) === null && !kind ? "1" : "",
    step_kind: kind,
    ...more,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value));
  return given as ReturnType<typeof viewQuery<More>>;
}
