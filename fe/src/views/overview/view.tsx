/** The Overview page: the answer, what the end of the step waited for, what to change, and what was recorded. */

import type { ComponentType } from "preact";
import type { FindingsPayload, KindOfSteps, OverviewPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { type Resource, useResource } from "../../state/resource";
import { besideOf, find, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { ALL_STEPS, kindOf, type ViewProps, viewQuery } from "../../state/view";
import { FirstGlyph } from "../critical_path/glyphs";
import { PathOfStep } from "../critical_path/overview";
import { Findings, useFindings } from "../findings/view";
import { Loaded } from "../loaded";
import { lacks } from "../missing";
import { workerLabel } from "../run_options";
import { rowsOf } from "../rows";
import { Answer } from "./answer";
import { Foot, type OfOverview } from "./foot";

/** What comes later than the first page. */
interface Later {
  FirstMemory: ComponentType<ViewProps>;
  Steps: ComponentType<ViewProps & { ranks?: "own" | "all"; brief?: boolean }>;
  Longest: ComponentType<OfOverview>;
  Breakdown: ComponentType<OfOverview>;
  CopyMessage: ComponentType<{ told: FindingsPayload }>;
}

type OverviewProps = ViewProps & { later: Later };

export function OverviewView(props: OverviewProps) {
  const resource = useResource("overview", viewQuery(props));
  const findings = useFindings(props, isAlone(props));
  return (
    <Loaded resource={resource} shape={[120, 170, 290]}>
      {(payload) => <OverviewPage {...props} payload={payload} findings={findings} />}
    </Loaded>
  );
}

/** Whether one of several ranks is looked at as if it were the only one. */
const isAlone = ({ params }: Pick<ViewProps, "params">): boolean => params.ranks === "own";

function OverviewPage(
  props: OverviewProps & { payload: OverviewPayload; findings: Resource<FindingsPayload> },
) {
  const { payload, selection, params, findings, later } = props;
  const { FirstMemory, Steps, Longest, Breakdown, CopyMessage } = later;
  const { error } = findings;
  const early = (findings.data?.progress ?? 1) < 1;
  // Nothing of it is a cause before every rank is read.
  const data = early ? null : findings.data;
  const ranks = useStore(runsStore, (runs) => besideOf(runs.payload, selection));
  // What the answer speaks of is drawn below it: a step of this rank, or of the job.
  const about = data?.told.subject;
  const ofJob = !!about && about.ranks !== data.subject.ranks;
  const all = ranks.length > 1 && !!params.all && ofJob && !isAlone(props);
  const own = ranks.find(({ name }) => name === selection.worker);
  // What recurs is told of a step that has it.
  const step =
    all || !/^\d+$/.test(about?.steps ?? "") ? (data?.median ?? null) : Number(about?.steps);
  const device = lacks(payload.missing, "device") ? "CPU" : payload.vocabulary.device;
  const several = payload.steps.step.length > 1;
  const first = payload.first_look && !error ? <FirstGlyph device={device} /> : null;
  const path =
    step === null ? null : (
      <PathOfStep key={String(all)} {...props} {...{ all, step, device }}>
        {first}
      </PathOfStep>
    );
  return (
    <div class="overview">
      <Answer
        payload={payload}
        told={findings.data ?? (error ? "" : null)}
        whose={useWhose(props, all)}
        rank={early && own ? workerLabel(own) : ""}
        hrefOf={props.hrefOf}
      >
        {data ? <CopyMessage told={data} /> : null}
      </Answer>
      {lacks(payload.missing, "events") ? <FirstMemory {...props} /> : data ? path : first}
      <div class="overview-columns">
        <div class="overview-main">
          <Findings
            kinds={<Kinds {...props} kinds={payload.kinds} />}
            resource={early ? { ...findings, data: null } : findings}
            selection={selection}
            hrefOf={props.hrefOf}
            steps={rowsOf(payload.steps)}
          />
        </div>
        {several ? (
          <Steps {...props} ranks={isAlone(props) || (data && !ofJob) ? "own" : "all"} brief />
        ) : (
          <Longest {...props} />
        )}
      </div>
      <Foot {...props} />
      <Breakdown {...props} />
    </div>
  );
}

/** Whose steps the first screen is of, where a job has several ranks. */
function useWhose({ selection, params }: ViewProps, all: boolean): string {
  const { worker, count } = useStore(runsStore, ({ payload }) => ({
    worker: find(payload, selection).worker,
    count: besideOf(payload, selection).length,
  }));
  const world = Math.max(worker?.world_size ?? 1, count);
  if (!worker || world < 2) return "";
  if (all)
    return `path through ${count < world ? `${formatCount(count)} of ` : ""}${formatCount(world)} ranks`;
  const only = count < 2 ? ", the only one recorded" : isAlone({ params }) ? ", alone" : "";
  const name = worker.rank === null ? worker.name : `rank ${worker.rank}`;
  return `${name} of ${formatCount(world)}${only}`;
}

/** Which kind of steps the page is of, where there are several: no figure is of two. */
function Kinds({ kinds, steps, setSteps }: ViewProps & { kinds: readonly KindOfSteps[] }) {
  if (!kinds.length) return null;
  const chosen = steps.first === null ? kindOf(steps) || kinds[0]?.name : "";
  return (
    <div class="kinds" role="group" aria-label="Kind of steps">
      {kinds.map(({ name, steps: count, median_ns }, place) => (
        <button
          key={name}
          type="button"
          class="button button-plain"
          aria-pressed={name === chosen}
          onClick={() =>
            setSteps({ ...ALL_STEPS, skipCold: true, ...(place ? { kind: name } : {}) })
          }
        >
          {capitalised(name)} · {count > 1 ? `${formatCount(count)} × ` : ""}
          {formatTime(median_ns)}
        </button>
      ))}
    </div>
  );
}
