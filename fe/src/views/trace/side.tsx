import type { EventPathPayload } from "../../api/types.gen";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { CodeBlock, ErrorState, Skeleton, Term } from "../../widgets";
import { HalvedLink } from "../critical_path/what_if_links";
import { exactly } from "../grid_params";
import { ArgumentList, Details, Summary } from "./details";
import { fact, timeFact } from "../fact";
import { Section } from "./fact";
import { trackAt, trackLabel } from "./labels";
import { CollectivePeers } from "./peers";
import type { Recording } from "./recordings";
import type { TraceState } from "./trace_state";

export function Side({ state }: { state: TraceState }) {
  const { view, choice, recordings, peers, handle } = state;
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

interface EventPathProps {
  recording: Recording;
  event: number;
}

/** What the critical path has of the selected event. */
function EventPath({ recording, event }: EventPathProps) {
  const { data, error } = useResource("trace/event/path", {
    ...recording.query,
    event: String(event),
  });
  // It is one question of many about the event: where it has no answer, the others still have theirs.
  if (error) return null;
  return (
    <Section title="Critical path" term="critical_path">
      {data === null ? <p class="muted">Finding the critical path …</p> : <OnPath data={data} />}
    </Section>
  );
}

export function OnPath({ data }: { data: EventPathPayload }) {
  const { itself_ns, within_ns, before_ns, step_ns, slack_ns } = data;
  const share = step_ns ? `, ${formatShare(within_ns / step_ns)} of the step` : "";
  return (
    <dl class="facts">
      {within_ns
        ? fact("On it", `${formatTime(within_ns)}${share}`, formatExactTime(within_ns))
        : fact("On it", "nothing: other work hides it")}
      {timeFact("Of that itself", itself_ns < within_ns ? itself_ns : null)}
      {timeFact("Until it began", before_ns || null)}
      {timeFact(<Term id="slack">Slack</Term>, slack_ns)}
    </dl>
  );
}
