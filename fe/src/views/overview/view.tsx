/** The Overview page: is the accelerator busy, which step is odd, what is at the top. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { DefectItem, FindingsPayload, OverviewPayload } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { type Resource, useResource } from "../../state/resource";
import { besideOf, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { onlyRow, type ViewProps, viewQuery, withRow } from "../../state/view";
import { Badge, Button, Icon, Panel, Segmented, Skeleton, Term } from "../../widgets";
import { PathOfStep } from "../critical_path/overview";
import { basisText, togetherText } from "../findings/model";
import { Findings, useFindings } from "../findings/view";
import { Loaded, MissingList, Notes, Nothing } from "../loaded";
import { lacks } from "../missing";
import { AllRanks } from "../ranks/view";
import { rowsOf } from "../rows";
import { isWholeSpan, meanParts, medianRow, several } from "./model";
import { AverageTable, Configuration, Devices, Headline, MarkLegend, StepChart } from "./parts";

/** Of the chosen worker, or of all of its run. */
export function OverviewView(props: ViewProps) {
  const { selection, params, setParam } = props;
  const workers = useStore(runsStore, ({ payload }) => besideOf(payload, selection).length);
  if (workers < 2) return <OfWorker {...props} />;
  const all = params.of === "ranks";
  const choice = (
    <div class="overview-of">
      <Segmented
        label="Overview of"
        showLabel={false}
        value={all ? "ranks" : "worker"}
        options={[
          { value: "worker", label: "This worker" },
          { value: "ranks", label: `All ${formatCount(workers)} ranks`, term: "overview_ranks" },
        ]}
        onChange={(of) => setParam("of", of === "ranks" ? of : null)}
      />
    </div>
  );
  return all ? (
    <>
      {choice}
      <AllRanks {...props} />
    </>
  ) : (
    <OfWorker {...props} choice={choice} />
  );
}

interface OfWorkerProps extends ViewProps {
  /** What the overview is of, where there is a choice. */
  choice?: ComponentChildren;
}

function OfWorker(props: OfWorkerProps) {
  const resource = useResource("overview", viewQuery(props));
  const findings = useFindings(props);
  return (
    <Loaded resource={resource} shape={[220, 290, 240]}>
      {(payload) => <OverviewPage {...props} payload={payload} findings={findings} />}
    </Loaded>
  );
}

/** Share of a step from which on a category has a row beside the chart, whose data table holds all. */
const LEAST = 0.01;

type PageProps = ViewProps & { payload: OverviewPayload };

/** In the order in which one asks, all of it in the first window: the answer, the account of the time, what to change, the steps, the device. */
function OverviewPage({
  findings,
  choice,
  ...props
}: OfWorkerProps & PageProps & { findings: Resource<FindingsPayload> }) {
  const { payload, steps, setSteps } = props;
  const { devices } = payload;
  const rows = rowsOf(payload.steps);
  const odd = rows.find((row) => row.odd)?.step ?? -1;
  const details = useRef<HTMLDivElement>(null);
  return (
    <div class="overview">
      <div class="panel overview-answer">
        {choice}
        <Headline
          payload={payload}
          lead={findings.data ?? (findings.error ? "" : null)}
          onOdd={
            odd < 0 || onlyRow(rows, steps) === odd
              ? null
              : () => setSteps(withRow(steps, rows, odd))
          }
        />
        <Account {...props} />
        <Notes notes={payload.notes} />
      </div>
      <Panel
        title="What to change"
        term="findings"
        note={findings.data ? togetherText(findings.data) || basisText(findings.data) : null}
      >
        {findings.data?.together ? <p class="muted">{findings.data.together}</p> : null}
        <Findings resource={findings} selection={props.selection} hrefOf={props.hrefOf} />
      </Panel>
      <div class={`overview-row${devices.length > 1 ? " overview-row-even" : ""}`}>
        <Steps {...props} />
        <Recorded
          payload={payload}
          onDetails={() => details.current?.scrollIntoView({ block: "start" })}
        />
      </div>
      <div class={devices.length ? "overview-row overview-row-even" : ""} ref={details}>
        <Panel title="Trace health" term="health" note={<HealthNote items={payload.health} />}>
          <Health items={payload.health} />
        </Panel>
        {devices.length ? (
          <Panel title="Configuration">
            <Configuration facts={payload.configuration} />
          </Panel>
        ) : null}
      </div>
      <MissingList missing={payload.missing} />
    </div>
  );
}

/** The critical path of the chosen step; of several that of the median one, and the means of all that the findings are about. */
function Account({ payload, ...props }: PageProps) {
  const rows = rowsOf(payload.steps);
  const median = medianRow(rows);
  const step = median?.step ?? null;
  const query = viewQuery({
    ...props,
    steps: { first: step, last: step, skipCold: false },
  });
  const { data, error } = useResource(step === null ? null : "critical_path", query);
  const isOne = rows.filter((row) => row.selected).length < 2;
  const all = useResource(
    isOne ? null : "critical_path",
    viewQuery({ ...props, steps: { ...props.steps, skipCold: true } }),
  );
  const mean = all.data?.parts.kind.length ? meanParts(all.data) : undefined;
  const [strip] = data?.strips ?? [];
  if (step === null || error || (data && !strip)) return null;
  if (!data || !strip) return <Skeleton height={124} label="Looking for the critical path" />;
  const of = isWholeSpan(payload)
    ? "the recording"
    : `step ${stepName(strip.name)}${isOne ? "" : ", the median,"}`;
  return (
    <PathOfStep
      payload={data}
      mean={mean}
      hrefOf={props.hrefOf}
      caption={`What the end of ${of} waited for${mean ? "; below, the mean of all steps" : ""}`}
    />
  );
}

function Steps({ payload, ...props }: PageProps) {
  const { steps, setSteps } = props;
  const { average } = payload;
  const rows = rowsOf(payload.steps);
  if (!rows.length) {
    return lacks(payload.missing, "events") ? (
      <Nothing
        title="A memory snapshot has no steps"
        text="It holds allocations: when, how much, and whose."
        missing={[]}
        actions={<a href={props.hrefOf("memory")}>See them on the Memory tab</a>}
      />
    ) : (
      <Nothing
        title="There is no step"
        text="The trace holds nothing that could be a step."
        missing={payload.missing}
      />
    );
  }
  const note = (
    <>
      <Term id="step_source" />: {payload.step_source}
      {several(payload) > 1
        ? `; each bar is the mean of ${formatCount(several(payload))} steps`
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
  // One bar would stand in a wide empty chart.
  return rows.length > 1 ? (
    <section class="panel overview-steps">
      <StepChart
        payload={payload}
        note={note}
        chosen={onlyRow(rows, steps)}
        onChoose={(index) => setSteps(withRow(steps, rows, index))}
      >
        {table}
      </StepChart>
    </section>
  ) : (
    <Panel
      class="overview-steps"
      title={isWholeSpan(payload) ? "The recording" : "This step"}
      term="breakdown"
      note={note}
    >
      {table}
    </Panel>
  );
}

interface RecordedProps {
  payload: OverviewPayload;
  onDetails: () => void;
}

/** The accelerators, and in small what was recorded. */
function Recorded({ payload, onDetails }: RecordedProps) {
  const { devices, vocabulary, missing, health } = payload;
  const [only] = devices;
  return (
    <Panel
      class="overview-devices"
      title={
        devices.length > 1
          ? `${devices.length} ${vocabulary.device}s`
          : (only?.title ?? "Configuration")
      }
      term={only && "device"}
      note={devices.length === 1 ? only?.details : null}
    >
      {only ? (
        <Devices devices={devices} words={vocabulary} />
      ) : (
        <Configuration facts={payload.configuration} />
      )}
      <p class="recorded">
        <Term id="health">Trace health</Term>: <HealthNote items={health} />
        {missing.length
          ? ` · Not recorded: ${missing.map(({ what }) => what).join(", ")}`
          : ""}{" "}
        <Button kind="quiet" onClick={onDetails}>
          Details
        </Button>
      </p>
    </Panel>
  );
}

const SEVERITIES: Readonly<
  Record<string, { word: string; words: string; tone: "bad" | "warn" | "info" | "neutral" }>
> = {
  error: { word: "error", words: "errors", tone: "bad" },
  data_loss: { word: "data loss", words: "data losses", tone: "warn" },
  notice: { word: "notice", words: "notices", tone: "info" },
  info: { word: "info", words: "info", tone: "neutral" },
};

/** How many of which severity, for the panel's title line. */
export function HealthNote({ items }: { items: readonly DefectItem[] }) {
  const counts = Object.entries(SEVERITIES)
    .map(([severity, names]) => ({
      ...names,
      count: items.filter((item) => item.severity === severity).length,
    }))
    .filter(({ count }) => count);
  if (!counts.length) return <Badge tone="good">sound</Badge>;
  return (
    <span class="health-counts">
      {counts.map((x) => (
        <Badge key={x.word} tone={x.tone}>
          {x.count} {x.count === 1 ? x.word : x.words}
        </Badge>
      ))}
    </span>
  );
}

/** What was wrong with the trace, how much step time it touches, which figures to doubt. */
export function Health({ items }: { items: readonly DefectItem[] }) {
  if (!items.length)
    return (
      <p class="all-good">
        <Icon name="check" /> No defects found: every event was read and fits the others.
      </p>
    );
  return (
    <ul class="defects">
      {items.map((item) => {
        const severity = SEVERITIES[item.severity] ?? {
          word: item.severity,
          tone: "neutral" as const,
        };
        return (
          <li key={item.name}>
            <Badge tone={severity.tone}>{severity.word}</Badge>
            <div>
              <p>
                {item.sentence} <span class="number muted">{formatCount(item.count)}×</span>
              </p>
              <p class="defect-more">
                {touched(item)}
                {item.doubtful.length ? ` Doubtful: ${item.doubtful.join(", ")}.` : ""}
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function touched({ touched_ns, touched_share }: DefectItem): string {
  if (touched_ns === null) return "";
  if (touched_ns === 0) return "Touches no step time.";
  return `Touches ${formatTime(touched_ns)}${touched_share === null ? "" : ` (${formatShare(touched_share)})`} of step time.`;
}
