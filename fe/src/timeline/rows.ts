import { clamp } from "../base/clamp";
import { firstWhere } from "../base/bisect";
import { compileSearch } from "../base/search";
import { NO_ROW_STATE, type RowState, type TrackLane, type TrackNode } from "./props";
import type { Row, RowKind } from "./types";

export const HEADER_HEIGHT = 24;
export const LANE_HEIGHT = 22;
export const NESTED_HEIGHT = 18;
export const COUNTER_HEIGHT = 44;

export interface RowNote {
  /** The node whose row this is; `null` for further lanes of a node. */
  node: TrackNode | null;
  /** The node that the lane belongs to. */
  owner: TrackNode;
  parent: string;
  /** What the row is called aloud: lanes have no label of their own. */
  name: string;
}

export interface RowLayout {
  /** Pinned rows first. `y` of pinned ones counts from the canvas' top, that of the others from the content's top, which begins below the pinned ones. */
  rows: readonly Row[];
  notes: ReadonlyMap<string, RowNote>;
  pinnedCount: number;
  pinnedHeight: number;
  height: number;
}

export const NO_ROWS: RowLayout = {
  rows: [],
  notes: new Map(),
  pinnedCount: 0,
  pinnedHeight: 0,
  height: 0,
};

export interface LaneOfSource {
  source: number;
  lane: number;
}

export const sameLane = (a: LaneOfSource, b: LaneOfSource): boolean =>
  a.source === b.source && a.lane === b.lane;

export function isOpen(node: TrackNode, state: RowState): boolean {
  return state.open.has(node.key) || (!node.foldedByDefault && !state.shut.has(node.key));
}

/** The state with a node opened or folded; what equals the default is forgotten, so that links stay short. */
export function withOpen(state: RowState, node: TrackNode, open: boolean): RowState {
  const opened = new Set(state.open);
  const shut = new Set(state.shut);
  opened.delete(node.key);
  shut.delete(node.key);
  if (open && node.foldedByDefault) opened.add(node.key);
  if (!open && !node.foldedByDefault) shut.add(node.key);
  return { ...state, open: opened, shut, peek: open ? state.peek : null };
}

export function withPinned(state: RowState, key: string, pinned: boolean): RowState {
  const others = state.pinned.filter((other) => other !== key);
  return { ...state, pinned: pinned ? [...others, key] : others };
}

export function inOrder(
  nodes: readonly TrackNode[],
  order: readonly string[],
): readonly TrackNode[] {
  if (order.length === 0) return nodes;
  const places = new Map(order.map((key, i) => [key, i]));
  const placeOf = (node: TrackNode): number => places.get(node.key) ?? order.length;
  return [...nodes].sort((a, b) => placeOf(a) - placeOf(b));
}

/** The state with a node moved to before or behind another of its siblings; unchanged when they are none. */
export function withMoved(
  state: RowState,
  tree: readonly TrackNode[],
  key: string,
  to: string,
  behind: boolean,
): RowState {
  const pinnedAt = state.pinned.indexOf(to);
  if (state.pinned.includes(key) && pinnedAt >= 0)
    return { ...state, pinned: moved(state.pinned, key, to, behind) };
  const siblings = placesIn(tree).get(key)?.siblings ?? [];
  if (key === to || !siblings.some((node) => node.key === to)) return state;
  const keys = moved(
    inOrder(siblings, state.order).map((node) => node.key),
    key,
    to,
    behind,
  );
  const own = new Set(keys);
  return { ...state, order: [...state.order.filter((other) => !own.has(other)), ...keys] };
}

function moved(keys: readonly string[], key: string, to: string, behind: boolean): string[] {
  if (key === to) return [...keys];
  const rest = keys.filter((other) => other !== key);
  rest.splice(rest.indexOf(to) + (behind ? 1 : 0), 0, key);
  return rest;
}

/** The neighbour among the siblings as they are shown, to move a node by one place; `null` at the end. */
export function neighbourOf(
  state: RowState,
  tree: readonly TrackNode[],
  key: string,
  step: 1 | -1,
): string | null {
  const keys = state.pinned.includes(key)
    ? state.pinned
    : inOrder(placesIn(tree).get(key)?.siblings ?? [], state.order)
        .filter((node) => !node.bare)
        .map((node) => node.key);
  return keys[keys.indexOf(key) + step] ?? null;
}

interface Place {
  node: TrackNode;
  parents: readonly TrackNode[];
  siblings: readonly TrackNode[];
}

const placesByTree = new WeakMap<readonly TrackNode[], ReadonlyMap<string, Place>>();

/** Every node by its key, parents first. Made once per tree, because every row in sight asks for its siblings at every draw. */
function placesIn(tree: readonly TrackNode[]): ReadonlyMap<string, Place> {
  const known = placesByTree.get(tree);
  if (known) return known;
  const places = new Map<string, Place>();
  const walk = (siblings: readonly TrackNode[], parents: readonly TrackNode[]): void => {
    for (const node of siblings) {
      places.set(node.key, { node, parents, siblings });
      walk(node.children, [...parents, node]);
    }
  };
  walk(tree, []);
  placesByTree.set(tree, places);
  return places;
}

/** The node of a lane and what it lies in, from the top; empty where there is none. */
export function pathTo(
  tree: readonly TrackNode[],
  source: number,
  lane: number,
): readonly TrackNode[] {
  const place = [...placesIn(tree).values()].find(
    ({ node }) => node.source === source && node.lanes.some((own) => own.lane === lane),
  );
  return place ? [...place.parents, place.node] : [];
}

export function lanesBelow(node: TrackNode): readonly number[] {
  return [...node.lanes.map((own) => own.lane), ...node.children.flatMap(lanesBelow)];
}

/** The state in which the lane's row is shown: alone where its node is folded, and the filter gone if it hides it. */
export function withLane(
  state: RowState,
  tree: readonly TrackNode[],
  source: number,
  lane: number,
): RowState {
  const path = pathTo(tree, source, lane);
  const last = path.at(-1);
  const { filter, peek } = state;
  const hidden =
    path.some((node) => !isOpen(node, state)) && (peek?.source !== source || peek.lane !== lane);
  const next = hidden ? { ...state, peek: { source, lane } } : state;
  return last && filter && !shownBy(filter, tree).has(last) ? { ...next, filter: "" } : next;
}

export function withAll(state: RowState, tree: readonly TrackNode[], open: boolean): RowState {
  return [...placesIn(tree).values()]
    .filter(({ node }) => !node.bare && (node.lanes.length > 0 || node.children.length > 0))
    .reduce((next, { node }) => withOpen(next, node, open), state);
}

/** The nodes that a filter leaves: `match` where own or ancestors' text has its words, `way` for what only leads to such a node. */
function shownBy(
  filter: string,
  tree: readonly TrackNode[],
): ReadonlyMap<TrackNode, "match" | "way"> {
  const { test } = compileSearch(filter, false);
  const shown = new Map<TrackNode, "match" | "way">();
  const walk = (node: TrackNode, above: string): boolean => {
    const text = `${above} ${node.label} ${node.note}`;
    const match = !test || test(text);
    let any = match;
    for (const child of node.children) any = walk(child, text) || any;
    if (any) shown.set(node, match ? "match" : "way");
    return any;
  };
  for (const node of tree) walk(node, "");
  return shown;
}

/** How much higher than usual rows are drawn. */
export interface Growth {
  lane: number;
  counter: number;
}

const USUAL: Growth = { lane: 1, counter: 1 };
/** Higher rows would show no more. */
const MOST_GROWTH: Growth = { lane: 1.5, counter: 3 };

/** Higher rows where those that stand open at first leave much of a tall window empty; they stay so whatever is opened. */
export function growthFor(tree: readonly TrackNode[], room: number): Growth {
  const { rows, height } = layOut(tree, NO_ROW_STATE, 0);
  const lane = clamp(room / Math.max(1, height), 1, MOST_GROWTH.lane);
  const curves = bottom(rows.filter((row) => row.kind === "counter"));
  const rest = room - (height - curves) * lane;
  return { lane, counter: clamp(rest / Math.max(1, curves), 1, MOST_GROWTH.counter) };
}

/** The rows of a tree. Pinned ones get at most `pinnedRoom` px; those that do not fit scroll with the rest, but first. */
export function layOut(
  tree: readonly TrackNode[],
  state: RowState,
  pinnedRoom: number,
  growth = USUAL,
): RowLayout {
  const builder = new Builder(tree, state);
  const grown = (row: Row): Row => ({
    ...row,
    height: Math.floor(row.height * (row.kind === "counter" ? growth.counter : growth.lane)),
  });
  const pinned = state.pinned.flatMap((key) => builder.pinnedRows(key)).map(grown);
  const rest = builder.rowsOf(tree, "", 0).map(grown);
  let fixed = 0;
  while (fixed < pinned.length && bottom(pinned.slice(0, fixed + 1)) <= pinnedRoom) fixed++;
  const rows = [...pinned, ...rest];
  let y = 0;
  const placed = rows.map((row, i) => {
    const at = { ...row, y, pinned: i < fixed };
    y += row.height;
    return at;
  });
  return {
    rows: placed,
    notes: builder.notes,
    pinnedCount: fixed,
    pinnedHeight: bottom(pinned.slice(0, fixed)),
    height: y,
  };
}

function bottom(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + row.height, 0);
}

/** What most rows have in common. */
const ROW = {
  ...{ y: 0, lane: -1, counter: -1, open: null, pinned: false, overlap: false },
  below: [] as readonly number[],
};

/** Makes rows, top down; their `y` is given afterwards. */
class Builder {
  readonly notes = new Map<string, RowNote>();
  readonly #tree: readonly TrackNode[];
  readonly #state: RowState;
  readonly #shown: ReadonlyMap<TrackNode, "match" | "way"> | null;
  /** What leads to the lane that is peeked at. */
  readonly #way: ReadonlySet<TrackNode>;

  constructor(tree: readonly TrackNode[], state: RowState) {
    this.#tree = tree;
    this.#state = state;
    this.#shown = state.filter.trim() ? shownBy(state.filter, tree) : null;
    const { peek } = state;
    this.#way = new Set(peek ? pathTo(tree, peek.source, peek.lane) : []);
  }

  pinnedRows(key: string): Row[] {
    const place = placesIn(this.#tree).get(key);
    if (!place || (this.#shown && !this.#shown.has(place.node))) return [];
    const { node, parents } = place;
    const [first, ...more] = this.#rowsOfNode(node, parents.at(-1)?.key ?? "", 0);
    if (!first) return [];
    const path = parents.flatMap(({ label }) => label || []).join(" › ");
    return [{ ...first, note: [path, first.note].filter(Boolean).join(" · ") }, ...more];
  }

  rowsOf(nodes: readonly TrackNode[], parent: string, indent: number): Row[] {
    return this.#visible(nodes).flatMap((node) => this.#rowsOfNode(node, parent, indent));
  }

  #visible(nodes: readonly TrackNode[]): readonly TrackNode[] {
    const { order, pinned } = this.#state;
    return inOrder(nodes, order).filter(
      (node) => !pinned.includes(node.key) && (!this.#shown || this.#shown.has(node)),
    );
  }

  /** `only`: of what is below the node, only the way to the lane that is peeked at. */
  #rowsOfNode(node: TrackNode, parent: string, indent: number, only = false): Row[] {
    const { kind, lanes } = node;
    if (kind === "counter") {
      const { counter } = node;
      return [this.#row(node, parent, indent, { kind, height: COUNTER_HEIGHT, counter })];
    }
    if (kind === "path") {
      return [this.#row(node, parent, indent, { kind, height: HEADER_HEIGHT, below: "all" })];
    }
    const children = this.#visible(node.children);
    // Its first lane stands in the node's own row, which saves a row for every thread and stream.
    const direct =
      lanes.length === 0
        ? children.slice(0, 1).find(({ bare }) => bare)
        : kind === "group" && children.length === 0
          ? node
          : undefined;
    // What a filter found deeper must be seen.
    const open = !only && (isOpen(node, this.#state) || this.#shown?.get(node) === "way");
    const hidden = { below: open ? [] : lanesBelow(node) };
    const row = direct
      ? this.#row(
          node,
          parent,
          indent,
          { ...firstLaneOf(direct, children, open), ...hidden },
          direct,
        )
      : this.#row(node, parent, indent, { ...headerOf(node, kind, open), ...hidden });
    if (!open && !this.#way.has(node)) return [row];
    const lanesOf = (owner: TrackNode): Row[] =>
      owner.lanes
        .map((lane, i) => this.#lane(owner, node.label, lane, i, indent + 1))
        .slice(owner === direct ? 1 : 0)
        .filter(({ lane }) => open || (lane === this.#state.peek?.lane && lane !== row.lane));
    const below = children
      .filter((child) => open || this.#way.has(child))
      .flatMap((child) =>
        child.bare ? lanesOf(child) : this.#rowsOfNode(child, node.key, indent + 1, !open),
      );
    return [row, ...lanesOf(node), ...below];
  }

  #row(node: TrackNode, parent: string, indent: number, more: OwnRow, owner = node): Row {
    this.notes.set(node.key, { node, owner, parent, name: node.label });
    const { key, source, label, note } = node;
    return { ...ROW, key, source, label, note, indent, ...more };
  }

  #lane(
    node: TrackNode,
    name: string,
    { lane, depth, overlap }: TrackLane,
    index: number,
    indent: number,
  ): Row {
    const key = `${node.key}/${lane - (node.lanes[0]?.lane ?? 0)}`;
    this.notes.set(key, { node: null, owner: node, parent: node.key, name });
    const height = depth === 0 && index === 0 && !overlap ? LANE_HEIGHT : NESTED_HEIGHT;
    const note = overlap ? "overlaps the track above" : "";
    const { source } = node;
    return { ...ROW, key, kind: "lane", source, label: "", note, indent, height, lane, overlap };
  }
}

type OwnRow = Partial<Row> & Pick<Row, "kind" | "height">;

function firstLaneOf(owner: TrackNode, children: readonly TrackNode[], open: boolean): OwnRow {
  const single = owner.lanes.length <= 1 && children.every((child) => child === owner);
  const lane = owner.lanes[0]?.lane ?? -1;
  return { kind: "lane", height: LANE_HEIGHT, lane, open: single ? null : open };
}

function headerOf(node: TrackNode, kind: RowKind, open: boolean): OwnRow {
  const standing = node.standingLane >= 0 ? node.standingLane : (lanesBelow(node)[0] ?? -1);
  const empty = node.lanes.length === 0 && node.children.length === 0;
  return {
    kind,
    height: HEADER_HEIGHT,
    lane: open ? -1 : standing,
    open: empty ? null : open,
  };
}

export function rowsInSight(layout: RowLayout, scroll: number, height: number): readonly Row[] {
  const { rows, pinnedCount, pinnedHeight } = layout;
  const bottomOf = (row?: Row): number => (row ? row.y + row.height : Infinity);
  const first = firstWhere(
    pinnedCount,
    rows.length,
    (i) => bottomOf(rows[i]) > scroll + pinnedHeight,
  );
  let last = first;
  while (last < rows.length && (rows[last]?.y ?? Infinity) < scroll + height) last++;
  return [...rows.slice(0, pinnedCount), ...rows.slice(first, last)];
}
