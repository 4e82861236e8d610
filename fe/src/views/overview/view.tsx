/** The Overview page: is the accelerator busy, which step is odd, what is at the top. */

import { useRef } from "preact/hooks";
import type { FindingsPayload, OverviewPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { adoptStyles } from "../../base/styles";
import { useResource, type Resource } from "../../state/resource";
import { onlyRow, viewQuery, type ViewProps, withRow } from "../../state/view";
import { find, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { Panel, Segmented, Term } from "../../widgets";
import { basisText, togetherText } from "../findings/model";
import { PathOfSteps } from "../critical_path/overview";
import { Findings, useFindings } from "../findings/view";
import { later } from "../later";
import { Loaded, MissingList, Notes, Nothing } from "../loaded";
import { Health, HealthNote } from "./health";
import { rowsOf } from "../rows";
import { isWholeSpan, several } from "./model";
import { AverageTable, Configuration, Devices, Headline, MarkLegend, StepChart } from "./parts";
import css from "./overview.css?inline";

adoptStyles(css);

const AllRanks = later(async () => (await import("../ranks/lazy")).AllRanks);

/** Of the chosen worker, or of all of its run. */
export function OverviewView(props: ViewProps) {
  const { selection, params, setParam } = props;
  const workers = useStore(
    runsStore,
    ({ payload }) => find(payload, selection).run?.workers.length ?? 0,
  );
  if (workers < 2) return <OfWorker {...props} />;
  const all = params.of === "ranks";
  return (
    <>
      <div class="overview-of">
        <Segmented
          label="Overview of"
          value={all ? "ranks" : "worker"}
          options={[
            { value: "worker", label: "This worker" },
            { value: "ranks", label: `All ${formatCount(workers)} ranks`, term: "overview_ranks" },
          ]}
          onChange={(of) => setParam("of", of === "ranks" ? of : null)}
        />
      </div>
      {all ? <AllRanks {...props} /> : <OfWorker {...props} />}
    </>
  );
}

function OfWorker(props: ViewProps) {
  const resource = useResource("overview", viewQuery(props));
  const findings = useFindings(props);
  return (
    <Loaded
      resource={resource}
      shape={[80, 170, 360, 200]}
      diagnosisHref={props.hrefOf("diagnosis")}
    >
      {(payload) => <OverviewPage {...props} payload={payload} findings={findings} />}
    </Loaded>
  );
}

function OverviewPage({
  payload,
  findings,
  ...props
}: ViewProps & { payload: OverviewPayload; findings: Resource<FindingsPayload> }) {
  const { devices, vocabulary } = payload;
  const { steps, setSteps } = props;
  const rows = rowsOf(payload.steps);
  const odd = rows.find((row) => row.odd)?.step ?? -1;
  const list = useRef<HTMLDivElement>(null);
  return (
    <div class="overview">
      <Headline
        payload={payload}
        lead={findings.data?.headline ?? (findings.error ? "" : null)}
        findings={findings.data?.findings.length ?? 0}
        onOdd={
          odd < 0 || onlyRow(rows, steps) === odd ? null : () => setSteps(withRow(steps, rows, odd))
        }
        onFindings={() => list.current?.scrollIntoView({ block: "start" })}
      />
      <Notes notes={payload.notes} />
      <div class="judged" ref={list}>
        <Panel
          title="What to change"
          term="findings"
          note={findings.data ? togetherText(findings.data) || basisText(findings.data) : null}
        >
          <Findings
            resource={findings}
            known={payload.missing}
            selection={props.selection}
            hrefOf={props.hrefOf}
          />
        </Panel>
      </div>
      <Breakdown {...props} payload={payload} />
      {devices.length ? (
        <Panel
          title={devices.length > 1 ? `${devices.length} ${vocabulary.device}s` : "Accelerator"}
          term="device"
        >
          <Devices devices={devices} words={vocabulary} />
        </Panel>
      ) : null}
      <div class="overview-row">
        <Panel
          title="Trace health"
          term="health"
          class="wide"
          note={<HealthNote items={payload.health} />}
        >
          <Health items={payload.health} />
        </Panel>
        <Panel title="Configuration" class="facts-wide narrow">
          <Configuration facts={payload.configuration} />
        </Panel>
      </div>
      <MissingList missing={payload.missing} />
    </div>
  );
}

/** Bars need more than a few steps; of few the path says more, once it is found. */
const FEW_STEPS = 3;

function Steps({ payload, ...props }: ViewProps & { payload: OverviewPayload }) {
  const { steps, setSteps, hrefOf } = props;
  const rows = rowsOf(payload.steps);
  const few = rows.length <= FEW_STEPS;
  const path = useResource(few ? "critical_path" : null, viewQuery(props));
  if (few && path.data?.strips.length)
    return <PathOfSteps payload={path.data} note={<MarkLegend steps={rows} />} hrefOf={hrefOf} />;
  return (
    <StepChart
      payload={payload}
      chosen={onlyRow(rows, steps)}
      onChoose={(index) => setSteps(withRow(steps, rows, index))}
    />
  );
}

/** What a bar is, where the steps are too many for a bar each. */
function rowsText(payload: OverviewPayload): string {
  const count = several(payload);
  return count > 1 ? `Each bar is the mean of ${formatCount(count)} steps. ` : "";
}

function Breakdown({ payload, ...props }: ViewProps & { payload: OverviewPayload }) {
  const { average } = payload;
  const { hrefOf } = props;
  if (!payload.steps.step.length) {
    return (
      <Nothing
        title="There is no step"
        text="The trace holds nothing that could be a step."
        missing={payload.missing}
        diagnosisHref={hrefOf("diagnosis")}
      />
    );
  }
  return (
    <div class="overview-row">
      <div class="panel wide">
        <div class="panel-body">
          <Steps {...props} payload={payload} />
          <p class="source-note">
            <Term id="step_source" />: {payload.step_source}.
            {payload.steps.step.length > FEW_STEPS
              ? ` ${rowsText(payload)}Press a bar to look at ${several(payload) > 1 ? "those steps" : "that step"} alone.`
              : ""}
          </p>
        </div>
      </div>
      <Panel
        title={
          isWholeSpan(payload)
            ? "The recording"
            : average?.steps === 1
              ? "This step"
              : "Average step"
        }
        class="narrow"
        note={average && average.steps > 1 ? `mean of ${formatCount(average.steps)} steps` : null}
      >
        {average ? (
          <AverageTable average={average} whole={isWholeSpan(payload)} />
        ) : (
          <p class="muted">No step is selected.</p>
        )}
      </Panel>
    </div>
  );
}
