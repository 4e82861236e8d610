import { clamp } from "../../base/clamp";

/** How far a key leads among things in a row. */
export const MOVES: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/** Keys of a chart whose marks take the focus: they go from one to the next, choose it, or let go of it. */
export function keysOfMarks(
  at: number,
  count: number,
  focus: (at: number) => void,
  choose: (at: number) => void,
  leave: () => void,
): (event: KeyboardEvent) => void {
  return (event) => {
    const by = MOVES[event.key];
    if (by) focus(clamp(at + by, 0, count - 1));
    else if (event.key === "Escape") leave();
    else if (event.key === "Enter" || event.key === " ") choose(at);
    else return;
    event.preventDefault();
  };
}
