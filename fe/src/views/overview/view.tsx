/** The Overview page: the answer, what the end of the step waited for, what to change, and what was recorded. */

import type { ComponentType } from "preact";
import type { FindingsPayload, OverviewPayload } from "../../api/types.gen";
import { formatCount, formatShare } from "../../base/units";
import { type Resource, useResource } from "../../state/resource";
import { besideOf, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { onlyRow, type ViewProps, viewQuery, withRow } from "../../state/view";
import { Term } from "../../widgets";
import { PathOfRanks, PathOfStep } from "../critical_path/overview";
import { FirstGlyph } from "../critical_path/glyphs";
import { Findings, useFindings } from "../findings/view";
import { Folded } from "../folded";
import { Loaded, Nothing } from "../loaded";
import { lacks } from "../missing";
import { workerLabel } from "../run_options";
import { rowsOf, type Step } from "../rows";
import { Answer } from "./answer";
import { CATEGORY_LABELS, categoryShares, isWholeSpan, several as stepsPerBar } from "./model";
import { AverageTable, Devices, MarkLegend, StepChart } from "./parts";
import { Recording } from "./recording";

/** What comes later than the first page. */
interface OverviewProps extends ViewProps {
  Steps: ComponentType<ViewProps>;
  FirstMemory: ComponentType<ViewProps>;
}

export function OverviewView(props: OverviewProps) {
  const resource = useResource("overview", viewQuery(props));
  const findings = useFindings(props);
  return (
    <Loaded resource={resource} shape={[120, 110, 290]}>
      {(payload) => <OverviewPage {...props} payload={payload} findings={findings} />}
    </Loaded>
  );
}

/** Share of a step from which on a category has a row beside the chart, whose data table holds all. */
const LEAST = 0.01;

type PageProps = OverviewProps & { payload: OverviewPayload };

function OverviewPage(props: PageProps & { findings: Resource<FindingsPayload> }) {
  const { payload, selection, params, findings, Steps } = props;
  const { error } = findings;
  const early = (findings.data?.progress ?? 1) < 1;
  // Nothing of it is a cause before every rank is read.
  const data = early ? null : findings.data;
  const ranks = useStore(runsStore, (runs) => besideOf(runs.payload, selection));
  // What the answer speaks of is drawn below it: a step of this rank, or of the job.
  const ofJob = data?.told.subject && data.told.subject.ranks !== data.subject.ranks;
  const all = ranks.length > 1 && params.all !== undefined && ofJob;
  const own = ranks.find(({ name }) => name === selection.worker);
  const step = data?.median ?? null;
  const device = lacks(payload.missing, "device") ? "CPU" : payload.vocabulary.device;
  const look = payload.first_look;
  const several = payload.steps.step.length > 1;
  const first = look && !error ? <FirstGlyph {...look} device={device} /> : null;
  const at = { ...props, step: step ?? 0, device };
  const alone = <PathOfStep {...at}>{first}</PathOfStep>;
  const path = step === null ? null : all ? <PathOfRanks {...at}>{first}</PathOfRanks> : alone;
  return (
    <div class="overview">
      <Answer
        payload={payload}
        told={findings.data ?? (error ? "" : null)}
        rank={early && own ? workerLabel(own) : ""}
        hrefOf={props.hrefOf}
      />
      {lacks(payload.missing, "events") ? <props.FirstMemory {...props} /> : data ? path : first}
      <div class="overview-columns">
        <div class="overview-main">
          <Findings
            resource={early ? { ...findings, data: null } : findings}
            selection={props.selection}
            hrefOf={props.hrefOf}
            steps={rowsOf(payload.steps)}
          />
        </div>
        {several ? <Steps {...props} /> : <Recording {...props} />}
      </div>
      {several ? <Recording {...props} /> : null}
      <Breakdown {...props} />
      <Summary payload={payload} />
    </div>
  );
}

/** The eight categories, in which earlier recordings and exports are told, with the chart of each step. */
function Breakdown({ payload, ...props }: PageProps) {
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
  const largest = average
    ? categoryShares(average).filter(({ share }) => (share ?? 0) >= LEAST)
    : [];
  return (
    <Folded
      title={<Term id="breakdown">Step-time breakdown</Term>}
      note={
        meanOf(payload) +
        largest
          .sort((a, b) => (b.share ?? 0) - (a.share ?? 0))
          .slice(0, 3)
          .map(({ category, share }) => `${CATEGORY_LABELS[category]} ${formatShare(share)}`)
          .join(", ")
      }
    >
      {() => <StepTimes {...props} payload={payload} rows={rows} />}
    </Folded>
  );
}

/** The answer above is of one step; these are means. */
const meanOf = ({ average }: OverviewPayload) =>
  average && average.steps > 1 ? `mean of ${formatCount(average.steps)} steps: ` : "";

function StepTimes({ payload, rows, steps, setSteps }: PageProps & { rows: readonly Step[] }) {
  const { average } = payload;
  const note = (
    <>
      <Term id="step_source" />: {payload.step_source}
      {stepsPerBar(payload) > 1
        ? `; each bar is the mean of ${formatCount(stepsPerBar(payload))} steps`
        : ""}{" "}
      <MarkLegend steps={rows} />
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
  const told = payload.headline.filter(({ key }) => key === "odd" || key === "kinds");
  return (
    <>
      {told.length ? <p>{told.map(({ text }) => text).join(" ")}</p> : null}
      {/* One bar would stand in a wide empty chart. */}
      {rows.length > 1 ? (
        <StepChart
          payload={payload}
          note={note}
          chosen={onlyRow(rows, steps)}
          onChoose={(index) => setSteps(withRow(steps, rows, index))}
        >
          {table}
        </StepChart>
      ) : (
        <>
          <p class="muted">{note}</p>
          {table}
        </>
      )}
    </>
  );
}

/** The four figures of each accelerator. */
function Summary({ payload: { devices, vocabulary } }: Pick<PageProps, "payload">) {
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
