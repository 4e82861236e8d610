/** The names of a trace by their numbers, fetched page by page when they are first asked for: a trace can have a hundred thousand. */

import type { NamesPayload } from "../../api/types.gen";

/** Pause before a page that could not be had is asked for again, ms. */
const RETRY_MS = 5000;

export class NameBook {
  private readonly names: (string | undefined)[] = [];
  private readonly asked = new Set<number>();
  private readonly watchers = new Set<() => void>();

  private readonly fetchPage: (first: number) => Promise<NamesPayload>;
  private readonly page: number;
  private readonly count: number;

  /** `fetchPage` answers with the names from `first`; `page` names at a time, of `count`. */
  constructor(fetchPage: (first: number) => Promise<NamesPayload>, page: number, count: number) {
    this.fetchPage = fetchPage;
    this.page = Math.max(1, page);
    this.count = count;
  }

  /** The name, or `undefined` while it is on its way. */
  name(number: number): string | undefined {
    const name = this.names[number];
    if (name === undefined && number >= 0 && number < this.count)
      this.ask(number - (number % this.page));
    return name;
  }

  numbers(passes: (name: string) => boolean): Set<number> {
    const numbers = new Set<number>();
    this.names.forEach((name, number) => {
      if (name !== undefined && passes(name)) numbers.add(number);
    });
    return numbers;
  }

  /** Calls back when names came; returns how to stop. */
  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    return () => void this.watchers.delete(listener);
  }

  private ask(first: number): void {
    if (this.asked.has(first)) return;
    this.asked.add(first);
    this.fetchPage(first).then(
      (payload) => {
        payload.names.forEach((name, place) => (this.names[payload.first + place] = name));
        for (const tell of [...this.watchers]) tell();
      },
      () => setTimeout(() => this.asked.delete(first), RETRY_MS),
    );
  }
}
