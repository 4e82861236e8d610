/** Where a key leads among things in a row; the caller keeps it inside. */

export const MOVES: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowRight: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
};
