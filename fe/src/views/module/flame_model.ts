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
import { type Metric, valuesOf } from "./model";

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
  const at = <T>(values: readonly T[]): T[] => source.map((row) => values[row] as T);
  const known = (values: readonly (number | null)[]): number[] =>
    sumsOf(regrouped, values).map((value) => value ?? 0);
  const first = parent.map(() => -1);
  regrouped.into.forEach((node, i) => {
    const time = rows.first_ns[regrouped.from[i] ?? 0] ?? -1;
    const before = first[node] ?? -1;
    if (time >= 0 && (before < 0 || time < before)) first[node] = time;
  });
  return {
    parent,
    name: at(names).map((name, node) => ((many[node] ?? 1) > 1 ? `${name} ×${many[node]}` : name)),
    kind: at(rows.kind),
    backward: at(rows.backward),
    calls: known(rows.calls),
    device_ns: sumsOf(regrouped, rows.device_ns),
    host_ns: known(rows.host_ns),
    first_ns: first,
    event: at(rows.event),
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
  const place = names.indexOf(focus);
  const wanted = place < 0 ? -1 : (tree.key[place] ?? -1);
  const value = valuesOf(rows, metric);
  return {
    callers: rowsOf(rows, names, callersOf(tree, value, wanted)),
    callees: rowsOf(rows, names, calleesOf(tree, value, wanted)),
  };
}

export interface Functions {
  name: string[];
  kind: string[];
  own: number[];
  total: number[];
  calls: number[];
}

/** Every function once, however often and from wherever it is called, those with the most self time first. */
export function functionsOf(rows: FlameTable, metric: Metric, layers: boolean): Functions {
  const names = namesFor(rows, layers);
  const key = keysOf(names);
  const value = valuesOf(rows, metric);
  const own = ownOf(rows.parent, value);
  const table: Functions = { name: [], kind: [], own: [], total: [], calls: [] };
  names.forEach((name, row) => {
    const place = key[row] ?? 0;
    table.name[place] ??= name;
    table.kind[place] ??= rows.kind[row] ?? "";
    table.own[place] = (table.own[place] ?? 0) + (own[row] ?? 0);
    table.total[place] ??= 0;
    table.calls[place] = (table.calls[place] ?? 0) + (rows.calls[row] ?? 0);
  });
  const recursive = (row: number): boolean => {
    for (let at = rows.parent[row] ?? -1; at >= 0; at = rows.parent[at] ?? -1)
      if (key[at] === key[row]) return true;
    return false;
  };
  key.forEach((place, row) => {
    if (!recursive(row)) table.total[place] = (table.total[place] ?? 0) + (value[row] ?? 0);
  });
  const order = table.name
    .map((_, place) => place)
    .filter((place) => table.kind[place] !== "rest")
    .sort((a, b) => (table.own[b] ?? 0) - (table.own[a] ?? 0));
  const taken = <T>(values: readonly T[]): T[] => order.map((place) => values[place] as T);
  return {
    name: taken(table.name),
    kind: taken(table.kind),
    own: taken(table.own),
    total: taken(table.total),
    calls: taken(table.calls),
  };
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
  const groups: string[] = [];
  rows.name.forEach((name, row) => {
    const around = groups[rows.parent[row] ?? -1] ?? "";
    if (by === "file") groups.push(/^(.+)\(\d+\): /.exec(name)?.[1] ?? "");
    else
      groups.push(
        rows.kind[row] === "module"
          ? layerName(rows, row).replace(/ (?:\(backward\)|×\d+)/g, "")
          : around,
      );
  });
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
  let low = Infinity;
  let high = -Infinity;
  for (const log of logs)
    if (Number.isFinite(log)) {
      low = Math.min(low, log);
      high = Math.max(high, log);
    }
  const last = STAIRS.length - 1;
  return {
    of: logs.map((log) =>
      Number.isFinite(log) ? (high > low ? Math.round((last * (log - low)) / (high - low)) : 0) : 3,
    ),
    colours: STAIRS,
    labels: [],
  };
}
