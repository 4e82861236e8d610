/** The Diff view. */

import type { JSX } from "preact";
import type { ViewProps } from "../../state/view";

export function DiffView({ selection }: ViewProps): JSX.Element {
  return <p>{selection.run}</p>;
}
