/** Whole numbers as the wire writes them: `0-9,12`. */

/** Ascending numbers as ranges. */
export function rangesText(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; i++) {
    const first = numbers[i] ?? 0;
    let last = first;
    while (numbers[i + 1] === last + 1) last = numbers[++i] ?? last;
    parts.push(last === first ? `${first}` : `${first}-${last}`);
  }
  return parts.join(",");
}

/** The numbers of a text, each once and ascending; at most `most`. What is no range is left out. */
export function parseRanges(text: string, most: number): number[] {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(part.trim());
    if (!match) continue;
    const last = Number(match[2] ?? match[1]);
    for (let n = Number(match[1]); n <= last && found.size < most; n++) found.add(n);
  }
  return [...found].sort((a, b) => a - b);
}
