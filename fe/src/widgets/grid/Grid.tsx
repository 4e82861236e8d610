/** A virtual table over columns. */

import type { JSX } from "preact";
import type { GridProps } from "./types";

export function Grid(props: GridProps): JSX.Element {
  return <div role="grid" aria-label={props.label} />;
}
