/** Links from workers of the Distributed page to their timelines on one clock. */

import type { DistributedWorker } from "../../api/types.gen";
import { rangesText } from "../../base/ranges";
import type { Selection, ViewProps } from "../../state/view";

/** The timelines of some workers; the first of them is the one that the page has chosen. */
export function timelineHref(
  hrefOf: ViewProps["hrefOf"],
  { run }: Selection,
  workers: readonly DistributedWorker[],
  places: readonly number[],
): string {
  const chosen = places.flatMap((place) => workers[place] ?? []);
  const ranks = chosen.flatMap(({ rank }) => rank ?? []).sort((a, b) => a - b);
  const { worker = "", span = "" } = chosen[0] ?? {};
  return hrefOf("trace", { workers: rangesText([...new Set(ranks)]) }, { run, worker, span });
}
