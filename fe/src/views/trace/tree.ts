/** The tree of tracks from what the server knows of one or several recordings: [worker] → process → thread or stream → its kinds of events. */

import type {
  CounterSeries,
  GroupKindName,
  TimelineGroup,
  TimelinePayload,
} from "../../api/types.gen";
import { formatEvents } from "../../base/units";
import type { TrackLane, TrackNode } from "../../timeline/props";
import { counterLabel, processLabel, processRank, threadLabel } from "./labels";

export interface Planted {
  /** Distinguishes recordings in the address; empty where there is only one. */
  key: string;
  label: string;
  note: string;
  timeline: Pick<TimelinePayload, "groups" | "counters">;
}

const KIND_LABELS: Readonly<Record<GroupKindName, string>> = {
  python: "Python frames",
  calls: "Calls",
  device_annotation: "Annotations",
  work: "Work",
  sync: "Synchronisation",
  instant: "Instants",
};

/** What stands in the thread's own row and below it, because people come for it. */
const MAIN: ReadonlySet<GroupKindName> = new Set<GroupKindName>(["calls", "work"]);
/** What is folded until somebody opens it. */
const FOLDED: ReadonlySet<GroupKindName> = new Set<GroupKindName>(["python", "sync", "instant"]);

/** The key of a node. Keys of one recording alone have no prefix, so that its links stay short. */
export function nodeKey(recording: string, key: string): string {
  return recording ? `${recording}/${key}` : key;
}

export function treeOf(recordings: readonly Planted[]): TrackNode[] {
  if (recordings.length === 1 && recordings[0]?.key === "") return tracksOf(recordings[0], 0);
  return recordings.map((recording, source) => {
    const devices = new Set(
      recording.timeline.groups.flatMap((group) =>
        group.device ? [processKey(recording, group)] : [],
      ),
    );
    const children = tracksOf(recording, source).map((process) =>
      shortened(process, devices.has(process.key)),
    );
    return node(nodeKey(recording.key, "worker"), source, "source", recording.label, {
      note: recording.note,
      children,
      standingLane: children[0]?.standingLane ?? -1,
    });
  });
}

/** A process among those of several workers: there only devices stand open, and counters behind a row of their own. */
function shortened(process: TrackNode, device: boolean): TrackNode {
  if (process.kind !== "process") return process;
  const counters = process.children.filter((child) => child.kind === "counter");
  const others = process.children.filter((child) => child.kind !== "counter");
  const folded = node(`${process.key} counters`, process.source, "group", "Counters", {
    children: counters,
    foldedByDefault: true,
  });
  return {
    ...process,
    foldedByDefault: !device,
    children: counters.length ? [...others, folded] : others,
  };
}

function tracksOf(recording: Planted, source: number): TrackNode[] {
  const { groups, counters } = recording.timeline;
  const ranked = [...groups].sort((a, b) => processRank(a) - processRank(b));
  const processes = groupedBy(ranked, (group) => group.process_key);
  const nodes = [...processes].map(([key, members]) =>
    processNode(
      recording,
      source,
      members,
      counters.flatMap((series, place) =>
        series.process_key === key ? [counterNode(recording, source, series, place)] : [],
      ),
    ),
  );
  const minor = nodes.filter(
    (_, place) => processRank([...processes.values()][place]?.[0] ?? NOBODY) > 1,
  );
  const shown =
    minor.length > 1
      ? [
          ...nodes.filter((process) => !minor.includes(process)),
          profilerNode(recording, source, minor),
        ]
      : nodes;
  const others = counters.flatMap((series, place) =>
    processes.has(series.process_key) ? [] : [counterNode(recording, source, series, place)],
  );
  return [...shown, ...others];
}

const NOBODY = { process: "", thread: "", pid: "", tid: "", device: false };

/** What the profiler wrote about itself in several processes of its own: one row until somebody opens it. */
function profilerNode(
  recording: Planted,
  source: number,
  processes: readonly TrackNode[],
): TrackNode {
  return node(nodeKey(recording.key, "profiler"), source, "process", "Profiler overhead", {
    note: "",
    children: processes,
    foldedByDefault: true,
    standingLane: processes[0]?.standingLane ?? -1,
  });
}

function processNode(
  recording: Planted,
  source: number,
  groups: readonly TimelineGroup[],
  counters: readonly TrackNode[],
): TrackNode {
  const [first] = groups;
  // Threads that hold only Python frames or instants come behind those that hold work.
  const ranked = [...groupedBy(groups, threadKey).values()].sort(
    (a, b) => Number(!mainOf(a)) - Number(!mainOf(b)),
  );
  return node(
    first ? processKey(recording, first) : "",
    source,
    "process",
    first ? processLabel(first) : "Process",
    {
      note: formatEvents(sum(groups, (group) => group.events)),
      standingLane: standing(groups),
      foldedByDefault: first !== undefined && processRank(first) > 1,
      children: [...ranked.map((members) => threadNode(recording, source, members)), ...counters],
    },
  );
}

const processKey = (recording: Planted, group: TimelineGroup): string =>
  nodeKey(recording.key, `process ${group.process_key}`);

const threadKey = (group: TimelineGroup): string =>
  `${group.process_key} ${group.device ? "stream" : "thread"} ${group.tid}`;

const mainOf = (groups: readonly TimelineGroup[]): TimelineGroup | undefined =>
  groups.find((group) => MAIN.has(group.kind));

function threadNode(
  recording: Planted,
  source: number,
  groups: readonly TimelineGroup[],
): TrackNode {
  // Where there is no main group, the only one takes its place.
  const main = mainOf(groups) ?? (groups.length === 1 ? groups[0] : undefined);
  const ordered = main ? [main, ...groups.filter((group) => group !== main)] : groups;
  const [first] = ordered;
  return node(
    nodeKey(recording.key, first ? threadKey(first) : ""),
    source,
    "group",
    first ? threadLabel(first) : "Thread",
    {
      note: formatEvents(sum(groups, (group) => group.events)),
      standingLane: standing(groups),
      foldedByDefault: first?.kind === "python" && main !== undefined,
      children: ordered.map((group) => groupNode(recording, source, group, group === main)),
    },
  );
}

function groupNode(
  recording: Planted,
  source: number,
  group: TimelineGroup,
  bare: boolean,
): TrackNode {
  const lanes: TrackLane[] = group.depth.map((depth, place) => ({
    lane: group.lane + place,
    depth,
    overlap: (group.sub[place] ?? 0) > 0,
  }));
  return node(nodeKey(recording.key, group.key), source, "group", KIND_LABELS[group.kind], {
    note: formatEvents(group.events),
    lanes,
    overlapping: group.overlapping,
    standingLane: group.lane,
    foldedByDefault: FOLDED.has(group.kind) && !bare,
    bare,
  });
}

function counterNode(
  recording: Planted,
  source: number,
  series: CounterSeries,
  place: number,
): TrackNode {
  return node(counterKey(recording.key, series), source, "counter", counterLabel(series), {
    note: series.unit === "share" ? "" : series.unit,
    counter: place,
  });
}

export function counterKey(recording: string, series: CounterSeries): string {
  return nodeKey(recording, `counter ${series.key}`);
}

/** The lane that stands for a folded track: work of the busiest stream, else calls of the busiest thread, else what there is. */
function standing(groups: readonly TimelineGroup[]): number {
  for (const kind of ["work", "calls"] as const) {
    const best = groups
      .filter((group) => group.kind === kind)
      .sort((a, b) => b.events - a.events)[0];
    if (best) return best.lane;
  }
  return groups[0]?.lane ?? -1;
}

function node(
  key: string,
  source: number,
  kind: TrackNode["kind"],
  label: string,
  over: Partial<TrackNode>,
): TrackNode {
  return {
    key,
    kind,
    label,
    note: "",
    source,
    lanes: [],
    overlapping: 0,
    counter: -1,
    standingLane: -1,
    foldedByDefault: false,
    bare: false,
    children: [],
    ...over,
  };
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members) members.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
