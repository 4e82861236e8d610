/** What stands for one bar per worker where there are too many: how the values are spread, and the workers that differ most. */

import { formatCount } from "../../base/units";
import { sumOf } from "./model";
import { type Quantiles, quantilesOf, type Series, type StackedBar } from "../../widgets";

/** Of more workers bars cannot be told apart. */
export const MOST_BARS = 64;
const MOST_ODD = 12;

/** Workers that have the step. */
const known = (bars: readonly StackedBar[]): StackedBar[] => bars.filter(({ note }) => !note);

/** A row per series that any worker has some of. */
export function spreadRows(
  series: readonly Series[],
  bars: readonly StackedBar[],
): { series: Series; spread: Quantiles }[] {
  return series.flatMap((one, place) => {
    const values = known(bars).map((bar) => bar.values[place] ?? 0);
    const spread = values.some((value) => value > 0) ? quantilesOf(values) : null;
    return spread ? [{ series: one, spread }] : [];
  });
}

/** The mean of all workers, then those whose parts lie farthest from the medians of all, the farthest first. */
export function oddBars(bars: readonly StackedBar[]): StackedBar[] {
  const all = known(bars);
  const parts = (all[0]?.values ?? []).map((_, part) => all.map(({ values }) => values[part] ?? 0));
  const medians = parts.map((values) => quantilesOf(values)?.median ?? 0);
  const distance = ({ values }: StackedBar): number =>
    sumOf(values.map((value, part) => Math.abs(value - (medians[part] ?? 0))));
  const odd = all.toSorted((a, b) => distance(b) - distance(a) || a.key - b.key).slice(0, MOST_ODD);
  const mean = parts.map((values) => sumOf(values) / all.length);
  return [{ key: -1, label: "mean", title: "mean of all workers", values: mean }, ...odd];
}

export function oddText(bars: readonly StackedBar[]): string {
  const all = known(bars).length;
  return `Bars: the mean of ${formatCount(all)} workers, then the ${Math.min(MOST_ODD, all)} that differ most from the median. The table below lists all.`;
}
