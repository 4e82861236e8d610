/** The tree of tracks from what the server knows of one or several recordings: [worker] → process → thread or stream → its kinds of events. */

import type {
  CounterSeries,
  GroupKindName,
  TimelineGroup,
  TimelinePayload,
} from "../../api/types.gen";
import { definitionOf } from "../../base/definitions";
import { formatEvents } from "../../base/units";
import type { TrackLane, TrackNode } from "../../timeline/props";
import { grouped } from "../rows";
import { counterLabel, processLabel, processRank, threadLabel } from "./labels";

export interface Planted {
  /** Distinguishes recordings in the address; empty where there is only one. */
  key: string;
  label: string;
  note: string;
  timeline: Pick<TimelinePayload, "groups" | "counters">;
  /** Its processes stand open although there are several recordings. */
  open?: boolean;
}

/** In the order in which they are listed where tracks are grouped by them. */
const KIND_LABELS: Readonly<Record<GroupKindName | "counter", string>> = {
  work: "Work",
  calls: "Calls",
  device_annotation: "Annotations",
  python: "Python frames",
  sync: "Synchronisation",
  instant: "Instants",
  counter: "Counters",
};

/** What stands in the thread's own row and below it, because people come for it. */
const MAIN: ReadonlySet<GroupKindName> = new Set<GroupKindName>(["calls", "work"]);
/** What is folded until somebody opens it. */
const FOLDED: ReadonlySet<GroupKindName> = new Set<GroupKindName>(["python", "sync", "instant"]);

/** The key of a node. Keys of one recording alone have no prefix, so that its links stay short. */
const nodeKey = (recording: string, key: string): string =>
  recording ? `${recording}/${key}` : key;

/** A recording with its place among those that are drawn. */
type Plant = Pick<Planted, "key" | "timeline"> & { source: number };

/** A node that remembers what it may be grouped by. */
interface Grown extends TrackNode {
  children: readonly Grown[];
  device?: boolean;
  groupKind?: keyof typeof KIND_LABELS;
}

type Groups = readonly [TimelineGroup, ...TimelineGroup[]];

/** What stands together: processes, devices and hosts, or events of a kind. */
export type Grouping = "process" | "device" | "kind";

/** `path`: the critical path of each recording is a track of its own, before all others. */
export function treeOf(
  recordings: readonly Planted[],
  by: Grouping = "process",
  path = false,
): TrackNode[] {
  const tracks = inGroups(recordings, by);
  if (!path) return tracks;
  const several = recordings.length > 1 || recordings[0]?.key !== "";
  const paths = recordings.map(({ key, label }, source) =>
    node({ key, source }, "path", "path", "Critical path", { note: several ? label : "" }),
  );
  return [...paths, ...tracks];
}

function inGroups(recordings: readonly Planted[], by: Grouping): TrackNode[] {
  const tree = processTree(recordings);
  if (by === "process") return tree;
  return by === "device" ? devicesFirst(tree) : byKind(tree);
}

function over(key: string, label: string, children: readonly TrackNode[]): TrackNode[] {
  const [first] = children;
  if (!first) return [];
  const { source, standingLane } = first;
  return [node({ key: "", source }, key, "process", label, { standingLane, children })];
}

function devicesFirst(tree: readonly Grown[]): TrackNode[] {
  // Processes keep their worker's name without its row.
  const processes = tree.flatMap((each) =>
    each.kind === "source"
      ? each.children.map((child) => ({ ...child, label: `${each.label} · ${child.label}` }))
      : [each],
  );
  const those = (device: boolean) => processes.filter((each) => (each.device ?? false) === device);
  return [...over("by device", "Devices", those(true)), ...over("by host", "Hosts", those(false))];
}

/** Every thread's events of a kind beside those of the others, counters last. */
function byKind(tree: readonly Grown[]): TrackNode[] {
  const found: Record<string, TrackNode[]> = {};
  /** `way`: labels of worker, process and thread above; the main row of the last keeps its key: it may be pinned. */
  const walk = (each: Grown, way: Partial<Record<string, string>>): void => {
    const { key, label, groupKind } = each;
    if (!groupKind) {
      for (const child of each.children) walk(child, { ...way, [each.kind]: label, key });
      return;
    }
    const own = groupKind === "counter" ? label : way.group;
    (found[groupKind] ??= []).push({
      ...each,
      key: (each.bare && way.key) || key,
      label: [way.source, own].filter(Boolean).join(" · "),
      note: way.process ?? "",
      bare: false,
    });
  };
  tree.forEach((each) => walk(each, {}));
  return Object.entries(KIND_LABELS).flatMap(([kind, label]) =>
    over(`by ${kind}`, label, found[kind] ?? []),
  );
}

function processTree(recordings: readonly Planted[]): Grown[] {
  const [only] = recordings;
  if (recordings.length === 1 && only?.key === "")
    return tracksOf({ ...only, source: 0 }).map((track) =>
      track.kind === "process" ? withFlatFolded(track, only.timeline.counters) : track,
    );
  return recordings.map((recording, source) => {
    const plant = { ...recording, source };
    const children = tracksOf(plant).map(recording.open ? opened : shortened);
    return node(plant, "worker", "source", recording.label, {
      note: recording.note,
      children,
      standingLane: children[0]?.standingLane ?? -1,
    });
  });
}

/** A process of one of two recordings that stand above each other: there is room for its first thread. */
function opened(process: Grown): Grown {
  if (process.kind !== "process") return process;
  const children = process.children.map((child, place) => ({
    ...child,
    foldedByDefault: child.foldedByDefault || (place > 0 && child.kind === "group"),
  }));
  return withFolded({ ...process, children }, () => true);
}

/** A process among those of several workers: there only devices stand open, and counters behind a row of their own. */
function shortened(process: Grown): Grown {
  return process.kind === "process"
    ? { ...withFolded(process, () => true), foldedByDefault: !process.device }
    : process;
}

/** Curves that show nothing stand behind a row of their own. */
const withFlatFolded = (process: Grown, counters: readonly CounterSeries[]): Grown =>
  withFolded(process, ({ counter }) => isFlat(counters[counter]));

/** Less than this of memory, bytes, is no finding. */
const LITTLE = 2 ** 20;

function isFlat(series: CounterSeries | undefined): boolean {
  if (!series) return false;
  const most = Math.max(Math.abs(series.lowest), Math.abs(series.highest));
  return series.unit === "bytes" ? most < LITTLE : most === 0;
}

/** Some of the counters of a process behind one row, which is folded. */
function withFolded(process: Grown, which: (counter: Grown) => boolean): Grown {
  const counters = process.children.filter((child) => child.kind === "counter" && which(child));
  if (!counters.length) return process;
  const folded: Grown = {
    ...process,
    key: `${process.key} counters`,
    kind: "group",
    label: "Counters",
    note: "",
    standingLane: -1,
    children: counters,
    foldedByDefault: true,
  };
  return {
    ...process,
    children: [...process.children.filter((child) => !counters.includes(child)), folded],
  };
}

function tracksOf(plant: Plant): Grown[] {
  const { groups, counters } = plant.timeline;
  // Of processes of one rank the devices come first: what they do is what people wait for.
  const placeOf = (group: TimelineGroup): number => 2 * processRank(group) - Number(group.device);
  const ranked = [...groups].sort((a, b) => placeOf(a) - placeOf(b));
  const processes = grouped(ranked, (group) => group.process_key);
  const countersOf = (process: string | undefined): Grown[] =>
    counters.flatMap((series, place) =>
      (processes.has(series.process_key) ? series.process_key : undefined) === process
        ? [counterNode(plant, series, place)]
        : [],
    );
  const nodes = [...processes].map(([key, members]) =>
    processNode(plant, members, countersOf(key)),
  );
  const minor = nodes.filter((process) => process.foldedByDefault);
  // What the profiler wrote about itself in several processes of its own: one row until somebody opens it.
  const profiler = node(plant, "profiler", "process", "Profiler overhead", {
    children: minor,
    foldedByDefault: true,
    standingLane: minor[0]?.standingLane ?? -1,
  });
  const shown =
    minor.length > 1 ? [...nodes.filter((process) => !process.foldedByDefault), profiler] : nodes;
  return [...shown, ...countersOf(undefined)];
}

function processNode(plant: Plant, groups: Groups, counters: readonly Grown[]): Grown {
  const [first] = groups;
  // Threads that hold only Python frames or instants come behind those that hold work.
  const ranked = [...grouped(groups, threadKey).values()].sort(
    (a, b) => Number(!mainOf(a)) - Number(!mainOf(b)),
  );
  return node(plant, `process ${first.process_key}`, "process", processLabel(first), {
    device: groups.some((group) => group.device),
    note: eventsText(groups),
    standingLane: standing(groups),
    foldedByDefault: processRank(first) > 1,
    children: [...ranked.map((members) => threadNode(plant, members)), ...counters],
  });
}

const threadKey = (group: TimelineGroup): string =>
  `${group.process_key} ${group.device ? "stream" : "thread"} ${group.tid}`;

const mainOf = (groups: Groups): TimelineGroup | undefined =>
  groups.find((group) => MAIN.has(group.kind));

function threadNode(plant: Plant, groups: Groups): Grown {
  // Where there is no main group, the only one takes its place.
  const main = mainOf(groups) ?? (groups.length === 1 ? groups[0] : undefined);
  const first = main ?? groups[0];
  const ordered = [first, ...groups.filter((group) => group !== first)];
  return node(plant, threadKey(first), "group", threadLabel(first), {
    note: eventsText(groups),
    standingLane: standing(groups),
    foldedByDefault: first.kind === "python" && main !== undefined,
    children: ordered.map((group) => groupNode(plant, group, group === main)),
  });
}

function groupNode(plant: Plant, group: TimelineGroup, bare: boolean): Grown {
  const lanes: TrackLane[] = group.depth.map((depth, place) => ({
    lane: group.lane + place,
    depth,
    overlap: (group.sub[place] ?? 0) > 0,
  }));
  return node(plant, group.key, "group", KIND_LABELS[group.kind], {
    groupKind: group.kind,
    note: formatEvents(group.events),
    lanes,
    overlapping: group.overlapping,
    standingLane: group.lane,
    foldedByDefault: FOLDED.has(group.kind) && !bare,
    bare,
  });
}

/** What curves of our own show, by the first word of their key. */
const TERMS: Readonly<Record<string, string>> = {
  utilization: "curve_utilization",
  sm_efficiency: "curve_sm_efficiency",
  queue: "queue_length",
  allocated: "memory_allocated",
  reserved: "memory_reserved",
};

function counterNode(plant: Plant, series: CounterSeries, place: number): Grown {
  return node(plant, counterId(series), "counter", counterLabel(series), {
    groupKind: "counter",
    note: series.unit === "share" ? "" : series.unit,
    counter: place,
    about: definitionOf(TERMS[series.key.split(":")[0] ?? ""] ?? "")?.text ?? "",
  });
}

const counterId = (series: CounterSeries): string => `counter ${series.key}`;

export const counterKey = (recording: string, series: CounterSeries): string =>
  nodeKey(recording, counterId(series));

/** The lane that stands for a folded track: work of the busiest stream, else calls of the busiest thread, else what there is. */
function standing(groups: Groups): number {
  for (const kind of ["work", "calls"] as const) {
    const best = groups
      .filter((group) => group.kind === kind)
      .sort((a, b) => b.events - a.events)[0];
    if (best) return best.lane;
  }
  return groups[0].lane;
}

function node(
  { key, source }: Pick<Plant, "key" | "source">,
  own: string,
  kind: TrackNode["kind"],
  label: string,
  over: Partial<Grown>,
): Grown {
  return {
    key: nodeKey(key, own),
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

const eventsText = (groups: Groups): string =>
  formatEvents(groups.reduce((total, group) => total + group.events, 0));
