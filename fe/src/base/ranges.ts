/** Numbers as ascending ranges: `0-7,64`. */
export function rangesText(unsorted: readonly number[]): string {
  const numbers = [...unsorted].sort((a, b) => a - b);
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
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(part.trim());
    if (!match) continue;
    const last = Number(match[2] ?? match[1]);
    for (let n = Number(match[1]); n <= last && numbers.size < most; n++) numbers.add(n);
  }
  return [...numbers].sort((a, b) => a - b);
}
