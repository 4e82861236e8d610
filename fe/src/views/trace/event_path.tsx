/** What the critical path has of the selected event. */

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

interface OnPathProps {
  data: { itself_ns: number; within_ns: number; before_ns: number; step_ns: number | null };
}

export function OnPath({ data: { itself_ns, within_ns, before_ns, step_ns } }: OnPathProps) {
  if (!within_ns && !before_ns)
    return <p>Not on it: hidden behind other work, or outside of it.</p>;
  const share = step_ns ? `, ${formatShare(within_ns / step_ns)} of the step` : "";
  return (
    <dl class="facts">
      {fact("On it", `${formatTime(within_ns)}${share}`, formatExactTime(within_ns))}
      {itself_ns < within_ns
        ? fact("Of that itself", formatTime(itself_ns), formatExactTime(itself_ns))
        : null}
      {before_ns ? fact("Until it began", formatTime(before_ns), formatExactTime(before_ns)) : null}
    </dl>
  );
}
