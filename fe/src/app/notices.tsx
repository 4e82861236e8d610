import type { ApiError } from "../api/client";
import type { RunsPayload, SpanItem } from "../api/types.gen";
import { recordInto } from "../base/record";
import { find } from "../state/runs";
import type { Selection } from "../state/view";
import { EmptyState, ErrorState, Icon, Skeleton } from "../widgets";

interface NoTraceProps {
  payload: RunsPayload | null;
  selection: Selection;
  diagnosisHref: string;
}

/** Waiting for the first answer, no run at all, or a selection that is gone. */
export function NoTrace({ payload, selection, diagnosisHref }: NoTraceProps) {
  if (!payload) return <Skeleton height={320} label="Loading the list of runs" />;
  if (selection.run)
    return <Gone payload={payload} selection={selection} diagnosisHref={diagnosisHref} />;
  const where = payload.logdirs.join(", ");
  if (payload.scanning) {
    return (
      <EmptyState
        title="Looking for traces"
        text={`The page fills by itself as soon as one is found in ${where}.`}
        diagnosisHref={diagnosisHref}
      />
    );
  }
  return (
    <EmptyState
      title="There is no trace yet"
      text={`No trace of torch.profiler was found in ${where || "the log directory"}. The page fills by itself when one appears. This records one:`}
      code={recordInto(payload.logdirs[0] ?? "./log")}
      diagnosisHref={diagnosisHref}
    />
  );
}

function Gone({ payload, selection, diagnosisHref }: NoTraceProps & { payload: RunsPayload }) {
  const { run, worker } = find(payload, selection);
  const what = !run
    ? `The run ${selection.run}`
    : !worker
      ? `The worker ${selection.worker} of ${run.name}`
      : `The span ${selection.span} of ${worker.name}`;
  return (
    <EmptyState
      title={`${what} is not there`}
      text={
        payload.scanning
          ? "It may not have been found yet: the log directory is still being looked through."
          : "It was removed or renamed, or the link is of another log directory. If it comes back, the page shows it." +
            (payload.runs.length ? " Another one can be chosen above." : "")
      }
      diagnosisHref={diagnosisHref}
    />
  );
}

export function FailedTrace({
  span,
  worker,
  diagnosisHref,
}: {
  span: SpanItem;
  worker: string;
  diagnosisHref: string;
}) {
  return (
    <ErrorState
      title={`The trace of ${worker} could not be imported`}
      error={{
        message: span.message,
        hint: "When the file changes it is imported again, and the page shows it by itself.",
      }}
      diagnosisHref={diagnosisHref}
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
