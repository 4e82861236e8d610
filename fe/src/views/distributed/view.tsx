/** The Distributed view. */

import type { JSX } from "preact";
import type { ViewProps } from "../../state/view";

export function DistributedView({ selection }: ViewProps): JSX.Element {
  return <p>{selection.run}</p>;
}
