import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { capitalised } from "../../base/words";
import { CodeBlock, ErrorState, Skeleton } from "../../widgets";
import { HalvedLink } from "../critical_path/what_if_links";
import { exactly } from "../grid_params";
import { ArgumentList, Details, Summary } from "./details";
import { EventPath } from "./event_path";
import { trackAt, trackLabel } from "./labels";
import { CollectivePeers } from "./peers";
import type { Recording } from "./recordings";
import type { Stage } from "./stage";

export function Side({ stage }: { stage: Stage }) {
  const { view, choice, recordings, peers, handle } = stage;
  const { summary, event, recording, source, payload } = choice;
  if (summary) {
    const { start, end, count, busy, name } = summary;
    return (
      <Summary
        count={count}
        busy={busy}
        longest={recordings[summary.source]?.names.name(name) ?? "…"}
        onZoom={() => handle.current?.zoomTo({ t0: start, t1: end })}
        onLongest={() => choice.reach(summary.source, summary.event)}
      />
    );
  }
  if (event.error)
    return (
      <ErrorState error={event.error} retry={event.reload} title="The event could not be loaded" />
    );
  const shown = payload ?? event.data;
  if (!shown || !recording) return <Skeleton height={200} label="Loading the event" />;
  return (
    <div class={payload ? "" : "view-stale"} aria-busy={payload === null}>
      <Details
        payload={shown}
        on={trackAt(
          recording,
          shown.ref.lane,
          trackLabel,
          [shown.process, shown.thread].filter(Boolean).join(" · "),
        )}
        go={(ref) => choice.go(source, ref)}
        allArguments={() => <AllArguments recording={recording} event={shown.ref.event} />}
        links={
          <>
            <NameLink view={view} to="operator" name={shown.operator_name} />
            <NameLink view={view} to="kernel" name={shown.kernel_name} />
            <HalvedLink view={view} event={shown} />
          </>
        }
      >
        <EventPath recording={recording} event={shown.ref.event} />
      </Details>
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

interface NameLinkProps {
  view: ViewProps;
  to: "operator" | "kernel";
  name: string | null;
}

const NameLink = ({ view, to, name }: NameLinkProps) =>
  name === null ? null : (
    <a class="button button-plain" href={view.hrefOf(to, exactly(name))}>
      Show in {capitalised(to)} view
    </a>
  );

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
