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
