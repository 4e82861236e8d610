/** What the critical path has of the selected event. */

import type { EventPathPayload } from "../../api/types.gen";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { Term } from "../../widgets";
import { fact, Section, timeFact } from "./fact";
import type { Recording } from "./recordings";

interface EventPathProps {
  recording: Recording;
  event: number;
}

export function EventPath({ recording, event }: EventPathProps) {
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
