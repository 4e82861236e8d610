/** All steps by what their ends waited for, and, below them, why one of them takes longer than the median step. */

import type { StepCausesPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { useResource, useUntilComplete } from "../../state/resource";
import { ALL_STEPS, rowOfStep, viewQuery, type ViewProps } from "../../state/view";
import { Button, Figure, SeriesLegend, Skeleton, StackedBars } from "../../widgets";
import { categoryLooks } from "../critical_path/groups";
import { InShort, Loaded } from "../loaded";
import { rowsOf } from "../rows";
import { noteOf, panelsOf, seriesOf, tableOf } from "./model";
import { Why } from "./why";

export function StepsView(props: ViewProps) {
  return (
    <div class="view">
      <StepCauses {...props} />
    </div>
  );
}

type Ranks = "own" | "all";

/** `own`: the path of this rank alone; else, where the run has several, that through all ranks. */
interface StepCausesProps extends ViewProps {
  ranks?: Ranks;
  /** Beside a legend of the same colours. */
  brief?: boolean;
}

/** The bars and, in place, the waterfall of the step that the address names (`why`). It is of all steps, whichever are chosen. */
export function StepCauses({ ranks = "all", brief = false, ...props }: StepCausesProps) {
  const query = viewQuery({ selection: props.selection, steps: ALL_STEPS }, { ranks });
  const resource = useResource("critical_path/steps", query);
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[280]}>
      {(payload) =>
        payload.progress < 1 ? (
          <Skeleton height={280} label="Reading the ranks" />
        ) : (
          <>
            {brief ? null : <InShort sentences={payload.sentences} />}
            {payload.steps.step.length ? <Steps {...props} {...{ payload, ranks, brief }} /> : null}
          </>
        )
      }
    </Loaded>
  );
}

type StepsProps = ViewProps & { payload: StepCausesPayload; ranks: Ranks; brief: boolean };

function Steps({ payload, ranks, brief, ...props }: StepsProps) {
  const { params, setParam } = props;
  const rows = rowsOf(payload.steps);
  const why = /^\d{1,9}$/.test(params.why ?? "") ? Number(params.why) : null;
  const open = why === null ? undefined : rowOfStep(rows, why);
  const slowest = rowOfStep(rows, payload.slowest_odd);
  const close = (): void => setParam("why", null);
  return (
    <section
      class="step-causes"
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) close();
      }}
    >
      <Figure
        title="Steps"
        term="step_causes"
        note={noteOf(payload)}
        table={tableOf(payload)}
        actions={
          slowest ? (
            <Button
              kind="quiet"
              pressed={why === payload.slowest_odd}
              onClick={() => setParam("why", String(payload.slowest_odd))}
            >
              {`Why is step ${stepName(slowest.steps > 1 ? "" : slowest.name, payload.slowest_odd)} slow?`}
            </Button>
          ) : null
        }
      >
        {payload.kinds.length && !brief ? <SeriesLegend series={seriesOf(payload)} /> : null}
        <div class="step-panels">
          {panelsOf(payload).map(({ title, line, bars }) => (
            <div key={title} style={{ flexGrow: bars.length + 2 }}>
              {title ? (
                <p class="step-panel">
                  <strong>{title}</strong> own scale
                  {brief ? "" : `, median ${formatTime(line?.value ?? null)}`}
                </p>
              ) : null}
              <StackedBars
                label={`${title || "Steps"} by what their ends waited for`}
                series={seriesOf(payload)}
                looks={categoryLooks(payload.device)}
                bars={bars}
                unit="ns"
                height={brief ? 190 : 200}
                {...(line ? { line } : {})}
                legend={!title && !brief}
                selected={open?.step ?? null}
                onSelect={(step) => {
                  const row = rows.find((one) => one.step === step);
                  setParam("why", !row || row === open ? null : String(row.longest));
                }}
              />
            </div>
          ))}
        </div>
      </Figure>
      {open && why !== null ? (
        <Why
          {...props}
          ranks={ranks}
          step={why}
          said={brief ? "" : (payload.sentences[0] ?? "")}
          ownStep={open.own_step + why - open.step}
          onClose={close}
        />
      ) : null}
    </section>
  );
}
