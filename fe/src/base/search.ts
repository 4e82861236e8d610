/** Text search: plain (every word must occur, case ignored, shapes in any spelling) or by regular expression. */

import { hasShape, holdsShapes, plainShapes } from "./shapes";

export type Matcher =
  { test: (text: string) => boolean; error: null } | { test: null; error: string };

const LONGEST_PATTERN = 200;
/** Longest text that a pattern is tried on: names are shorter, and the cost of a bad pattern grows with it. */
const LONGEST_TEXT = 1000;
/** Open-ended repetitions in one pattern: the exponent of what it can cost. */
const MOST_REPEATS = 4;
/** What a pattern may take for one pass over all texts, ms. */
const TIME_LIMIT = 400;

/** A repeated group that itself ends in a repetition, e.g. `(a+)+`: the shape that takes exponential time. */
const NESTED_REPEAT = /\((?:[^()\\]|\\.)*[+*}](?:[^()\\]|\\.)*\)\s*(?:[+*]|\{\d+,)/;
/** A repeated group of alternatives, e.g. `(a|a)*`. */
const REPEATED_CHOICE = /\((?:[^()\\]|\\.)*\|(?:[^()\\]|\\.)*\)\s*(?:[+*]|\{\d+,)/;

/** Two repeated wildcards side by side, e.g. `.*.*`, which try every split of a text. */
const ADJACENT_REPEATS = /(?:\.|\\[wWsSdD])[*+]\??\(*(?:\.|\\[wWsSdD])[*+]/;
const REPEAT = /(?<!\\)[*+]|\{\d+,\}/g;

/** The pattern that matches exactly this text. */
export const exactPattern = (text: string): string =>
  `^${text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`;

/** A matcher for a search text, or the reason why there is none. An empty text matches everything. */
export function compileSearch(text: string, regex: boolean): Matcher {
  const trimmed = text.trim();
  if (!trimmed) return { test: () => true, error: null };
  return regex ? compilePattern(trimmed) : compilePlain(trimmed);
}

function compilePlain(text: string): Matcher {
  if (hasShape(text)) return compileShapes(text);
  const words = text.toLowerCase().split(/\s+/);
  return {
    test: (candidate) => {
      const lower = candidate.toLowerCase();
      return words.every((word) => lower.includes(word));
    },
    error: null,
  };
}

/** Words of which some are shapes; a name such as `state[0]` is found as it stands, too. */
function compileShapes(text: string): Matcher {
  const words = plainShapes(text).split(/\s+/);
  const literal = text.toLowerCase();
  return {
    test: (candidate) => {
      const plain = plainShapes(candidate);
      return (
        words.every((word) => holdsShapes(plain, word)) || candidate.toLowerCase().includes(literal)
      );
    },
    error: null,
  };
}

/** Why a pattern is not tried: it could take forever. */
function refusalOf(text: string): string | null {
  if (text.length > LONGEST_PATTERN)
    return `The pattern is longer than ${LONGEST_PATTERN} characters.`;
  if (NESTED_REPEAT.test(text) || REPEATED_CHOICE.test(text))
    return "The pattern nests repetitions, which can take forever. Remove the outer one.";
  return ADJACENT_REPEATS.test(text) || (text.match(REPEAT)?.length ?? 0) > MOST_REPEATS
    ? `The pattern has adjacent repetitions or more than ${MOST_REPEATS}, which can take forever.`
    : null;
}

function compilePattern(text: string): Matcher {
  const error = refusalOf(text);
  if (error) return { test: null, error };
  try {
    const pattern = new RegExp(text, "i");
    return { test: (candidate) => pattern.test(candidate.slice(0, LONGEST_TEXT)), error: null };
  } catch (thrown) {
    const reason =
      thrown instanceof Error ? thrown.message.replace(/^Invalid regular expression: /, "") : "";
    return { test: null, error: `Invalid regular expression: ${reason}` };
  }
}

export interface Matches {
  flags: Uint8Array;
  error: string | null;
}

/** Which of the texts match. Stops with an error when the pattern takes too long over all of them. */
export function matchAll(
  texts: readonly string[],
  matcher: Matcher,
  now: () => number = () => performance.now(),
): Matches {
  const flags = new Uint8Array(texts.length);
  if (!matcher.test) return { flags: flags.fill(1), error: matcher.error };
  const start = now();
  for (let i = 0; i < texts.length; i++) {
    flags[i] = matcher.test(texts[i] ?? "") ? 1 : 0;
    if (i % 256 === 255 && now() - start > TIME_LIMIT) {
      return { flags: flags.fill(1), error: "The pattern takes too long. Simplify it." };
    }
  }
  return { flags, error: null };
}
