/** Recorded replies of Trace, changed to small timelines. */

import type {
  EventPayload,
  EventRef,
  Siblings,
  TimelineGroup,
  TimelinePayload,
} from "../../api/types.gen";
import { GPU, reply } from "../../testing/replies";
import { nameBook } from "./recordings";
import type { Recording } from "./recordings";

export const group = (over: Partial<TimelineGroup> = {}): TimelineGroup => ({
  ...reply("trace/timeline", GPU).groups[1]!,
  ...{ key: "1/1/calls", process_key: "1", thread: "thread 1 (python)", pid: "1", tid: "1" },
  ...{ lane: 0, lanes: 2, events: 10, depth: [0, 1], sub: [0, 0] },
  ...over,
});

const WORK: Partial<TimelineGroup> = {
  ...{ key: "0/7/work", kind: "work", process_key: "0", process: "GPU 0", thread: "stream 7" },
  ...{ pid: "0", tid: "7", device: true, lane: 2, lanes: 1, events: 2, depth: [0], sub: [0] },
};

/** A thread and a stream of 1 ms. */
export const timeline = (over: Partial<TimelinePayload> = {}): TimelinePayload =>
  reply("trace/timeline", GPU, {
    ...{ id: "content", work_start_ns: 0, work_end_ns: 1_000_000, span_ns: 1_000_000 },
    ...{ origin_ns: "1623143568000000000", events: 12, level_max: 12, name_count: 2 },
    ...{ has_modules: false, groups: [group(), group(WORK)], groups_total: 1, counters: [] },
    arrow_kinds: [{ kind: "launch", label: "Launch to device work", total: 3 }],
    steps: [
      {
        ...{ step: 0, steps: 1, name: "3", start_ns: 0, end_ns: 500_000 },
        ...{ host_start_ns: 0, host_end_ns: 400_000 },
      },
    ],
    ...{ device_activity: null, host_activity: null },
    ...over,
  });

export function recording(over: Partial<Recording> = {}): Recording {
  const described = over.timeline ?? timeline();
  const names =
    over.names ??
    nameBook((first) => Promise.resolve({ first, names: ["aten::mm", "gemm"] }), 4096, 2);
  return {
    key: "",
    label: "worker0",
    worker: null,
    query: { run: "r", worker: "w", span: "s", id: described.id },
    offset: 0,
    ranks: "",
    source: {
      offset: 0,
      span: described.span_ns,
      levelMax: 12,
      load: () => Promise.resolve(new ArrayBuffer(0)),
      name: (n) => names.name(n),
    },
    ...over,
    timeline: described,
    names,
  };
}

export function ref(event: number, over: Partial<EventRef> = {}): EventRef {
  return {
    event,
    lane: 2,
    name: `event ${event}`,
    look: 3,
    start_ns: event * 1000,
    dur_ns: 100,
    ...over,
  };
}

const RECORDED = reply("trace/event?event=113&id=0123456789abcdef", GPU);

export const siblings = (over: Partial<Siblings> = {}): Siblings => ({
  ...{ calls: 162, rank: 3, total_ns: 16_200, mean_ns: 100, shortest_ns: 90, longest_ns: 120 },
  ...{ slowest: ref(8), fastest: ref(9), previous: ref(4), next: null },
  ...over,
});

/** A recorded kernel by another name, with few events around it. */
export const event = (number: number, over: Partial<EventPayload> = {}): EventPayload => ({
  ...RECORDED,
  ref: ref(number),
  ...{ process: "GPU 0", thread: "stream 7", step: "3", previous: null, next: null },
  chain: [
    { kind: "operator", ref: ref(1, { look: 1, lane: 0, name: "aten::mm" }) },
    { kind: "launch", ref: ref(2, { look: 2, lane: 1, name: "cudaLaunchKernel" }) },
    { kind: "device", ref: ref(number) },
  ],
  ...{ launch_delay_ns: 3000, queue_ns: 1000, siblings: siblings() },
  ...{ arrows: [], arrows_total: 0, arguments: [{ name: "grid", value: "[1, 1, 1]" }] },
  ...{ captured: [], stack: [], operator_name: "aten::mm", kernel_name: "gemm" },
  ...over,
});
