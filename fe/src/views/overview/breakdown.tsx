/** The mean step in eight categories, in which earlier recordings and exports are told, with the chart of each step, and the figures of each accelerator. */

import type { OverviewPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { onlyRow, type ViewProps, withRow } from "../../state/view";
import { Term } from "../../widgets";
import { meanOf } from "../critical_path/model";
import { Folded } from "../folded";
import { Nothing } from "../loaded";
import { lacks } from "../missing";
import { rowsOf, type Step } from "../rows";
import { isWholeSpan, several as stepsPerBar } from "./model";
import { AverageTable, Devices, StepChart } from "./parts";

type BreakdownProps = ViewProps & { payload: OverviewPayload };

/** Share of a step from which on a category has a row beside the chart, whose data table holds all. */
const LEAST = 0.01;

export function Breakdown(props: BreakdownProps) {
  return (
    <>
      <Categories {...props} />
      <Summary payload={props.payload} />
    </>
  );
}

function Categories({ payload, ...props }: BreakdownProps) {
  const { average } = payload;
  const rows = rowsOf(payload.steps);
  if (!rows.length)
    return lacks(payload.missing, "events") ? null : (
      <Nothing
        title="There is no step"
        text="The trace holds nothing that could be a step."
        missing={payload.missing}
      />
    );
  return (
    <Folded
      title={<Term id="breakdown">Step-time breakdown</Term>}
      // The answer above is of one step.
      note={average && average.steps > 1 ? meanOf(average.steps) : ""}
    >
      {() => <StepTimes {...props} payload={payload} rows={rows} />}
    </Folded>
  );
}

function StepTimes({ payload, rows, steps, setSteps }: BreakdownProps & { rows: readonly Step[] }) {
  const { average } = payload;
  const note = (
    <>
      <Term id="step_source" />: {payload.step_source}
      {stepsPerBar(payload) > 1
        ? `; each bar is the mean of ${formatCount(stepsPerBar(payload))} steps`
        : ""}
    </>
  );
  const table = average ? (
    <AverageTable
      average={average}
      whole={isWholeSpan(payload)}
      least={rows.length > 1 ? LEAST : 0}
    />
  ) : (
    <p class="muted">No step is selected.</p>
  );
  return (
    <>
      <p class="muted">{note}</p>
      {/* One bar would stand in a wide empty chart. */}
      {rows.length > 1 ? (
        <StepChart
          payload={payload}
          chosen={onlyRow(rows, steps)}
          onChoose={(index) => setSteps(withRow(steps, rows, index))}
        >
          {table}
        </StepChart>
      ) : (
        table
      )}
    </>
  );
}

/** The four figures of each accelerator. */
function Summary({ payload: { devices, vocabulary } }: Pick<BreakdownProps, "payload">) {
  if (!devices.length) return null;
  return (
    <Folded
      title={<Term id="device">{vocabulary.device} summary</Term>}
      note={devices.length > 1 ? `${devices.length} ${vocabulary.device}s` : devices[0]?.details}
    >
      {() => <Devices devices={devices} words={vocabulary} />}
    </Folded>
  );
}
