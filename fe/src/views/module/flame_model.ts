/** What the flame graph shows of its frames: merged, seen from one function, and coloured by something else than their kind. */

import type { FlameTable } from "../../api/types.gen";
import {
  calleesOf,
  callersOf,
  type FlameTint,
  keysOf,
  mergeFrames,
  namesOf,
  ownOf,
  type Regrouped,
  sumsOf,
} from "../../widgets";
import { pick } from "../columns";
import { splitFrame } from "../operator/model";
import { grouped } from "../rows";
import { insideOneLikeIt, type Metric, valuesOf } from "./model";

/** `Linear_12` → `Linear`; and built-in functions without their address. */
export function layerName(rows: FlameTable, row: number): string {
  const name = rows.name[row] ?? "";
  if (rows.kind[row] !== "module" && !name.startsWith("nn.Module: "))
    return name.replace(/ at 0x[0-9a-f]+>$/, ">");
  return name.replace(/_\d+(?=$| \(backward\)$)/, "");
}

/** The name without how many it was merged from. */
export const plainName = (rows: FlameTable, row: number): string =>
  (rows.name[row] ?? "").replace(/ ×\d+$/, "");

export interface Merging {
  layers: boolean;
  recursion: boolean;
}

const namesFor = (rows: FlameTable, layers: boolean): string[] =>
  layers ? rows.name.map((_, row) => layerName(rows, row)) : rows.name;

/** The frames with what is equal merged; the same frames where nothing is to be merged. */
export function mergedRows(rows: FlameTable, metric: Metric, merging: Merging): FlameTable {
  if (!merging.layers && !merging.recursion) return rows;
  const names = namesFor(rows, merging.layers);
  const key = keysOf(names.map((name, row) => `${rows.kind[row]}${rows.backward[row]}${name}`));
  const tree = { parent: rows.parent, key };
  return rowsOf(rows, names, mergeFrames(tree, valuesOf(rows, metric), merging.recursion));
}

function rowsOf(rows: FlameTable, names: readonly string[], regrouped: Regrouped): FlameTable {
  const { parent, source } = regrouped;
  const many = namesOf(regrouped, rows.name);
  // At each frame at least one counts, so that only what may be unknown is null.
  const known = (values: readonly number[]): number[] => sumsOf(regrouped, values) as number[];
  const first = parent.map(() => -1);
  regrouped.into.forEach((node, i) => {
    const time = rows.first_ns[regrouped.from[i] ?? 0] ?? -1;
    const before = first[node] ?? -1;
    if (time >= 0 && (before < 0 || time < before)) first[node] = time;
  });
  return {
    parent,
    name: pick(names, source).map((name, node) =>
      (many[node] ?? 1) > 1 ? `${name} ×${many[node]}` : name,
    ),
    kind: pick(rows.kind, source),
    backward: pick(rows.backward, source),
    calls: known(rows.calls),
    device_ns: sumsOf(regrouped, rows.device_ns),
    host_ns: known(rows.host_ns),
    first_ns: first,
    event: pick(rows.event, source),
  };
}

export interface Sandwich {
  callers: FlameTable;
  callees: FlameTable;
}

/** What leads to a function, and what it calls, from wherever it is called; without frames where there is none of this name. */
export function sandwichOf(
  rows: FlameTable,
  metric: Metric,
  layers: boolean,
  focus: string,
): Sandwich {
  const names = namesFor(rows, layers);
  const tree = { parent: rows.parent, key: keysOf(names) };
  const wanted = tree.key[names.indexOf(focus)] ?? -1;
  const value = valuesOf(rows, metric);
  return {
    callers: rowsOf(rows, names, callersOf(tree, value, wanted)),
    callees: rowsOf(rows, names, calleesOf(tree, value, wanted)),
  };
}

export interface FunctionRow {
  name: string;
  own: number;
  total: number;
  calls: number;
}

/** Every function once, however often and from wherever it is called, those with the most self time first. */
export function functionsOf(rows: FlameTable, metric: Metric, layers: boolean): FunctionRow[] {
  const names = namesFor(rows, layers);
  const value = valuesOf(rows, metric);
  const own = ownOf(rows.parent, value);
  const sum = (values: ArrayLike<number | null>, group: readonly number[]): number =>
    group.reduce((total, row) => total + (values[row] ?? 0), 0);
  const outermost = (row: number): boolean => !insideOneLikeIt(rows.parent, names, row);
  return [...grouped(names.keys(), (row) => names[row] ?? "")]
    .filter(([, [first]]) => rows.kind[first] !== "rest")
    .map(([name, group]) => ({
      name,
      own: sum(own, group),
      total: sum(value, group.filter(outermost)),
      calls: sum(rows.calls, group),
    }))
    .sort((a, b) => b.own - a.own);
}

export type Colouring = "kind" | "module" | "file" | "time";

export const readColouring = (text: string | undefined, line: boolean): Colouring =>
  text === "time" || text === (line ? "file" : "module") ? text : "kind";

export interface Colours extends FlameTint {
  /** What the first colours stand for. */
  labels: string[];
}

const GOLDEN_ANGLE = 137.508;
const NEUTRAL = [0, 0] as const;

/** null: by kind. */
export function coloursOf(rows: FlameTable, metric: Metric, by: Colouring): Colours | null {
  if (by === "kind") return null;
  return by === "time" ? byTime(rows, metric) : byGroup(rows, metric, groupsOf(rows, by));
}

/** The class of the module around each frame, or the file of its line; empty where there is none. */
function groupsOf(rows: FlameTable, by: "module" | "file"): string[] {
  if (by === "file") return rows.name.map((name) => splitFrame(name).file);
  const groups: string[] = [];
  rows.kind.forEach((kind, row) =>
    groups.push(
      kind === "module"
        ? layerName(rows, row).replace(/ (?:\(backward\)|×\d+)/g, "")
        : (groups[rows.parent[row] ?? -1] ?? ""),
    ),
  );
  return groups;
}

function byGroup(rows: FlameTable, metric: Metric, groups: readonly string[]): Colours {
  const own = ownOf(rows.parent, valuesOf(rows, metric));
  const sums = new Map<string, number>();
  groups.forEach((group, row) => sums.set(group, (sums.get(group) ?? 0) + (own[row] ?? 0)));
  sums.delete("");
  const labels = [...sums].sort((a, b) => b[1] - a[1]).map(([group]) => group);
  const places = new Map(labels.map((group, place) => [group, place]));
  const colours = labels.map(
    (_, place) => [Math.round((210 + place * GOLDEN_ANGLE) % 360), 60] as const,
  );
  return {
    of: groups.map((group) => places.get(group) ?? labels.length),
    colours: [...colours, NEUTRAL],
    labels,
  };
}

/** From blue over grey to orange, which all eyes tell apart. */
const STAIRS = [[215, 75], [215, 50], [215, 25], NEUTRAL, [32, 35], [32, 65], [32, 95]] as const;

/** By the mean time of a call, in equal steps of its logarithm from the shortest to the longest. */
function byTime(rows: FlameTable, metric: Metric): Colours {
  const value = valuesOf(rows, metric);
  const logs = rows.calls.map((calls, row) => Math.log((value[row] ?? 0) / calls));
  const finite = logs.filter(Number.isFinite);
  const low = finite.reduce((least, log) => Math.min(least, log), Infinity);
  const high = finite.reduce((most, log) => Math.max(most, log), -Infinity);
  const last = STAIRS.length - 1;
  return {
    of: logs.map((log) =>
      Number.isFinite(log) ? (high > low ? Math.round((last * (log - low)) / (high - low)) : 0) : 3,
    ),
    colours: STAIRS,
    labels: [],
  };
}
