/** What the critical path has of the selected event. */

import type { EventPathPayload } from "../../api/types.gen";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { Term } from "../../widgets";
import { fact } from "./fact";
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
    <section class="details-section">
      <h3>
        <Term id="critical_path">Critical path</Term>
      </h3>
      {data === null ? <p class="muted">Finding the critical path …</p> : <OnPath data={data} />}
    </section>
  );
}

export function OnPath({ data }: { data: EventPathPayload }) {
  const { itself_ns, within_ns, before_ns, step_ns, slack_ns } = data;
  const share = step_ns ? `, ${formatShare(within_ns / step_ns)} of the step` : "";
  const exactly = (label: string, ns: number) => fact(label, formatTime(ns), formatExactTime(ns));
  return (
    <dl class="facts">
      {within_ns
        ? fact("On it", `${formatTime(within_ns)}${share}`, formatExactTime(within_ns))
        : fact("On it", "nothing: other work hides it")}
      {itself_ns < within_ns ? exactly("Of that itself", itself_ns) : null}
      {before_ns ? exactly("Until it began", before_ns) : null}
      {slack_ns === null
        ? null
        : fact(<Term id="slack">Slack</Term>, formatTime(slack_ns), formatExactTime(slack_ns))}
    </dl>
  );
}
