/** Css px from which on a slice has a text. */
export const LEAST_WIDTH = 34;
/** The most texts of one drawing: each costs some 4 µs. */
export const MOST_LABELS = 1500;
export const PADDING = 4;
const ELLIPSIS = "…";
/** Fewer letters than this say nothing. */
const LEAST_LETTERS = 3;
const MOST_CACHED = 20_000;

/**
 * A name without what it shares with most others: the folders of a Python file, `void`, `nn.Module:`, namespaces. Only used where the whole one does not fit.
 * `void at::native::copy<int>(…)` → `copy<int>(…)`; `torch/nn/modules/module.py(9): call` → `module.py(9): call`.
 */
export function shortened(name: string): string {
  const frame = /^(?:.*[\\/])?([^\\/]+\.py\(\d+\): .+)$/.exec(name);
  if (frame?.[1]) return frame[1];
  const text = name
    .replace(/^(?:void |nn\.Module: )/, "")
    .replaceAll("(anonymous namespace)::", "");
  const head = /^[^<(\s]*/.exec(text)?.[0] ?? "";
  const namespace = head.lastIndexOf("::");
  return namespace < 0 || namespace + 2 === head.length ? text : text.slice(namespace + 2);
}

/** Cuts texts to a width by the widths of their letters, each measured once. */
export class Letters {
  private readonly widths = new Map<string, number>();
  private readonly short = new Map<string, string>();
  private readonly measure: (text: string) => number;

  constructor(measure: (text: string) => number) {
    this.measure = measure;
  }

  /** The text, or its beginning with `…`, or "" where next to nothing fits. */
  fit(name: string, room: number): string {
    if (this.width(name, room) <= room) return name;
    const text = this.shortOf(name);
    if (text !== name && this.width(text, room) <= room) return text;
    const left = room - this.letter(ELLIPSIS);
    let width = 0;
    let end = 0;
    let letters = 0;
    for (const letter of text) {
      width += this.letter(letter);
      if (width > left) break;
      end += letter.length;
      letters++;
    }
    return letters < LEAST_LETTERS ? "" : text.slice(0, end).trimEnd() + ELLIPSIS;
  }

  /** Width of a text; no longer exact once it is more than `limit`. */
  width(text: string, limit = Infinity): number {
    let width = 0;
    for (const letter of text) {
      width += this.letter(letter);
      if (width > limit) break;
    }
    return width;
  }

  private letter(letter: string): number {
    const known = this.widths.get(letter);
    if (known !== undefined) return known;
    const width = this.measure(letter);
    this.widths.set(letter, width);
    return width;
  }

  private shortOf(name: string): string {
    const known = this.short.get(name);
    if (known !== undefined) return known;
    if (this.short.size > MOST_CACHED) this.short.clear();
    const short = shortened(name);
    this.short.set(name, short);
    return short;
  }
}
