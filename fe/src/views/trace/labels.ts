/** What processes, threads and streams are called: `GPU 0 · stream 7`, `python 1234 · main thread`. */

import type { CounterSeries, TimelineGroup } from "../../api/types.gen";
import { capitalised } from "../../base/words";
import type { Recording } from "./recordings";

type Named = Pick<TimelineGroup, "process" | "thread" | "pid" | "tid" | "device">;

/** Under these names the profiler writes about itself. */
const PROFILER: ReadonlySet<string> = new Set(["Spans", "Traces"]);
/** The recorder writes `label · name` of a process; of an accelerator the label says it all. */
const ACCELERATOR = /^(GPU|XPU|NPU|MTIA|HPU|TPU|Device)\s*\d*/i;
const THREAD = /^thread (\S+) \((.*)\)$/i;

export function processLabel({ process, pid, device }: Named): string {
  const [label = "", ...rest] = process.split(" · ");
  if (ACCELERATOR.test(label)) return label;
  const name = rest.join(" · ") || (label === "CPU" ? "" : label);
  if (PROFILER.has(pid)) return `Profiler, ${pid.toLowerCase()}`;
  if (!pid) return "No process";
  if (!name) return `${device ? "Device" : "Process"} ${pid}`;
  return name.includes(pid) ? name : `${name} ${pid}`;
}

export function threadLabel({ process, thread, pid, tid, device }: Named): string {
  const text = thread.trim();
  const match = THREAD.exec(text);
  if (match) {
    const [, number = "", name = ""] = match;
    if (device) return `thread ${number}`;
    // On Linux the first thread of a process has its number.
    if (number === pid) return "main thread";
    return name && !process.endsWith(name) ? `${name} ${number}` : `thread ${number}`;
  }
  if (text) return text;
  if (!tid) return "No thread";
  return /^-?\d+$/.test(tid) ? `${device ? "stream" : "thread"} ${tid}` : tid;
}

export function trackLabel(group: Named): string {
  return `${processLabel(group)} · ${threadLabel(group)}`;
}

/** Without the process of a thread: there is mostly one, and its number is long. */
export const shortLabel = (group: Named): string =>
  group.device ? trackLabel(group) : threadLabel(group);

/** The thread or stream of a lane, with its worker where there are several. */
export function trackAt(
  { timeline, label, key }: Pick<Recording, "timeline" | "label" | "key">,
  at: number,
  labelOf: (group: Named) => string,
  otherwise = "",
): string {
  const group = timeline.groups.find(({ lane, lanes }) => at >= lane && at < lane + lanes);
  const track = group ? labelOf(group) : otherwise;
  return key ? `${label} · ${track}` : track;
}

/** What a counter is called below its own process. */
export function counterLabel({
  name,
  process_key,
}: Pick<CounterSeries, "name" | "process_key">): string {
  const own = ` ${process_key}: `;
  const at = process_key ? name.indexOf(own) : -1;
  return at < 0 ? name : capitalised(name.slice(at + own.length));
}

/** Where a process stands: programs and devices, then what nothing is known of, then what the profiler wrote about itself. */
export function processRank({ process, pid, device }: Named): number {
  if (PROFILER.has(pid) || !pid) return 2;
  return process || device || /^[1-9]/.test(pid) ? 0 : 1;
}
