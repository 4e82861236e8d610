/** Payloads of a run for tests: a mesh of ranks of which some take longer, true to the wire types. */

import type { OverviewRanksPayload, RankDimension, RunWorker } from "../../api/types.gen";
import { GPU, reply } from "../../testing/replies";

export const MS = 1_000_000;

export function runWorker(rank: number, over: Partial<RunWorker> = {}): RunWorker {
  return {
    worker: `rank${rank}`,
    span: "1",
    rank,
    node: `node${Math.floor(rank / 8)}`,
    state: "ready",
    message: "",
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
      hint: `Place of a rank in its process group of ${size}.`,
      size,
      independent: true,
      values: [],
      place: Array.from({ length: count }, (_, rank) => Math.floor(rank / step) % size),
    };
  });
  return dimensions.reverse();
}

/** A run whose ranks compute 60 ms, but for `slow` ones that compute 90 ms. */
export function overviewRanks(
  dimensions: RankDimension[],
  slow: readonly number[],
  over: Partial<OverviewRanksPayload> = {},
): OverviewRanksPayload {
  const count = dimensions[0]?.place.length ?? 0;
  const all = Array.from({ length: count }, (_, rank) => rank);
  const most = slow.length ? 90 * MS : 60 * MS;
  const [step, computation] = reply("overview/ranks", GPU).spreads;
  return reply("overview/ranks", GPU, {
    workers: all.map((rank) => runWorker(rank)),
    workers_total: count,
    steps: 2,
    headline: [`Rank ${slow[0] ?? 0} computes 30.0 ms longer per step than the median rank.`],
    coverage: `${count} of ${count} workers are read.`,
    dimensions,
    spreads: [
      {
        ...step!,
        values: all.map(() => 100 * MS),
        quartiles: [100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS],
        ...{ limit: MS, lowest: 0, highest: 0, outliers: [] },
      },
      {
        ...computation!,
        values: all.map((rank) => (slow.includes(rank) ? 90 * MS : 60 * MS)),
        quartiles: [60 * MS, 60 * MS, 60 * MS, 60 * MS, most],
        ...{ limit: MS, lowest: 0, highest: slow[0] ?? 0, outliers: [...slow] },
      },
    ],
    ...judged(all, slow),
    ...over,
  });
}

function judged(
  all: readonly number[],
  slow: readonly number[],
): Pick<OverviewRanksPayload, "outliers" | "groups"> {
  const group = (workers: number[], ranks: string, where: string, computation: number) => {
    const range = [100 * MS, computation];
    return { workers, ranks, where, low: range, high: range };
  };
  const others = all.filter((rank) => !slow.includes(rank));
  return {
    outliers: slow.map((worker) => ({
      ...{ worker, figure: "computation", value: 90 * MS, difference: 30 * MS },
      text: "50.0 % above the median",
    })),
    groups: [
      group(others, "ranks 0–9", "", 60 * MS),
      ...(slow.length ? [group([...slow], `rank ${slow[0]}`, "PP 1", 90 * MS)] : []),
    ],
  };
}
