import { clamp } from "../base/clamp";
import { useId } from "../base/id";
import { formatCount, formatTime } from "../base/units";
import { Checkbox, type Option, Segmented, Select } from "./controls";
import { Badge } from "./panel";

export interface StepChoice {
  step: number;
  /** Consecutive steps from `step` on that the row is of. */
  steps: number;
  name: string;
  wall_ns: number;
  cold: boolean;
  odd: boolean;
}

interface StepValue {
  first: number | null;
  last: number | null;
  skipCold: boolean;
}

interface StepSelectorProps {
  steps: readonly StepChoice[];
  value: StepValue;
  onChange: (value: StepValue) => void;
}

type Mode = "all" | "one" | "range";

/** What the value says; a range of one step counts as one only when both ends are equal. */
export function modeOf(value: StepValue, count: number): Mode {
  if (value.first === null) return "all";
  if (value.last === null || value.last === value.first) return "one";
  return count > 1 ? "range" : "one";
}

/** A range with its ends inside the steps and in order. */
export function orderedRange(first: number, last: number, count: number) {
  const inside = (index: number): number => clamp(index, 0, count - 1);
  const [a, b] = [inside(first), inside(last)];
  return { first: Math.min(a, b), last: Math.max(a, b) };
}

export function StepSelector({ steps, value, onChange }: StepSelectorProps) {
  const id = useId("steps");
  const count = steps.reduce((sum, row) => sum + row.steps, 0);
  const mode = modeOf(value, count);
  const first = value.first ?? 0;
  const last = value.last ?? first;
  const setMode = (next: Mode): void => {
    if (next === "all") onChange({ ...value, first: null, last: null });
    else if (next === "one") onChange({ ...value, first, last: first });
    else onChange({ ...value, ...wide(first, count) });
  };
  const labels = shortNames(steps.map((step) => step.name));
  const options = steps.map((step, i) => ({
    value: `${step.step}`,
    label: labels[i] ?? step.name,
    note: noteOf(step),
  }));
  const ends = endsOf(steps, options);
  const set = (from: number, to: number): void =>
    onChange({ ...value, ...orderedRange(from, to, count) });
  const cold = steps.filter((step) => step.cold).length;
  return (
    <div class="steps" id={id}>
      <Segmented
        label="Steps"
        value={mode}
        options={[
          { value: "all", label: `All ${formatCount(count)}` },
          { value: "one", label: "One", disabled: count === 0 },
          { value: "range", label: "Range", disabled: count < 2 },
        ]}
        onChange={setMode}
      />
      {mode === "one" ? (
        <Select
          label="Step"
          value={`${first}`}
          options={withExact(options, first)}
          onChange={(text) => set(Number(text), lastOf(steps, Number(text)))}
        />
      ) : null}
      {mode === "range" ? <FromTo {...{ first, last, options, ends }} onChange={set} /> : null}
      {cold > 0 && mode !== "one" ? (
        <Checkbox
          label={
            <>
              Skip cold steps <Badge>{cold}</Badge>
            </>
          }
          checked={value.skipCold}
          onChange={(skipCold) => onChange({ ...value, skipCold })}
        />
      ) : null}
    </div>
  );
}

interface FromToProps {
  /** Indices of the steps, both ends included. */
  first: number;
  last: number;
  options: readonly Option[];
  /** The rows of the steps by their last steps. */
  ends: readonly Option[];
  onChange: (first: number, last: number) => void;
}

const lastOf = (rows: readonly Pick<StepChoice, "step" | "steps">[], step: number): number =>
  step + (rows.find((row) => row.step === step)?.steps ?? 1) - 1;

/** Options by the last step of each row. */
export const endsOf = (
  rows: readonly Pick<StepChoice, "step" | "steps">[],
  options: readonly Option[],
): Option[] =>
  options.map((option) => ({ ...option, value: `${lastOf(rows, Number(option.value))}` }));

/** A link may name a step within a row of several. */
const withExact = (options: readonly Option[], step: number): readonly Option[] =>
  options.some(({ value }) => value === `${step}`)
    ? options
    : [{ value: `${step}`, label: `step ${step} of the trace` }, ...options];

export function FromTo({ first, last, options, ends, onChange }: FromToProps) {
  return (
    <>
      <Select
        label="From"
        value={`${first}`}
        options={withExact(options, first)}
        onChange={(text) => onChange(Number(text), Math.max(Number(text), last))}
      />
      <Select
        label="to"
        value={`${last}`}
        options={withExact(ends, last)}
        onChange={(text) => onChange(Math.min(first, Number(text)), Number(text))}
      />
    </>
  );
}

function wide(step: number, count: number): { first: number; last: number } {
  return step + 1 < count
    ? { first: step, last: step + 1 }
    : { first: Math.max(0, step - 1), last: step };
}

/** Names without the beginning that they share, where only numbers are left: `ProfilerStep#5` → `5`. */
export function shortNames(names: readonly string[]): readonly string[] {
  const prefix = /^(.*?)\d+$/.exec(names[0] ?? "")?.[1] ?? "";
  const short = names.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : ""));
  return short.every((name) => /^\d+$/.test(name)) ? short : names;
}

function noteOf(step: StepChoice): string {
  return [formatTime(step.wall_ns), step.cold ? "cold" : "", step.odd ? "odd" : ""]
    .filter(Boolean)
    .join(", ");
}
