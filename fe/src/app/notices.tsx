import type { ApiError } from "../api/client";
import type { RunsPayload, SpanItem } from "../api/types.gen";
import { recordInto } from "../base/record";
import { diagnosisHref } from "../state/location";
import { find } from "../state/runs";
import type { Selection } from "../state/view";
import { EmptyState, ErrorState, Icon, Skeleton } from "../widgets";

interface NoTraceProps {
  payload: RunsPayload | null;
  selection: Selection;
}

export function NoTrace({ payload, selection }: NoTraceProps) {
  if (!payload) return <Skeleton height={320} label="Loading the list of runs" />;
  return <EmptyState {...reasonOf(payload, selection)} diagnosisHref={diagnosisHref()} />;
}

function reasonOf(payload: RunsPayload, selection: Selection) {
  const { scanning, logdirs, runs } = payload;
  const { run, worker } = find(payload, selection);
  const where = logdirs.join(", ");
  if (selection.run) {
    const what = !run
      ? `The run ${selection.run}`
      : !worker
        ? `The worker ${selection.worker} of ${run.name}`
        : `The span ${selection.span} of ${worker.name}`;
    return {
      title: `${what} is not there`,
      text: scanning
        ? "It may not have been found yet: the log directory is still being searched."
        : "It was removed or renamed, or the link refers to another log directory. The page shows it if it comes back." +
          (runs.length ? " Choose another one above." : ""),
    };
  }
  if (scanning)
    return {
      title: "Searching for traces",
      text: `The page updates by itself as soon as one is found in ${where}.`,
    };
  return {
    title: "No traces yet",
    text: `No torch.profiler trace was found in ${where || "the log directory"}. The page updates by itself when one appears. To record one:`,
    code: recordInto(logdirs[0] ?? "./log"),
  };
}

interface FailedTraceProps {
  span: SpanItem;
  worker: string;
}

export function FailedTrace({ span, worker }: FailedTraceProps) {
  return (
    <ErrorState
      title={`The trace of ${worker} could not be imported`}
      error={{ message: span.message, hint: "It is imported again when the file changes." }}
      diagnosisHref={diagnosisHref()}
    />
  );
}

export function ConnectionLost({ error }: { error: ApiError }) {
  return (
    <div class="banner" role="status">
      <Icon name="warn" />
      <span>
        {error.message} {error.hint}
      </span>
    </div>
  );
}
