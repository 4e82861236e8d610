/** The words of the page: the meaning of every label and the columns of every table. The server has them, so that the bundle does not grow with every figure. */

import type { DeclaredColumn } from "./columns";

export interface Definition {
  key: string;
  label: string;
  text: string;
}

export interface DeclaredTable {
  name: string;
  columns: readonly DeclaredColumn[];
}

let known: ReadonlyMap<string, Definition> = new Map();
let declared: ReadonlyMap<string, DeclaredTable> = new Map();

/** Takes the words in; called once, before the first drawing where the server answers in time. */
export function define(definitions: readonly Definition[], tables: readonly DeclaredTable[]): void {
  known = new Map(definitions.map((definition) => [definition.key, definition]));
  declared = new Map(tables.map((table) => [table.name, table]));
}

/** The columns that Python declares for a table; none before the words are there. */
export function columnsOfTable(name: string): readonly DeclaredColumn[] {
  return declared.get(name)?.columns ?? [];
}

/** The definition of a key, or null where the docs have none. */
export function definitionOf(id: string): Definition | null {
  return known.get(id) ?? null;
}
