import { useResource } from "../../state/resource";
import type { CollectivePeer, EventPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { CodeBlock, ErrorState, Skeleton } from "../../widgets";
import { exactly } from "../grid_params";
import { ArgumentList, Details, Summary } from "./details";
import { trackLabel } from "./labels";
import { CollectivePeers } from "./peers";
import type { Recording } from "./recordings";
import type { Choice, Handle } from "./selection";

interface SideProps {
  view: ViewProps;
  choice: Choice;
  recordings: readonly Recording[];
  peers: readonly CollectivePeer[];
  handle: Handle;
}

export function Side({ view, choice, recordings, peers, handle }: SideProps) {
  const { summary, event, recording, source, payload } = choice;
  if (summary) return <SummaryOf choice={choice} recordings={recordings} handle={handle} />;
  if (event.error)
    return (
      <ErrorState error={event.error} retry={event.reload} title="The event could not be loaded" />
    );
  const shown = payload ?? event.data;
  if (!shown || !recording) return <Skeleton height={200} label="Loading the event" />;
  return (
    <div class={payload ? "" : "drawer-stale"} aria-busy={payload === null}>
      <Details
        payload={shown}
        on={trackOf(recording, shown)}
        go={(ref) => choice.go(source, ref)}
        allArguments={() => <AllArguments recording={recording} event={shown.ref.event} />}
        links={<Links view={view} operator={shown.operator_name} kernel={shown.kernel_name} />}
      />
      <CollectivePeers
        recordings={recordings}
        recording={recording}
        payload={shown}
        peers={peers}
        go={choice.go}
      />
    </div>
  );
}

function trackOf(
  { timeline, label, key }: Recording,
  { ref, process, thread }: EventPayload,
): string {
  const group = timeline.groups.find(
    ({ lane, lanes }) => ref.lane >= lane && ref.lane < lane + lanes,
  );
  const track = group ? trackLabel(group) : [process, thread].filter(Boolean).join(" · ");
  return key ? `${label} · ${track}` : track;
}

function SummaryOf({ choice, recordings, handle }: Omit<SideProps, "view" | "peers">) {
  const { summary } = choice;
  if (!summary) return null;
  const { start, end, source, event, name, count, busy } = summary;
  return (
    <Summary
      count={count}
      busy={busy}
      longest={recordings[source]?.names.name(name) ?? "…"}
      onZoom={() => handle.current?.zoomTo({ t0: start, t1: end })}
      onLongest={() => choice.reach(source, event)}
    />
  );
}

function Links({
  view,
  operator,
  kernel,
}: {
  view: ViewProps;
  operator: string | null;
  kernel: string | null;
}) {
  if (operator === null && kernel === null) return null;
  return (
    <>
      {operator === null ? null : (
        <a class="button button-plain" href={view.hrefOf("operator", exactly(operator))}>
          Show in Operator view
        </a>
      )}
      {kernel === null ? null : (
        <a class="button button-plain" href={view.hrefOf("kernel", exactly(kernel))}>
          Show in Kernel view
        </a>
      )}
    </>
  );
}

function AllArguments({ recording, event }: { recording: Recording; event: number }) {
  const { data, error, reload } = useResource("trace/event/args", {
    ...recording.query,
    event: String(event),
  });
  if (error)
    return <ErrorState error={error} retry={reload} title="The arguments could not be loaded" />;
  if (!data) return <Skeleton height={60} label="Reading the file" />;
  return (
    <>
      {data.arguments.length ? (
        <ArgumentList items={data.arguments} />
      ) : (
        <p class="muted">The event has no arguments.</p>
      )}
      <details class="raw">
        <summary>Raw event from the file</summary>
        <CodeBlock code={data.text} label="Copy the raw event" />
      </details>
    </>
  );
}
