import { cleanup, fireEvent, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, it } from "vitest";
import type { Params } from "../../state/view";
import { findings, GPU_WORDS, HOSTILE, lacking } from "../../testing/cases";
import { type Answers, serve, show as draw, type Shown, text } from "../../testing/page";
import { flame, flameRows, moduleRows, modules, ranges } from "./fixtures";
import { ModuleView } from "./view";

let answers: Answers;
let asked: URL[];
beforeEach(() => {
  localStorage.clear();
  answers = {
    module: modules(),
    "module/flame": flame(),
    ranges: ranges([]),
    findings: findings([]),
  };
  asked = serve(answers);
});

const show = (params: Params = {}): Shown => draw(ModuleView, params);
const heads = (): string[] =>
  [...document.querySelectorAll("[role=columnheader] .head-label")].map((head) => head.textContent);
const names = (): (string | undefined)[] =>
  screen.getAllByRole("rowheader").map((cell) => cell.querySelector(".cell-text")?.textContent);

describe("the ranges", () => {
  it("are a part of their own, in the words of the device, and lead to their longest call", async () => {
    answers.ranges = ranges(["attn(F)", HOSTILE]);
    show({ by: "ranges" });
    const grid = await waitFor(() => screen.getByRole("grid", { name: "Ranges" }));
    expect(
      [...grid.querySelectorAll("[role=columnheader] .head-label")].map((head) => head.textContent),
    ).toEqual([
      "Range",
      "Calls",
      "Host",
      "GPU",
      "GPU busy",
      "GPU share",
      "Launched",
      "On the path",
      "Share of path",
      "Timeline",
    ]);
    expect(grid.textContent).toContain("attn(F)");
    expect(document.querySelector("img")).toBeNull();
    expect([...grid.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual([
      "#trace?sel=40",
      "#trace?sel=41",
    ]);
  });

  it("are there without any module, and are no table where there are none", async () => {
    answers.module = modules({
      source: "",
      rows: moduleRows(Object.fromEntries(Object.keys(moduleRows()).map((key) => [key, []]))),
    });
    answers.ranges = ranges(["1F1B"]);
    show();
    await waitFor(() => expect(screen.getByRole("grid", { name: "Ranges" })).toBeTruthy());
    expect(text()).toContain("This trace has no modules");
    cleanup();
    answers.ranges = ranges([]);
    show();
    await waitFor(() => expect(screen.getByRole("application")).toBeTruthy());
    expect(screen.queryByRole("grid", { name: "Ranges" })).toBeNull();
  });
});

describe("the table", () => {
  it("shows the tree with forward and backward times and where it leads", async () => {
    show();
    await waitFor(() => expect(screen.getByRole("treegrid", { name: "Modules" })).toBeTruthy());
    expect(names()).toEqual(["Net_0", "Block_0", "Block_1", "Linear_0"]);
    for (const head of ["Forward GPU", "Backward GPU self", "Forward host", "Allocated"])
      expect(heads()).toContain(head);
    expect(text()).toContain("In modules150 ns host, 1.50 µs GPU");
    const [timeline] = screen.getAllByText("longest call");
    expect(timeline?.closest("a")?.getAttribute("href")).toBe("#trace?sel=10");
    const frames = screen.getAllByText("its frames")[1]?.closest("a");
    expect(frames?.getAttribute("href")).toBe("#module?zoom=11");
    expect(screen.getAllByText("its frames")).toHaveLength(3);
  });

  it("sums by class", async () => {
    show({ by: "class" });
    await waitFor(() =>
      expect(screen.getByRole("grid", { name: "Modules by class" })).toBeTruthy(),
    );
    expect(names()).toEqual(["Net", "Block", "Linear"]);
  });

  it("has no column of what was not recorded, and shows the host's own times then", async () => {
    const rows = moduleRows();
    for (const [key, values] of Object.entries(rows))
      if (key.includes("device") || key.endsWith("bytes")) (values as unknown[]).fill(null);
    answers.module = modules({ has_device: false, has_backward: false, rows });
    show();
    await waitFor(() => expect(screen.getByRole("treegrid", { name: "Modules" })).toBeTruthy());
    expect(heads()).toEqual([
      "Module",
      "Calls",
      "Operators",
      "Forward host",
      "Forward host self",
      "Inside",
      "Timeline",
    ]);
  });

  it("says why there is no module, with the call that records them, and shows the frames all the same", async () => {
    const missing = [
      lacking({ key: "device", what: "Accelerator activity", why: "Not this." }),
      lacking({ key: "modules", why: "Python frames were not recorded." }),
    ];
    answers.module = modules({
      source: "",
      rows: moduleRows(Object.fromEntries(Object.keys(moduleRows()).map((key) => [key, []]))),
      missing,
    });
    show();
    await waitFor(() => expect(text()).toContain("This trace has no modules"));
    expect(text()).toContain("profile(with_stack=True)");
    expect(text()).not.toContain("Not this.");
    await waitFor(() => expect(screen.getByRole("application")).toBeTruthy());
  });
});

describe("the flame graph", () => {
  it("asks for its tree, says what is found, what is not drawn, and offers the files", async () => {
    answers["module/flame"] = flame({ tree: "line" });
    show({ flame: "line", find: "mm", metric: "host" });
    await waitFor(() =>
      expect(screen.getByRole("application", { name: /Python lines, host time/ })).toBeTruthy(),
    );
    expect(
      asked.find((url) => url.pathname.endsWith("/module/flame"))?.searchParams.get("tree"),
    ).toBe("line");
    expect(text()).toContain("38.1 % of the time");
    expect(text()).toContain("7 frames below 1/10,000");
    expect(text()).not.toContain("launched outside known frames");
    expect(screen.getByText("speedscope").getAttribute("href")).toMatch(
      /module\/flame\/file\?run=r&worker=w&span=s&tree=line&metric=host&format=speedscope$/,
    );
  });

  it("opens on the frame of the link, and leads out by the address bar", async () => {
    const { setParam } = show({ zoom: "21" });
    await waitFor(() =>
      expect(screen.getByRole("navigation", { name: "Zoomed into" }).textContent).toBe(
        "All › Net_0 › aten::mm",
      ),
    );
    fireEvent.click(screen.getByRole("button", { name: "All" }));
    expect(setParam).toHaveBeenCalledWith("zoom", null);
    fireEvent.keyDown(screen.getByRole("application"), { key: "ArrowUp" });
    expect(text()).toContain(`${GPU_WORDS.device} 1.00 µs`);
    expect(screen.getByText("Longest call on the timeline").getAttribute("href")).toBe(
      "#trace?sel=10",
    );
  });

  it("says why there is nothing, and still offers the other tree", async () => {
    answers["module/flame"] = flame({ tree: "line", rows: flameRows({ device_ns: [0, 0, 0, 0] }) });
    const { setParam } = show({ flame: "line" });
    await waitFor(() => expect(text()).toContain("No Python lines are known"));
    fireEvent.click(screen.getByLabelText("Modules", { selector: "input" }));
    expect(setParam.mock.calls).toEqual([
      ["flame", null],
      ["zoom", null],
    ]);
  });

  it("says that the pattern is wrong, and dims nothing", async () => {
    show({ find: "(", find_re: "1" });
    await waitFor(() =>
      expect(screen.getByRole("alert").textContent).toMatch(/Invalid regular expression/),
    );
  });
});
