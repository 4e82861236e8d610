/** Words at the start of a label. */

/** `matrix engines` → `Matrix engines`. */
export function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
