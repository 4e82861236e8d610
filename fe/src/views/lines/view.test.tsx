import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { LinesPayload, SourcePayload } from "../../api/types.gen";
import { lacking, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import { serve, show, text } from "../../testing/page";
import { joinedText, rungLines, tintOf } from "./model";
import { LinesView } from "./view";

const lines = (names: (string | null)[], over: Partial<LinesPayload> = {}): LinesPayload =>
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
    ladder: {
      name: ["/w/train.py(3): main", "/w/net.py(9): forward", "/w/data.py(2): read"],
      parent: [-1, 0, 0],
      kind: ["line", "line", "line"],
      joined: [5, 0, 1],
      path_ns: [9000, 5000, 3000],
      own_ns: [1000, 5000, 3000],
      share: [1, 5 / 9, 1 / 3],
      group: [null, "compute", "data_loading"],
      event: [7, 7, -1],
    },
    sentences: ["From main at train.py:3 the path splits.", "Sums over all 2 steps."],
    pooled: 0,
    missing: [],
    ...over,
  });

const source = (over: Partial<SourcePayload> = {}): SourcePayload => ({
  functions: [
    {
      ...{ file: "net.py", name: "forward", first: 11, was: 9, cut: 2, heat: 5000 },
      ...{ lines: ["  def forward(self, x):", "    return <x>"], share: 5 / 9, line_heat: [] },
    },
  ],
  unit: "ns",
  notes: ["Found by name."],
  ...over,
});

let answer = lines([]);
let read = source();
beforeEach(() => {
  read = source();
  serve({ lines: () => answer, source: () => read });
});

it("says where the path splits, and lists the rungs as a tree", async () => {
  answer = lines([null, "/w/train.py(3): main"]);
  show(LinesView);
  await waitFor(() => expect(text()).toContain("From main at train.py:3 the path splits."));
  const rungs = screen.getByRole("treegrid", { name: "Rungs" });
  expect(within(rungs).getAllByRole("row")).toHaveLength(4);
  expect(rungs.textContent).toContain("train.py:3 main+5 lines");
  expect(rungs.textContent).toContain("Data loading");
  expect(text()).toContain("no line is known");
});

it("reads a rung out at the keys, and leads to its longest stretch", async () => {
  answer = lines([]);
  show(LinesView);
  const graph = await screen.findByRole("application", { name: "Ladder" });
  fireEvent.keyDown(graph, { key: "ArrowDown" });
  fireEvent.keyDown(graph, { key: "ArrowDown" });
  const said = screen.getAllByRole("status").map(({ textContent }) => textContent);
  expect(said.join()).toContain("net.py:9 forward, 5.00 µs, 55.6 % of the path, Compute");
});

it("shows the source of functions with their time, as text, and what is said of it", async () => {
  answer = lines([]);
  show(LinesView);
  const shown = await screen.findByLabelText("forward, from line 11");
  expect(shown.textContent).toBe(
    "  11    def forward(self, x):\n  12      return <x>\n      … 2 more",
  );
  const sides = [...shown.querySelectorAll("span")].map(({ style }) => style.backgroundSize);
  expect(new Set(sides).size).toBe(1);
  expect(parseFloat(sides[0] ?? "")).toBeGreaterThan(0);
  expect(text()).toContain("Found by name.");
});

it("says which call records lines where none are, and shows the ladder of calls all the same", async () => {
  answer = lines([], { missing: [lacking()] });
  show(LinesView);
  await waitFor(() => expect(text()).toContain("profile(with_stack=True)"));
  expect(screen.getByRole("treegrid", { name: "Rungs" })).toBeTruthy();
});

it("says that there is nothing where no call was recorded", async () => {
  answer = lines([], { sentences: [] });
  show(LinesView);
  await waitFor(() => expect(text()).toContain("No calls on the path"));
});

it("words, colours and kinds of rungs", () => {
  const { ladder } = lines([]);
  expect([0, 1, 2].map((row) => joinedText(ladder, row))).toEqual(["+5 lines", "", "+1 line"]);
  expect(joinedText({ ...ladder, kind: ["module"] }, 0)).toBe("+5 calls");
  expect(tintOf(ladder).of).toEqual([-1, 0, 2]);
  expect(rungLines(ladder, 0)).toEqual(["train.py:3 main", "9.00 µs, 100 % of the path"]);
});
