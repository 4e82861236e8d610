/** The names of a trace by their numbers, fetched page by page when they are first asked for: a trace can have a hundred thousand. */

import type { NamesPayload } from "../../api/types.gen";

/** Pause before a page that could not be had is asked for again, ms. */
const RETRY_MS = 5000;

export type NameBook = ReturnType<typeof nameBook>;

/** `fetchPage` answers with the names from `first`; `page` names at a time, of `count`. */
export function nameBook(
  fetchPage: (first: number) => Promise<NamesPayload>,
  page: number,
  count: number,
) {
  const names: (string | undefined)[] = [];
  const asked = new Set<number>();
  const watchers = new Set<() => void>();
  const ask = (first: number): void => {
    if (asked.has(first)) return;
    asked.add(first);
    fetchPage(first).then(
      (payload) => {
        payload.names.forEach((name, place) => (names[payload.first + place] = name));
        watchers.forEach((tell) => tell());
      },
      () => setTimeout(() => asked.delete(first), RETRY_MS),
    );
  };
  return {
    /** The name, or `undefined` while it is on its way. */
    name: (number: number): string | undefined => {
      const name = names[number];
      if (name === undefined && number >= 0 && number < count) ask(number - (number % page));
      return name;
    },
    numbers: (passes: (name: string) => boolean): Set<number> =>
      new Set(
        names.flatMap((name, number) => (name !== undefined && passes(name) ? [number] : [])),
      ),
    /** Calls back when names came; returns how to stop. */
    watch: (listener: () => void): (() => void) => {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
  };
}
