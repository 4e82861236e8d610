/** The first number from `low` on for which the test holds, at most `high`; it must hold for all numbers after it. */
export function firstWhere(low: number, high: number, test: (at: number) => boolean): number {
  let [first, end] = [low, high];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (test(middle)) end = middle;
    else first = middle + 1;
  }
  return first;
}
