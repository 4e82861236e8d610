import type { DiffPayload, DiffSide } from "../../api/types.gen";
import { categoryColor, CATEGORIES } from "../../base/theme";
import { formatDelta, formatExactTime, formatShare, formatTime } from "../../base/units";
import type { Selection } from "../../state/view";
import { Figure, Strip, Term } from "../../widgets";
import { basisText, meanText, stripRow } from "./model";
import { rowsOf } from "../rows";

const MOST_CAUSES = 8;
/** Share of the change below which causes stand together. */
const LEAST_CAUSE = 0.02;

/** Side A, which the header chooses. */
export function Baseline({ selection }: { selection: Selection }) {
  return (
    <div class="diff-side">
      <span class="diff-mark diff-a">A</span>
      <span>
        Baseline: <strong>{selection.run}</strong> · {selection.worker}{" "}
        <span class="muted">as chosen at the top</span>
      </span>
    </div>
  );
}

/** Each step of both sides on one axis: the spread beside the difference. */
export function StepTimes({ payload: { a, b, verdict } }: { payload: DiffPayload }) {
  const rows = [stripRow("A", "var(--side-a)", a), stripRow("B", "var(--side-b)", b)];
  const { low, high } = verdict;
  return (
    <Figure
      title="Step times"
      term="diff_steps"
      note={`a dot per step, hollow where it is not compared${low === null || verdict.work ? "" : "; hatched: the change from the mean of A, 99 % certain"}`}
      table={{
        columns: [
          { label: "Side" },
          { label: "Step" },
          { label: "Wall time", unit: "ns" },
          { label: "Compared" },
        ],
        rows: [a, b].flatMap((side, i) =>
          rowsOf(side.steps).map((step) => [
            i ? "B" : "A",
            step.name,
            step.wall_ns,
            step.selected ? "yes" : "no",
          ]),
        ),
      }}
    >
      <Strip
        label="Step times"
        rows={rows}
        unit="ns"
        interval={
          low === null || high === null || a.mean_ns === null || verdict.work
            ? null
            : [a.mean_ns * (1 + low), a.mean_ns * (1 + high)]
        }
      />
    </Figure>
  );
}

export function SideCard({ mark, side }: { mark: "A" | "B"; side: DiffSide }) {
  return (
    <article class="diff-card">
      <h3>
        <span class={`diff-mark diff-${mark.toLowerCase()}`}>{mark}</span> {side.label}
      </h3>
      <p>
        <strong class="number">{meanText(side)}</strong>{" "}
        <span class="muted">{basisText(side)}</span>
      </p>
      <p class="muted">{side.device ?? "no known accelerator"}</p>
    </article>
  );
}

/** What the change of the step is made of, the largest first. */
export function Causes({ payload: { causes, verdict } }: { payload: DiffPayload }) {
  const shown = causes.filter(({ share }) => Math.abs(share) >= LEAST_CAUSE).slice(0, MOST_CAUSES);
  const whole = verdict.delta_ns ?? 0;
  const others = shown.reduce((left, { delta_ns }) => left - delta_ns, whole);
  const row = (what: string, category: string, ns: number) => (
    <tr key={`${category} ${what}`}>
      <th scope="row">{what}</th>
      <td>{category}</td>
      <td class="number" title={formatExactTime(ns)}>
        <strong>{formatDelta(ns)}</strong>
      </td>
      <td class="number">{formatShare(whole ? ns / whole : null)}</td>
    </tr>
  );
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Category</th>
          <th scope="col" class="number">
            Change
          </th>
          <th scope="col" class="number">
            Of the change
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ what, category, delta_ns }) => row(what, category, delta_ns))}
        {others ? row("others", "", others) : null}
        {row("all", "", whole)}
      </tbody>
    </table>
  );
}

/** The step by category, A above B. */
export function Categories({ payload: { changes, a } }: { payload: DiffPayload }) {
  const rows = rowsOf(changes).filter(
    ({ table, time_a_ns, time_b_ns }) =>
      table === "category" && (time_a_ns ?? 0) + (time_b_ns ?? 0) > 0,
  );
  const largest = Math.max(
    1,
    ...rows.flatMap(({ time_a_ns, time_b_ns }) => [time_a_ns ?? 0, time_b_ns ?? 0]),
  );
  const bar = (side: "a" | "b", ns: number | null) => (
    <span class={`pair-bar diff-${side}`} style={{ width: `${(100 * (ns ?? 0)) / largest}%` }} />
  );
  return (
    <table class="plain-table pairs">
      <thead>
        <tr>
          <th scope="col">Category</th>
          <th scope="col" class="pair-bars">
            <span class="diff-mark diff-a">A</span> <span class="diff-mark diff-b">B</span>
          </th>
          {["A", "B", "Change", "Of the step"].map((label) => (
            <th key={label} scope="col" class="number">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, short, time_a_ns, time_b_ns, delta_ns }) => {
          const category = CATEGORIES.find((key) => key === name);
          return (
            <tr key={name}>
              <th scope="row">
                {category ? (
                  <span class="swatch" style={{ background: categoryColor(category) }} />
                ) : null}{" "}
                <Term id={name}>{short || name}</Term>
              </th>
              <td class="pair-bars" aria-hidden="true">
                {bar("a", time_a_ns)}
                {bar("b", time_b_ns)}
              </td>
              <td class="number">{formatTime(time_a_ns)}</td>
              <td class="number">{formatTime(time_b_ns)}</td>
              <td class="number" title={formatExactTime(delta_ns)}>
                <strong>{formatDelta(delta_ns)}</strong>
              </td>
              <td class="number">{formatShare(a.mean_ns ? delta_ns / a.mean_ns : null)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
