/** What the Trace page keeps in the address bar, as text and as values. What makes no sense is read as absent. */

import { NO_ROW_STATE, type RowState } from "../../timeline/props";
import type { Area, ColourBy, Mark, TimeRange } from "../../timeline/types";
import type { Params } from "../../state/view";
import { ranksOf } from "./rank_choice";
import { ALL_WORKERS, type Shown } from "./recordings";
import type { Grouping } from "./tree";
import { parseRanges, rangesText } from "../../base/ranges";

/** Sets what the address says; `true` is written as 1, and what is empty, or said by nothing, is removed. */
export type SetParams = (values: Readonly<Record<string, string | boolean | null>>) => void;

/** What it says by nothing. */
const DEFAULTS: Params = {
  group: "process",
  colour: "category",
  kind: "first",
  alook: "table",
};

/** What these values change in the address, as texts. */
export const changesOf = (
  values: Parameters<SetParams>[0],
  params: Params,
): (readonly [string, string])[] =>
  Object.entries(values)
    .map(([key, value]) => {
      const text = value === true ? "1" : value || "";
      return [key, text === DEFAULTS[key] ? "" : text] as const;
    })
    .filter(([key, text]) => text !== (params[key] ?? ""));

/** The most row keys, marks and lanes that are read from an address: it may have been written by anybody. */
const MOST_KEYS = 500;
const MOST_LANES = 65_536;

/** An event of a recording; `key` is empty where only one is shown. */
interface EventKey {
  key: string;
  event: number;
}

export function readEvent(text: string | undefined): EventKey | null {
  const match = /^(?:(\d{1,5}):)?(\d{1,10})$/.exec(text ?? "");
  return match ? { key: match[1] ?? "", event: Number(match[2]) } : null;
}

export function writeEvent({ key, event }: EventKey): string {
  return key ? `${key}:${event}` : `${event}`;
}

const readPair = (text = ""): number[] =>
  /^(-?\d{1,15}),(-?\d{1,15})$/.exec(text)?.slice(1).map(Number) ?? [];

/** `begin,length` in ns. */
export function readView(text: string | undefined): TimeRange | null {
  const [t0 = 0, length = 0] = readPair(text);
  return length > 0 ? { t0, t1: t0 + length } : null;
}

export function writeView({ t0, t1 }: TimeRange): string {
  const begin = Math.floor(t0);
  return `${begin},${Math.max(1, Math.ceil(t1) - begin)}`;
}

function readStretch(text: string | undefined): { start: number; end: number } | null {
  const [start = 0, end = -Infinity] = readPair(text);
  return end >= start ? { start, end } : null;
}

/** Sources by the keys in the address, in the order of the page. */
export function readArea(
  text: string | undefined,
  lanes: string | undefined,
  keys: readonly string[],
): Area | null {
  const stretch = readStretch(text);
  if (!stretch || stretch.end === stretch.start) return null;
  const lanesBySource = new Map<number, number[]>();
  for (const part of (lanes ?? "").split(";")) {
    const cut = part.indexOf(":");
    const source = keys.indexOf(cut < 0 ? "" : part.slice(0, cut));
    const chosen = parseRanges(part.slice(cut + 1), MOST_LANES);
    if (source >= 0 && chosen.length) lanesBySource.set(source, chosen);
  }
  return { t0: stretch.start, t1: stretch.end, lanes: lanesBySource };
}

export function writeArea(area: Area, keys: readonly string[]) {
  const parts = [...area.lanes].map(([source, lanes]) => {
    return [keys[source], rangesText(lanes)].filter(Boolean).join(":");
  });
  return { area: `${Math.floor(area.t0)},${Math.ceil(area.t1)}`, arealanes: parts.join(";") };
}

export const readShown = (text = ""): Shown => (text === ALL_WORKERS ? text : ranksOf(text));

const escaped = (key: string): string =>
  key.replace(/~/g, "~t").replace(/,/g, "~c").replace(/;/g, "~s");
const unescaped = (key: string): string =>
  key.replace(/~s/g, ";").replace(/~c/g, ",").replace(/~t/g, "~");

export function readKeys(text: string | undefined): string[] {
  return text ? text.split(",").slice(0, MOST_KEYS).map(unescaped) : [];
}

export function writeKeys(keys: Iterable<string>): string {
  return [...keys].slice(0, MOST_KEYS).map(escaped).join(",");
}

export function readRows(params: Params): RowState {
  return {
    ...NO_ROW_STATE,
    open: new Set(readKeys(params.open)),
    shut: new Set(readKeys(params.shut)),
    pinned: readKeys(params.pin),
    order: readKeys(params.order),
    filter: params.filter ?? "",
  };
}

export const writeRows = ({ open, shut, pinned, order, filter }: RowState) => ({
  open: writeKeys(open),
  shut: writeKeys(shut),
  pin: writeKeys(pinned),
  order: writeKeys(order),
  filter,
});

export function readGrouping(text: string | undefined): Grouping {
  return text === "device" || text === "kind" ? text : "process";
}

export function readColour(text: string | undefined): ColourBy {
  return text === "name" || text === "module" ? text : "category";
}

/** Marks that a link holds, and letters of each note: it has to stay one that can be sent. */
export const MOST_MARKS = 100;
export const LONGEST_NOTE = 140;

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]+/g;

/** `begin,end` or `begin,end,note`, joined by `;`. */
export function readMarks(text: string | undefined): Mark[] {
  return (text ?? "")
    .split(";")
    .slice(0, MOST_MARKS)
    .flatMap((part, place): Mark[] => {
      const [start = "", end = "", written = ""] = part.split(",");
      const stretch = readStretch(`${start},${end}`);
      const note = unescaped(written).replace(CONTROL, " ").slice(0, LONGEST_NOTE);
      const label = note || `Mark ${place + 1}`;
      return stretch ? [{ key: `person-${place}`, label, note, kind: "person", ...stretch }] : [];
    });
}

export function writeMarks(
  marks: readonly { start: number; end: number; note?: string }[],
): string {
  return marks
    .slice(0, MOST_MARKS)
    .map(({ start, end, note = "" }) =>
      [Math.round(start), Math.round(end), ...(note ? [escaped(note)] : [])].join(","),
    )
    .join(";");
}

export const listOf = (text = ""): string[] => text.split(",").filter(Boolean);
