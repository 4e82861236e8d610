import { describe, expect, it } from "vitest";
import { drawArrows } from "./arrows";
import { paper } from "./canvas_fixtures";
import { frameOf, laneRow, sourceOf } from "./tile_fixtures";
import type { Arrow, Frame } from "./types";

const arrow = (from: [number, number], to: [number, number], strong = false): Arrow => ({
  strong,
  source: { source: 0, lane: from[0], time: from[1] },
  target: { source: 0, lane: to[0], time: to[1] },
});

const ROWS = [laneRow(2, 0), laneRow(4, 20), laneRow(8, 60)];

function drawn(
  arrows: readonly Arrow[],
  more: Partial<Frame> = {},
): { count: number; from: unknown[]; to: unknown[]; styles: string[] } {
  const { ctx, calls } = paper();
  const count = drawArrows(
    ctx,
    frameOf({ t0: 0, t1: 100 }, [sourceOf([])], ROWS, { arrows, ...more }),
  );
  const curves = calls.flatMap((call, i) =>
    call.name === "bezierCurveTo" ? [[calls[i - 1]!.args, call.args.slice(4)]] : [],
  );
  return {
    count,
    from: curves.map(([from]) => from),
    to: curves.map(([, to]) => to),
    styles: calls.filter((c) => c.name === "stroke").map((c) => c.strokeStyle),
  };
}

describe("drawArrows", () => {
  it("leads from the middle of a row to the head in another", () => {
    expect(drawn([arrow([2, 10], [8, 50])])).toMatchObject({
      count: 1,
      from: [[10, 10]],
      to: [[44, 70]],
    });
  });

  it("draws those of the selection last, with a rim", () => {
    const { palette } = frameOf({ t0: 0, t1: 1 }, [], []);
    const { styles, from } = drawn([arrow([2, 10], [4, 20], true), arrow([2, 30], [4, 40])]);
    expect(from).toEqual([
      [30, 10],
      [10, 10],
    ]);
    expect(styles).toEqual([palette.muted, palette.ground, palette.accent]);
  });

  it("draws straight ones without a bow, with a head that points along", () => {
    const { ctx, calls } = paper();
    const arrows = [{ ...arrow([2, 10], [8, 10], true), straight: true }];
    const frame = frameOf({ t0: 0, t1: 100 }, [sourceOf([])], ROWS, { arrows });
    expect(drawArrows(ctx, frame)).toBe(1);
    expect(calls.some(({ name }) => name === "bezierCurveTo")).toBe(false);
    const lines = calls.filter(({ name }) => name === "lineTo").map(({ args }) => args as number[]);
    expect(lines[0]).toEqual([10, 70]);
    // Straight down: both corners of the head lie above its point, on either side.
    const [left, right] = lines.slice(1);
    expect(left?.[1]).toBeCloseTo(62);
    expect(right?.[1]).toBeCloseTo(62);
    expect((left?.[0] ?? 0) - 10).toBeCloseTo(10 - (right?.[0] ?? 0));
  });

  it("points to lanes that are scrolled away above and below, and to the row before a folded one", () => {
    const { to } = drawn([
      arrow([4, 10], [0, 20]),
      arrow([4, 10], [9, 20]),
      arrow([2, 10], [6, 20]),
    ]);
    expect(to).toEqual([
      [14, -6],
      [14, 106],
      [14, 30],
    ]);
  });

  it("prefers the row that scrolls to the pinned one of the same lane", () => {
    const rows = [laneRow(2, 0, { pinned: true, key: "pin" }), laneRow(2, 40), laneRow(4, 60)];
    expect(drawn([arrow([4, 10], [2, 20])], { rows, pinnedHeight: 20 }).to).toEqual([[14, 50]]);
  });

  it("leaves out what has nothing in sight", () => {
    expect(drawn([arrow([2, -50], [4, -10]), arrow([2, 120], [4, 130])]).count).toBe(0);
    expect(drawn([arrow([2, -50], [4, 1e12])])).toMatchObject({
      count: 1,
      from: [[-50, 10]],
      to: [[4094, 30]],
    });
    expect(drawn([]).count).toBe(0);
  });
});
