import type { EventPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { lookOf } from "./looks";

/** Times in ns, because the text is pasted where nobody can hover; no narrow spaces, so that figures can be calculated with. */
export function eventText(payload: EventPayload): string {
  const { ref, siblings } = payload;
  const time = (ns: number): string => `${ns} ns (${formatTime(ns)})`;
  const lines = [
    ref.name,
    `${lookOf(ref.look).label}${payload.category ? `, category ${payload.category}` : ""}`,
    `begin: ${time(ref.start_ns)} after the first event`,
    `duration: ${time(ref.dur_ns)}`,
    `on: ${[payload.process, payload.thread].filter(Boolean).join(", ")}`,
    payload.step === null ? "" : `step: ${payload.step}`,
    payload.launch_delay_ns === null ? "" : `launch delay: ${time(payload.launch_delay_ns)}`,
    payload.queue_ns === null ? "" : `queue time: ${time(payload.queue_ns)}`,
    `calls of this name: ${siblings.calls}, total ${time(siblings.total_ns)}, this one is number ${siblings.rank} by duration`,
    ...payload.arguments.map(({ name, value }) => `${name}: ${value}`),
  ].filter(Boolean);
  if (payload.chain.length > 1)
    lines.push(
      "from Python to the device:",
      ...payload.chain.map(
        ({ kind, ref: link }) => `  ${kind}: ${link.name} (${formatTime(link.dur_ns)})`,
      ),
    );
  if (payload.stack.length)
    lines.push("call stack:", ...payload.stack.map((frame) => `  ${frame}`));
  return lines.join("\n");
}
