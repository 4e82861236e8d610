import type { TimelineStep } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { Activity } from "../../timeline/props";
import type { Boundary, Mark, TimeRange } from "../../timeline/types";
import { timeText } from "../../timeline/ruler";
import { readMarks } from "./params";
import type { Recording } from "./recordings";

/** More stretches cannot be told apart. */
const MOST_DEFECTS = 200;
const PARTS = 1024;

/** Steps of the first recording: those of all would be a thicket. */
export function boundariesOf(recordings: readonly Recording[], main: number): Boundary[] {
  const recording = recordings[main] ?? recordings[0];
  // A trace without steps is one step without a name: nothing to draw.
  return (recording?.timeline.steps ?? [])
    .filter((step) => step.name)
    .map((step) => ({
      name: step.name,
      ...aboutStep(step),
      start: step.start_ns + (recording?.offset ?? 0),
      end: step.end_ns + (recording?.offset ?? 0),
    }));
}

/** The row of the host's thread shows the annotation alone, which is another stretch under the same name. */
function aboutStep({
  start_ns,
  end_ns,
  host_start_ns,
  host_end_ns,
}: TimelineStep): Pick<Boundary, "of" | "about"> {
  const stretch = (start: number, end: number): string =>
    `${formatTime(end - start)} at ${timeText(start)}`;
  const whole = stretch(start_ns, end_ns);
  return start_ns === host_start_ns && end_ns === host_end_ns
    ? { of: "host", about: [whole, "The host's time; no device work lasts longer."] }
    : {
        of: "host and device",
        about: [
          whole,
          "From its begin, or when earlier work is done, until the host and the device work that it launched are done.",
          `Host alone: ${stretch(host_start_ns, host_end_ns)}`,
        ],
      };
}

export function marksOf(recordings: readonly Recording[], text: string | undefined): Mark[] {
  const defects = recordings.flatMap(({ timeline, offset, key }) =>
    timeline.marks.slice(0, MOST_DEFECTS).map((mark, place) => ({
      key: `defect-${key}-${place}`,
      label: mark.defect.replace(/_/g, " "),
      start: mark.start_ns + offset,
      end: mark.start_ns + mark.dur_ns + offset,
      kind: "defect" as const,
    })),
  );
  return [...readMarks(text), ...defects];
}

/** Busy shares over the span of all recordings: the mean of those that recorded then. */
export function activityOf(recordings: readonly Recording[], span: TimeRange): Activity {
  const [only, second] = recordings;
  if (only && !second)
    return { device: only.timeline.device_activity, host: only.timeline.host_activity };
  const merged = (of: "device_activity" | "host_activity"): number[] | null => {
    const known = recordings.flatMap(({ timeline, offset }) => {
      const values = timeline[of];
      return values?.length ? [{ values, offset, span: timeline.span_ns }] : [];
    });
    return known.length
      ? Array.from({ length: PARTS }, (_, part) =>
          meanAt(known, span.t0 + ((part + 0.5) * (span.t1 - span.t0)) / PARTS),
        )
      : null;
  };
  return { device: merged("device_activity"), host: merged("host_activity") };
}

function meanAt(
  known: readonly { values: readonly number[]; offset: number; span: number }[],
  time: number,
): number {
  const there = known.flatMap(
    ({ values, offset, span }) =>
      values[Math.floor(((time - offset) / span) * values.length)] ?? [],
  );
  return there.length ? Math.round(there.reduce((sum, value) => sum + value) / there.length) : 0;
}
