import type { DiffPayload } from "../../api/types.gen";
import { Figure, Strip } from "../../widgets";
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
