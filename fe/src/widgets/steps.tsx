import { useRef, useState } from "preact/hooks";
import { clamp } from "../base/clamp";
import { useId } from "../base/id";
import { formatCount, formatTime } from "../base/units";
import { capitalised, stepName } from "../base/words";
import { Menu } from "./controls";

export interface StepChoice {
  step: number;
  /** Consecutive steps from `step` on that the row is of. */
  steps: number;
  name: string;
  wall_ns: number;
  cold: boolean;
  odd: boolean;
  kind?: string;
}

interface StepValue {
  first: number | null;
  last: number | null;
  skipCold: boolean;
  kind?: string;
}

/** Without how often it comes and that it grows. */
const kindOf = ({ kind = "" }: StepChoice): string => kind.replace(/, (every \w+|growing)/g, "");

interface StepSelectorProps {
  steps: readonly StepChoice[];
  value: StepValue;
  onChange: (value: StepValue) => void;
  /** The `step` that speaks for the others. */
  median?: number;
}

type Ends = Pick<StepChoice, "step" | "steps">;

const endOf = ({ step, steps }: Ends): number => step + steps - 1;
const countOf = (rows: readonly Ends[]): number => rows.reduce((sum, { steps }) => sum + steps, 0);

/** The first or last step of a row by what a person knows it by. */
const edge = ({ name }: StepChoice, side: 0 | -1): string =>
  stepName(stepName(name).split(" to ").at(side) ?? name);

const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** The rows with chosen steps. A step that is chosen alone may be a cold one. */
function chosenOf(rows: readonly StepChoice[], value: StepValue): StepChoice[] {
  const { first, last, skipCold, kind } = value;
  if (kind && first === null) return rows.filter((row) => kindOf(row) === kind);
  const end = last ?? first;
  return rows.filter(
    (row) =>
      (first === null || (endOf(row) >= first && row.step <= (end ?? first))) &&
      !(skipCold && row.cold && row.steps === 1 && (first === null || first !== end)),
  );
}

/** What the chosen steps are called: "All 7 steps", "Steps 4 to 9", "Step 4". */
export function stepsLabel(rows: readonly StepChoice[], value: StepValue): string {
  const total = countOf(rows);
  const { first, kind } = value;
  if (kind && first === null) return capitalised(kind);
  const last = value.last ?? first;
  const chosen = chosenOf(rows, value);
  const [one] = chosen;
  const other = chosen.at(-1);
  if (!one || !other) return total ? "No step" : "No steps";
  if (first !== null && last !== null && (one.step < first || endOf(other) > last))
    return first === last
      ? `Step ${first} of the trace`
      : `${formatCount(last - first + 1)} of ${formatCount(total)} steps`;
  const count = countOf(chosen);
  const [from, to] = [edge(one, 0), edge(other, -1)];
  if (count === 1) return total === 1 ? "One step" : isNumber(from) ? `Step ${from}` : from;
  if (count === total) return `All ${formatCount(total)} steps`;
  return count === endOf(other) - one.step + 1 && isNumber(from) && isNumber(to)
    ? `Steps ${from} to ${to}`
    : `${formatCount(count)} of ${formatCount(total)} steps`;
}

/** So many bars have room beside each other. */
const MOST_BARS = 96;

/** A row per bar, with the time of one step: of several that of the longest. No more than have room beside each other. */
export function barsOf(rows: readonly StepChoice[], most = MOST_BARS): StepChoice[] {
  const size = Math.max(1, Math.ceil(rows.length / most));
  const bars: StepChoice[] = [];
  for (let at = 0; at < rows.length; at += size) {
    const group = rows.slice(at, at + size);
    const [one, other] = [group[0], group.at(-1)];
    if (!one || !other) break;
    bars.push({
      step: one.step,
      steps: countOf(group),
      name: one === other ? stepName(one.name) : `${edge(one, 0)} to ${edge(other, -1)}`,
      wall_ns: Math.max(...group.map((row) => row.wall_ns / row.steps)),
      cold: group.some((row) => row.cold),
      odd: group.some((row) => row.odd),
    });
  }
  return bars;
}

/** Which steps: a menu with a bar for each. */
export function StepSelector({ steps, value, onChange, median = -1 }: StepSelectorProps) {
  const cold = steps.filter((row) => row.cold && row.steps === 1).length;
  const warm = { first: null, last: null, skipCold: true };
  const all = { ...warm, skipCold: false };
  const usual = steps.find(({ step }) => step === median);
  const odd = steps.filter((row) => row.odd).slice(0, 3);
  return (
    <Menu label="Steps" text={stepsLabel(steps, value)} class="pick">
      {(close) => {
        const choose = (next: StepValue): void => {
          close();
          onChange(next);
        };
        const item = (next: StepValue, note: string) => (
          <button
            key={next.first}
            type="button"
            class="menu-item"
            aria-pressed={stepsLabel(steps, next) === stepsLabel(steps, value)}
            onClick={() => choose(next)}
          >
            {stepsLabel(steps, next)} <small>{note}</small>
          </button>
        );
        const one = (row: StepChoice, note: string) =>
          item(
            { first: row.step, last: endOf(row), skipCold: value.skipCold },
            `${note}, ${formatTime(row.wall_ns / row.steps)}`,
          );
        return (
          <>
            {cold && cold < countOf(steps)
              ? item(
                  warm,
                  cold === 1 ? "all but the cold one" : `all but the ${formatCount(cold)} cold`,
                )
              : null}
            {item(all, "")}
            <Bars rows={barsOf(steps)} value={value} onChoose={choose} />
            {usual ? one(usual, "the median") : null}
            {odd.map((row) => one(row, "odd"))}
          </>
        );
      }}
    </Menu>
  );
}

interface BarsProps {
  rows: readonly StepChoice[];
  value: StepValue;
  onChoose: (value: StepValue) => void;
}

/** A bar per row: a press chooses it, a drag several; from the keyboard the arrows go, with Shift they widen, Enter chooses. */
function Bars({ rows, value, onChoose }: BarsProps) {
  const id = useId("step");
  const root = useRef<HTMLDivElement>(null);
  /** Where the choice that is being made began, and where it is. */
  const [draft, setDraft] = useState<readonly [number, number] | null>(null);
  const held = useRef(false);
  const longest = Math.max(...rows.map((row) => row.wall_ns), 1);
  const chosen = rows.findIndex((row) => endOf(row) >= (value.first ?? 0));
  const at = draft?.[1] ?? Math.max(0, chosen);
  const under = ({ clientX }: PointerEvent): number => {
    const { left = 0, width = 1 } = root.current?.getBoundingClientRect() ?? {};
    return clamp(Math.floor(((clientX - left) / width) * rows.length), 0, rows.length - 1);
  };
  const commit = ([a, b]: readonly [number, number]): void => {
    const [one, other] = [rows[Math.min(a, b)], rows[Math.max(a, b)]];
    if (!one || !other) return;
    const touched = rows.slice(Math.min(a, b), Math.max(a, b) + 1);
    // Who draws over cold steps wants them.
    const skipCold = value.skipCold && !touched.some((row) => row.cold);
    onChoose({ first: one.step, last: endOf(other), skipCold });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") commit(draft ?? [at, at]);
    else if (to === undefined) return;
    else {
      const next = clamp(to, 0, rows.length - 1);
      setDraft([event.shiftKey ? (draft?.[0] ?? at) : next, next]);
    }
    event.preventDefault();
  };
  const isOn = (row: StepChoice, i: number): boolean =>
    draft ? i >= Math.min(...draft) && i <= Math.max(...draft) : chosenOf([row], value).length > 0;
  const row = rows[at];
  return (
    <div class="step-choice">
      <div
        ref={root}
        class="step-bars"
        role="listbox"
        aria-label="Steps"
        aria-multiselectable="true"
        aria-activedescendant={`${id}-${at}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          held.current = true;
          root.current?.setPointerCapture(event.pointerId);
          setDraft([under(event), under(event)]);
        }}
        onPointerMove={(event) => {
          const to = under(event);
          if (held.current) setDraft([draft?.[0] ?? to, to]);
        }}
        onPointerUp={(event) => {
          held.current = false;
          const to = under(event);
          commit([draft?.[0] ?? to, to]);
        }}
      >
        {rows.map((row, i) => (
          <div
            key={row.step}
            id={`${id}-${i}`}
            role="option"
            aria-label={barText(row)}
            aria-selected={isOn(row, i)}
            class={`step-bar${row.cold ? " step-bar-cold" : ""}${row.odd ? " step-bar-odd" : ""}`}
            title={barText(row)}
          >
            <i style={{ height: `${(row.wall_ns / longest) * 100}%` }} />
          </div>
        ))}
      </div>
      <p class="step-hint" role="status">
        {draft && row ? `${barText(row)}. ` : ""}
        Click a bar for one step, drag for several.
        {rows.some((row) => row.cold) ? " Pale: cold." : ""}
      </p>
    </div>
  );
}

const barText = (row: StepChoice): string =>
  [
    `${row.steps > 1 ? "Steps" : "Step"} ${row.name}`,
    formatTime(row.wall_ns),
    row.cold ? "cold" : "",
    row.odd ? "odd" : "",
  ]
    .filter(Boolean)
    .join(", ");
