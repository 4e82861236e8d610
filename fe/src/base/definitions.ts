/** The one-line meaning of every label, from docs/definitions.md. */

import { DEFINITIONS, type Definition } from "./definitions.gen";

/** The definition of a key, or null where the docs have none. */
export function definitionOf(id: string): Definition | null {
  return Object.hasOwn(DEFINITIONS, id) ? (DEFINITIONS[id] ?? null) : null;
}
