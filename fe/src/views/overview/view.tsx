/** The Overview page: is the accelerator busy, which step is odd, what is at the top. */

import type { JSX } from "preact";
import type { OverviewPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Panel, Term } from "../../widgets";
import { Loaded, MissingList, Nothing } from "../loaded";
import { Health, HealthNote, Notes, Recommendations } from "./findings";
import { isWholeSpan, unrecorded } from "./model";
import { AverageTable, Configuration, Devices, Headline, StepChart } from "./parts";
import css from "./overview.css?inline";

adoptStyles(css);

export function OverviewView(props: ViewProps): JSX.Element {
  const resource = useResource("overview", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[80, 170, 360, 200]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) => <OverviewPage {...props} payload={payload} />}
    </Loaded>
  );
}

function OverviewPage({ payload, ...props }: ViewProps & { payload: OverviewPayload }): JSX.Element {
  const { devices, vocabulary } = payload;
  return (
    <div class="overview">
      <Headline payload={payload} />
      <Notes notes={payload.notes} />
      {devices.length ? (
        <Panel title={devices.length > 1 ? `${devices.length} ${vocabulary.device}s` : "Accelerator"} term="device">
          <Devices devices={devices} words={vocabulary} />
        </Panel>
      ) : null}
      <Breakdown {...props} payload={payload} />
      <div class="overview-row findings">
        <Panel title="Recommendations" term="recommendation" class="wide">
          <Recommendations items={payload.recommendations} />
        </Panel>
        <Panel title="Trace health" term="health" class="narrow" note={<HealthNote items={payload.health} />}>
          <Health items={payload.health} />
        </Panel>
      </div>
      <Panel title="Configuration" class="facts-wide">
        <Configuration facts={payload.configuration} />
      </Panel>
      <MissingList missing={payload.missing} />
    </div>
  );
}

function Breakdown({ payload, steps, setSteps, hrefOf }: ViewProps & { payload: OverviewPayload }): JSX.Element {
  const { average } = payload;
  if (!payload.steps.length) {
    return (
      <Nothing
        title="There is no step"
        text="The trace holds nothing that could be a step."
        missing={payload.missing}
        diagnosisHref={hrefOf("diagnosis")}
      />
    );
  }
  const chosen = steps.first !== null && (steps.last ?? steps.first) === steps.first ? steps.first : null;
  const choose = (index: number): void =>
    setSteps(index === chosen ? { ...steps, first: null, last: null } : { ...steps, first: index, last: index });
  return (
    <div class="overview-row">
      <div class="panel wide">
        <div class="panel-body">
          <StepChart payload={payload} chosen={chosen} onChoose={choose} />
          <p class="source-note">
            <Term id="step_source" />: {payload.step_source}.{payload.steps.length > 1 ? " Press a bar to look at that step alone." : ""}
          </p>
        </div>
      </div>
      <Panel
        title={isWholeSpan(payload) ? "The recording" : average?.steps === 1 ? "This step" : "Average step"}
        class="narrow"
        note={average && average.steps > 1 ? `mean of ${formatCount(average.steps)} steps` : null}
      >
        {average ? <AverageTable average={average} unknown={unrecorded(payload)} whole={isWholeSpan(payload)} /> : <p class="muted">No step is selected.</p>}
      </Panel>
    </div>
  );
}
