/** The number nearest to `value` that is neither below `least` nor above `most`; `least` where these contradict each other. */
export const clamp = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, value));
