import type { DiffPayload } from "../../api/types.gen";
import { categoryColor, CATEGORIES } from "../../base/theme";
import { formatDelta, formatExactTime, formatShare, formatTime } from "../../base/units";
import { Figure, Strip, Term } from "../../widgets";
import { stripRow } from "./model";
import { rowsOf } from "../rows";

interface PartProps {
  payload: DiffPayload;
  names: readonly [string, string];
}

/** Each step of both sides on one axis: the spread beside the difference. */
export function StepTimes({ payload: { a, b, verdict }, names }: PartProps) {
  const rows = [stripRow(names[0], "var(--side-a)", a), stripRow(names[1], "var(--side-b)", b)];
  const { low, high } = verdict;
  return (
    <Figure
      title="Step times"
      term="diff_steps"
      note={`a dot per step, hollow where it is not compared${low === null || verdict.work ? "" : "; hatched: the change from the mean before, 99 % certain"}`}
      table={{
        columns: [
          { label: "Side" },
          { label: "Step" },
          { label: "Wall time", unit: "ns" },
          { label: "Compared" },
        ],
        rows: [a, b].flatMap((side, i) =>
          rowsOf(side.steps).map((step) => [
            names[i] ?? "",
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

/** The step by category, the earlier side above the later one. */
export function Categories({ payload: { changes, a }, names }: PartProps) {
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
            <span class="visually-hidden">Bars</span>
          </th>
          {[...names, "Change", "Of the step"].map((label) => (
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
