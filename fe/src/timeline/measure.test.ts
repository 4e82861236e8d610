import { describe, expect, it } from "vitest";
import { Measure, snapped } from "./measure";

describe("Measure", () => {
  it("lies between two chosen times, whichever comes first", () => {
    const measure = new Measure();
    measure.turn(true);
    measure.put(500, 30);
    expect([measure.range, measure.stretch]).toEqual([null, { t0: 500, t1: 500 }]);
    measure.follow(() => 700);
    expect([measure.stretch, measure.range]).toEqual([{ t0: 500, t1: 700 }, null]);
    measure.put(200, 99);
    measure.follow(() => 900);
    expect([measure.range, measure.on, measure.y]).toEqual([{ t0: 200, t1: 500 }, false, 30]);
    measure.turn(false);
    expect([measure.range, measure.stretch]).toEqual([null, null]);
  });

  it("does not follow before it has begun", () => {
    const measure = new Measure();
    measure.turn(true);
    measure.follow(() => 3);
    expect(measure.stretch).toBeNull();
  });
});

describe("snapped", () => {
  const slices = [{ start: 100, end: 200 }, null, { start: 210, end: 300 }];
  it("goes to the nearest edge within reach", () => {
    expect(snapped(104, slices, 10)).toBe(100);
    expect(snapped(204, slices, 10)).toBe(200);
    expect(snapped(206, slices, 10)).toBe(210);
  });
  it("stays where no edge is near", () => {
    expect(snapped(150, slices, 10)).toBe(150);
    expect(snapped(150, [], 10)).toBe(150);
  });
});
