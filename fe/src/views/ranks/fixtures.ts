/** Payloads of a run for tests: a mesh of ranks, true to the wire types. */

import type { OverviewRanksPayload, RankDimension, RunWorker } from "../../api/types.gen";

export function runWorker(rank: number, over: Partial<RunWorker> = {}): RunWorker {
  return {
    worker: `rank${rank}`,
    rank,
    node: `node${Math.floor(rank / 8)}`,
    ...over,
  };
}

/** The dimensions of a row-major mesh by name and size, given outermost first, and listed as the server does: the nearest ranks first. */
export function meshOf(sizes: readonly (readonly [string, number])[]): RankDimension[] {
  const count = sizes.reduce((all, [, size]) => all * size, 1);
  let stride = count;
  const dimensions = sizes.map(([name, size]) => {
    stride /= size;
    const step = stride;
    return {
      name,
      values: [],
      place: Array.from({ length: count }, (_, rank) => Math.floor(rank / step) % size),
    };
  });
  return dimensions.reverse();
}

/** A run whose ranks are these. */
export function overviewRanks(
  dimensions: RankDimension[],
  over: Partial<OverviewRanksPayload> = {},
): OverviewRanksPayload {
  const count = dimensions[0]?.place.length ?? 0;
  return {
    known: true,
    progress: 1,
    workers: Array.from({ length: count }, (_, rank) => runWorker(rank)),
    dimensions,
    ...over,
  };
}
