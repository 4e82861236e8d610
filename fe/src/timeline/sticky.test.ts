import { describe, expect, it } from "vitest";
import { sampleTree } from "./fixtures";
import { NO_ROW_STATE } from "./props";
import { layOut, rowsInSight } from "./rows";
import { stickyNote, stickyRow, stickyShift } from "./sticky";

const layout = layOut(sampleTree(), NO_ROW_STATE, 0);
const named = layout.rows.findIndex(
  (row, i) => row.label !== "" && layout.rows[i + 1]?.label === "" && i > 0,
);
const owner = layout.rows[named]!;
const nameless = layout.rows[named + 1]!;

const at = (scroll: number) => rowsInSight(layout, scroll, 200);

describe("the name that stays", () => {
  it("is that of the row, or of the nearest row above that has one", () => {
    expect(stickyRow(layout, at(owner.y))).toBe(owner);
    expect(stickyRow(layout, at(nameless.y + 3))).toBe(owner);
    expect(stickyNote(layout, owner)).toBe(
      layout.notes.get(layout.notes.get(owner.key)!.parent)!.name,
    );
  });

  it("gives way to the next name px by px", () => {
    const next = layout.rows.slice(named + 1).find((row) => row.label !== "")!;
    expect(stickyShift(layout, at(owner.y), owner.y)).toBe(0);
    expect(stickyShift(layout, at(next.y - 5), next.y - 5)).toBe(5 - owner.height);
  });

  it("is none without rows", () => {
    expect(stickyRow(layout, [])).toBeNull();
    expect(stickyShift(layout, [], 0)).toBe(0);
  });
});
