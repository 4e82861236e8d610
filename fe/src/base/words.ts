/** `matrix engines` → `Matrix engines`. */
export function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** What a person knows a step by: `ProfilerStep#5` → `5`; of a row of several `5 to 9`; of a name without a number its `place`, where that is given. */
export function stepName(name: string, place?: number): string {
  const [, first, last] = /#(\d+)(?: to .*#(\d+))?$/.exec(name) ?? [];
  if (first === undefined) return place === undefined ? name : String(place);
  return last === undefined ? first : `${first} to ${last}`;
}

/** Where a word of a name ends. */
const WORDS = /[^_\-./ ]+[_\-./ ]*|[_\-./ ]+/g;
/** So many words that two names share stay beside what tells them apart. */
const KEPT = 1;

/** What tells a name from another, with the words beside it: `v100_resnet50_num_workers_4` beside one that ends with `0` → `…workers_4`. Never without a part of the difference. */
export function differing(name: string, other: string): string {
  if (name === other) return name;
  const words = name.match(WORDS) ?? [];
  const others = other.match(WORDS) ?? [];
  const same = (i: number, j: number): boolean => words.at(i) === others.at(j);
  const shortest = Math.min(words.length, others.length);
  let first = 0;
  while (first < shortest && same(first, first)) first++;
  let last = 0;
  while (last < shortest - first && same(-1 - last, -1 - last)) last++;
  const from = Math.max(0, first - KEPT);
  const to = Math.min(words.length, words.length - last + KEPT);
  return `${from ? "…" : ""}${words.slice(from, to).join("")}${to < words.length ? "…" : ""}`;
}
