/** `matrix engines` → `Matrix engines`. */
export function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** What a person knows a step by: `ProfilerStep#5` → `5`. */
export function stepName(name: string): string {
  return /#(\d+)$/.exec(name)?.[1] ?? name;
}
