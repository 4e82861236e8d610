/** Quantiles of values: 0, 5, 25, 50, 75, 95 and 100 %. */
export interface Quantiles {
  least: number;
  low: number;
  lower: number;
  median: number;
  upper: number;
  high: number;
  most: number;
}

/** Linear between the two nearest values, as numpy does it; `null` without values. */
export function quantilesOf(values: readonly number[]): Quantiles | null {
  if (!values.length) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? 0;
    return below + ((sorted[Math.ceil(place)] ?? below) - below) * (place % 1);
  };
  return {
    least: at(0),
    low: at(0.05),
    lower: at(0.25),
    median: at(0.5),
    upper: at(0.75),
    high: at(0.95),
    most: at(1),
  };
}
