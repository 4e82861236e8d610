import { useState } from "preact/hooks";

let count = 0;

/** An id that is unique in the page and stays the same over draws. */
export function useId(prefix: string): string {
  const [id] = useState(() => `${prefix}-${++count}`);
  return id;
}
