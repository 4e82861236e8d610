import { screen, waitFor } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { LinesPayload } from "../../api/types.gen";
import { lacking, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { serve, show, text } from "../../testing/page";
import { LinesView } from "./view";

const lines = (names: (string | null)[]): LinesPayload =>
  reply("lines", GPU, {
    rows: rowsOf(
      reply("lines", GPU).rows,
      names.map(() => 0),
      {
        line: names,
        path_ns: names.map((_, row) => 9000 - row),
        event: names.map((_, row) => row - 1),
      },
    ),
    sentences: names.length ? ["main at train.py:3 takes 1.00 s.", "Sums over all 2 steps."] : [],
    ...{ pooled: 0, missing: names.length ? [] : [lacking()] },
  });

let answer = lines([]);
beforeEach(() => void serve({ lines: () => answer }));

it("names the line that the steps wait for, and lists those without one, too", async () => {
  answer = lines([null, "/w/train.py(3): main"]);
  show(LinesView);
  await waitFor(() =>
    expect(screen.getByRole("region", { name: "In short" }).textContent).toBe(
      "main at train.py:3 takes 1.00 s.Sums over all 2 steps.",
    ),
  );
  expect(text()).toContain("no line is known");
  expect(screen.getAllByRole("link", { name: "longest" })).toHaveLength(1);
});

it("says which call records lines where none are", async () => {
  answer = lines([]);
  show(LinesView);
  await waitFor(() => expect(text()).toContain("profile(with_stack=True)"));
});
