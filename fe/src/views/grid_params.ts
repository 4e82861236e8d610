/** A table's order and search in the address bar: `sort=calls` ascending, `sort=-calls` descending, `search`, `regex=1`. */

import { exactPattern } from "../base/search";
import type { Search, Sort } from "../widgets";
import { nameOfKey } from "./parts_by_name";

export interface GridParams {
  sort: Sort | null;
  onSort: (sort: Sort | null) => void;
  search: Search;
  onSearch: (search: Search) => void;
}

type SetParam = (key: string, value: string | null) => void;

/** Sets several parameters; those without a value are removed. */
export function setParams(
  setParam: SetParam,
  values: Readonly<Record<string, string | number | null | undefined>>,
): void {
  for (const [key, value] of Object.entries(values)) setParam(key, value?.toString() ?? null);
}

export function gridParams(
  params: Readonly<Record<string, string>>,
  setParam: SetParam,
): GridParams {
  return {
    sort: readSort(params.sort),
    onSort: (sort) => setParam("sort", sort && writeSort(sort)),
    ...searchParams(params, setParam, "search", "regex"),
  };
}

/** A search alone, under names of its own. */
export function searchParams(
  params: Readonly<Record<string, string>>,
  setParam: SetParam,
  textKey: string,
  regexKey: string,
): Pick<GridParams, "search" | "onSearch"> {
  const text = params[textKey] ?? "";
  const regex = params[regexKey] === "1";
  return {
    search: { text, regex },
    onSearch: (next) => {
      if (next.text !== text) setParam(textKey, next.text);
      if (next.regex !== regex) setParam(regexKey, next.regex ? "1" : null);
    },
  };
}

export function readSort(text: string | undefined): Sort | null {
  if (!text || text === "-") return null;
  return text.startsWith("-")
    ? { key: text.slice(1), descending: true }
    : { key: text, descending: false };
}

export function writeSort(sort: Sort): string {
  return `${sort.descending ? "-" : ""}${sort.key}`;
}

/** The longest pattern that the search takes. */
const LONGEST_PATTERN = 200;

/** Parameters that make a table show exactly the rows of this name, where a pattern can say so; its words otherwise. */
export function exactly(name: string): { search: string; regex: string } {
  const pattern = exactPattern(name);
  return pattern.length <= LONGEST_PATTERN && name === name.trim()
    ? { search: pattern, regex: "1" }
    : { search: name, regex: "" };
}

/** Parameters that make the timeline find exactly the events of this name. */
export function onTimeline(name: string): { q: string; re: string } {
  const { search, regex } = exactly(name);
  return { q: search, re: regex };
}

/** Make the table show the rows behind a chart's part, and all rows again when it shows these; a part that stands for many names changes nothing. */
export function showPart(key: string, shown: string | undefined, setParam: SetParam): void {
  const name = nameOfKey(key);
  if (name !== null) toggleSearch(exactly(name), shown ?? "", setParam);
}

/** Make the table show the rows behind a mark, and all rows again when it shows these already. */
export function toggleSearch(
  wanted: ReturnType<typeof exactly>,
  shown: string,
  setParam: SetParam,
): void {
  const { search, regex } = wanted.search === shown ? { search: "", regex: "" } : wanted;
  setParams(setParam, { regex: regex || null, search: search || null });
}
