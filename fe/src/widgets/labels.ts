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

/** What is made of a text, kept: the cache begins anew once it holds too much. */
function cached<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    let value = made.get(text);
    if (value === undefined) {
      if (made.size > MOST_CACHED) made.clear();
      made.set(text, (value = make(text)));
    }
    return value;
  };
}

/** Cuts texts to a width by the widths of their letters, each measured once. */
export function lettersOf(measure: (letter: string) => number) {
  const widthOf = cached(measure);
  const shortOf = cached(shortened);
  /** Width of a text; no longer exact once it is more than `limit`. */
  const width = (text: string, limit = Infinity): number => {
    let sum = 0;
    for (const letter of text) {
      sum += widthOf(letter);
      if (sum > limit) break;
    }
    return sum;
  };
  /** The text, or its beginning with `…`, or "" where next to nothing fits. */
  const fit = (name: string, room: number): string => {
    if (width(name, room) <= room) return name;
    const text = shortOf(name);
    if (text !== name && width(text, room) <= room) return text;
    let left = room - widthOf(ELLIPSIS);
    let end = 0;
    let letters = 0;
    for (const letter of text) {
      left -= widthOf(letter);
      if (left < 0) break;
      end += letter.length;
      letters++;
    }
    return letters < LEAST_LETTERS ? "" : text.slice(0, end).trimEnd() + ELLIPSIS;
  };
  return { fit, width };
}

export type Letters = ReturnType<typeof lettersOf>;
