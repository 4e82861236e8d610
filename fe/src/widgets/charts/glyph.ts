/** Two lanes and a path as SVG paths: of every column how much each part fills, stacked from the gutter outwards. */

export type Lane = "device" | "host";

export interface LanePart {
  lane: Lane;
  category: string;
  on_path: boolean;
  /** Of each column how much it fills, `FULL` all of it. */
  columns: readonly number[];
}

export interface LaneColumns {
  shown_ns: number;
  columns: number;
  parts: readonly LanePart[];
  /** Cut out of the columns. */
  cuts: readonly { start_ns: number; length_ns: number }[];
}

export const FULL = 250;
/** Share of a column from which on the path is on one lane alone. */
const ALONE = 0.8;

/** Px: a lane, the gutter between them, and the line of the path. */
export const SIZES = {
  full: { lane: 28, gutter: 14, line: 3 },
  compact: { lane: 13, gutter: 8, line: 2 },
  beside: { lane: 24, gutter: 12, line: 3 },
} as const;
export type GlyphSize = keyof typeof SIZES;

/** The parts of a lane from the gutter outwards: what is on the path, then what is beside it, each in the order that the server gives. */
export const stackedParts = <T extends Pick<LanePart, "lane" | "on_path">>(
  parts: readonly T[],
  lane: Lane,
): T[] =>
  parts.filter((part) => part.lane === lane).sort((a, b) => Number(b.on_path) - Number(a.on_path));

/** Waiting is neither work on the path nor beside it. */
export const isPale = (category: string, onPath: boolean): boolean =>
  !onPath && category !== "device_wait";

/** Values of columns in `count` columns, fewer of them: the area stays. */
export function resampled(values: readonly number[], count: number): number[] {
  const n = values.length;
  if (n <= count) return [...values];
  const sums = [0];
  for (const value of values) sums.push((sums[sums.length - 1] ?? 0) + value);
  const before = (at: number): number => {
    const whole = Math.floor(at);
    return (sums[whole] ?? 0) + (at - whole) * (values[whole] ?? 0);
  };
  const wide = n / count;
  return Array.from({ length: count }, (_, i) =>
    Math.max(0, (before((i + 1) * wide) - before(i * wide)) / wide),
  );
}

export interface DrawnPart {
  lane: Lane;
  category: string;
  on: boolean;
  /** Its area, and its outer edge alone. */
  area: string;
  edge: string;
}

interface Drawing {
  /** Lanes from the top. */
  lanes: readonly Lane[];
  parts: readonly DrawnPart[];
  path: string;
  /** Where the path changes lane all the time. */
  weave: string;
  height: number;
}

/** All of it in a width of px. */
export function drawGlyph(glyph: LaneColumns, width: number, size: GlyphSize): Drawing {
  const { lane: high, gutter, line } = SIZES[size];
  const count = Math.max(1, Math.min(glyph.columns, Math.round(width / 2)));
  const lanes = (["device", "host"] as const).filter((lane) =>
    glyph.parts.some((part) => part.lane === lane),
  );
  const both = lanes.length > 1;
  const room = both ? gutter : line + 2;
  const x = (column: number): number => round((column * width) / count);
  const on = { device: Array<number>(count).fill(0), host: Array<number>(count).fill(0) };
  const parts: DrawnPart[] = [];
  for (const lane of lanes) {
    const [foot, sign] = lane === "device" ? [high, -1] : [both ? high + room : room, 1];
    const y = (level: number): number => round(foot + (sign * level * high) / FULL);
    const stack: Stacked[] = [];
    let base = Array<number>(count).fill(0);
    for (const part of stackedParts(glyph.parts, lane)) {
      const { category, on_path } = part;
      const columns = resampled(part.columns, count);
      const top = columns.map((value, i) => (base[i] ?? 0) + value);
      if (on_path) columns.forEach((value, i) => (on[lane][i] = (on[lane][i] ?? 0) + value));
      stack.push({ lane, category, on: on_path, bottom: base.map(y), top: top.map(y) });
      base = top;
    }
    const outer = outermost(stack, count);
    stack.forEach(({ bottom, top, ...part }, place) => {
      const area = outline(bottom, top, x);
      parts.push({ ...part, area, edge: part.on ? "" : edgeOf(top, outer, place, x) });
    });
  }
  const [upper, lower] = both
    ? [high + 2 + line / 2, high + room - 2 - line / 2]
    : [
        lanes[0] === "device" ? high + 2 + line / 2 : line / 2,
        lanes[0] === "device" ? high + 2 + line / 2 : line / 2,
      ];
  const states = on.device.map((device, i) => {
    const share = device / Math.max(1, device + (on.host[i] ?? 0));
    return share > ALONE ? 1 : share < 1 - ALONE ? 2 : 3;
  });
  return {
    lanes,
    parts,
    ...lines(states, upper, lower, x),
    height: both ? 2 * high + room : high + room,
  };
}

const round = (px: number): number => Math.round(px * 10) / 10;

type Place = (column: number) => number;

interface Stacked extends Pick<DrawnPart, "lane" | "category" | "on"> {
  bottom: readonly number[];
  top: readonly number[];
}

/** Px from which on a part has an edge of its own, not that of what it lies on. */
const VISIBLE = 1;

/** Of each column the place of the outermost part that can be seen: it alone has an edge there. */
function outermost(stack: readonly Stacked[], count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const height = ({ bottom, top }: Stacked): number => Math.abs((top[i] ?? 0) - (bottom[i] ?? 0));
    const seen = stack.findLastIndex((part) => height(part) >= VISIBLE);
    return seen < 0 ? stack.findLastIndex((part) => height(part) > 0) : seen;
  });
}

/** The edge of a part where it is outermost. */
function edgeOf(top: readonly number[], outer: readonly number[], place: number, x: Place): string {
  let edge = "";
  outer.forEach((owner, i) => {
    if (owner !== place) return;
    if (outer[i - 1] !== place) edge += `M${x(i)} ${top[i]}`;
    else if (top[i] !== top[i - 1]) edge += `V${top[i]}`;
    if (outer[i + 1] !== place || top[i + 1] !== top[i]) edge += `H${x(i + 1)}`;
  });
  return edge;
}

/** Each stretch in which something is filled as one closed line. */
function outline(bottom: readonly number[], top: readonly number[], x: Place): string {
  let area = "";
  for (let i = 0; i < top.length;) {
    if (top[i] === bottom[i]) {
      i++;
      continue;
    }
    let [along, back, end] = ["", "", i + 1];
    for (; end < top.length && top[end] !== bottom[end]; end++) {
      if (top[end] !== top[end - 1]) along += `H${x(end)}V${top[end]}`;
      if (bottom[end] !== bottom[end - 1]) back = `H${x(end)}V${bottom[end - 1]}${back}`;
    }
    area += `M${x(i)} ${top[i]}${along}H${x(end)}V${bottom[end - 1]}${back}H${x(i)}Z`;
    i = end;
  }
  return area;
}

/** The line of the path by the state of each column: 1 the device, 2 the host, 3 both. */
function lines(states: readonly number[], upper: number, lower: number, x: Place) {
  let [path, weave] = ["", ""];
  for (let i = 0, before = 0; i < states.length;) {
    const state = states[i] ?? 0;
    let end = i;
    while (states[end] === state) end++;
    if (before && upper !== lower) path += `M${x(i)} ${upper}V${lower}`;
    if (state & 1) path += `M${x(i)} ${upper}H${x(end)}`;
    if (state & 2) path += `M${x(i)} ${lower}H${x(end)}`;
    if (state === 3) weave += `M${x(i)} ${upper}H${x(end)}V${lower}H${x(i)}Z`;
    [before, i] = [state, end];
  }
  return { path, weave };
}

/** The longest stretch of columns in which each category of a lane fills most, as shares of the whole: where it is named. */
export function mainRuns(
  { parts, columns }: LaneColumns,
  lane: Lane,
): { category: string; from: number; to: number }[] {
  const own = parts.filter((part) => part.lane === lane);
  const longest = new Map<string, { from: number; to: number }>();
  const main = Array.from({ length: columns }, (_, i) => {
    const sums = new Map<string, number>();
    for (const part of own)
      sums.set(part.category, (sums.get(part.category) ?? 0) + (part.columns[i] ?? 0));
    return [...sums].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
  });
  for (let i = 0; i < columns;) {
    const category = main[i] ?? "";
    let end = i;
    while (end < columns && main[end] === category) end++;
    const known = longest.get(category);
    if (!known || end - i > known.to - known.from) longest.set(category, { from: i, to: end });
    i = end;
  }
  return [...longest]
    .map(([category, { from, to }]) => ({ category, from: from / columns, to: to / columns }))
    .sort((a, b) => a.from - b.from);
}

/** Where a time is drawn, as a share of the width; `start`: of the step. */
export function shareAt({ cuts, shown_ns }: LaneColumns, start: number, time: number): number {
  const cut = cuts.reduce(
    (sum, { start_ns, length_ns }) => sum + Math.min(Math.max(time - start_ns, 0), length_ns),
    0,
  );
  return (time - start - cut) / Math.max(1, shown_ns);
}

/** The time that is drawn at a share of the width. */
export function timeAt({ cuts, shown_ns }: LaneColumns, start: number, share: number): number {
  let time = start + Math.round(share * shown_ns);
  for (const { start_ns, length_ns } of cuts) if (time > start_ns) time += length_ns;
  return time;
}
