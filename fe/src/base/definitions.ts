/** The one-line meaning of every label, from docs/definitions.md. The server has them, so that the bundle does not grow with every figure. */

export interface Definition {
  key: string;
  label: string;
  text: string;
}

let known: ReadonlyMap<string, Definition> = new Map();

/** Takes the definitions in; called once, before the first drawing where the server answers in time. */
export function define(definitions: readonly Definition[]): void {
  known = new Map(definitions.map((definition) => [definition.key, definition]));
}

/** The definition of a key, or null where the docs have none. */
export function definitionOf(id: string): Definition | null {
  return known.get(id) ?? null;
}
