import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CriticalPathPayload, PathRowsPayload } from "../../api/types.gen";
import type { Params } from "../../state/view";
import { declaredTable, rowsOf } from "../../testing/cases";
import { queriesOf, serve, showLive, text, viewProps } from "../../testing/page";
import { payload, rows, strip } from "./fixtures";
import { categoryLooks, groupTimes, withAll } from "./groups";
import {
  glyphLabel,
  groupOf,
  GROUPS,
  readRange,
  spoken,
  stretchesOf,
  timelineParams,
} from "./model";
import { PathOfStep } from "./overview";
import { FirstGlyph, PathParts } from "./glyphs";
import { CriticalPathView } from "./view";
import { whatIf } from "./what_if_fixtures";

let answer: CriticalPathPayload;
let table: PathRowsPayload;
let asked: URL[];
beforeEach(() => {
  answer = payload();
  table = rows();
  asked = serve({
    critical_path: () => answer,
    "critical_path/rows": () => table,
    what_if: whatIf(),
    // The steps have tests of their own.
    "critical_path/steps": { progress: 0, ready: 0, workers_total: 1 },
  });
});

async function show(start: Params = {}): Promise<void> {
  showLive(CriticalPathView, start);
  await waitFor(() => expect(screen.getByRole("grid", { name: "On the path" })).toBeTruthy());
}

const glyph = (
  path = "Path: GPU compute 150 ns (75.0 %), Host code 50 ns (25.0 %). ",
): HTMLElement =>
  screen.getByRole("group", { name: `Step 5, 100 ns. ${path}GPU busy 90.0 %: 90 ns of kernels.` });
const link = (name: string): string | null =>
  screen.getByRole("link", { name }).getAttribute("href");
const lastRows = (): Params | undefined => queriesOf(asked, "critical_path/rows").at(-1);

describe("the page", () => {
  it("says the answer and what is hidden, draws the median step and lists what is on the path", async () => {
    await show();
    expect(text()).toContain("takes 4.52 ms of the median step of 9.89 ms.");
    expect(text()).toContain("relu takes 40 % of the kernel time, but 1 % of the critical path.");
    expect(text()).toContain("Step 5, the median of 2");
    const legend = document.querySelector(".path-parts")?.textContent;
    expect(legend).toContain(" GPU compute150 ns 75.0 %");
    expect(link("On the timeline")).toBe("#trace?path=1&t=1000%2C100");
    expect(link("gemm")).toBe("#trace?sel=17&path=1");
    expect(text()).toContain("nothing recorded");
    expect(lastRows()).not.toHaveProperty("t0");
  });

  it("walks its stretches by keys, and lists only what lies in one that is chosen", async () => {
    await show();
    const group = screen.getByRole("group", { name: /^Step 5/ });
    const said = (): string | null | undefined => group.querySelector("[aria-live]")?.textContent;
    fireEvent.keyDown(group, { key: "ArrowRight" });
    expect(said()).toBe("Python, 0 ns to 10 ns, train.py(7): step");
    for (let i = 0; i < 3; i++) fireEvent.keyDown(group, { key: "ArrowRight" });
    expect(said()).toBe(
      "GPU compute, 10 ns to 100 ns, gemm and 2 more at torch/nn/modules/linear.py(130): forward",
    );
    expect(text()).toContain("90 ns, 10 ns after the step began");
    fireEvent.keyDown(group, { key: " " });
    await waitFor(() => expect(lastRows()).toMatchObject({ t0: "1010", t1: "1100" }));
    expect(link("On the timeline")).toBe("#trace?path=1&t=1010%2C90");
    expect(text()).toContain("only the chosen 90 ns");
    fireEvent.keyDown(group, { key: "Escape" });
    await waitFor(() => expect(lastRows()).not.toHaveProperty("t0"));
    expect(said()).toBe("");
  });

  it("takes the part and the grouping from the address, and sums the part in the legend", async () => {
    table = rows({
      parts: rowsOf(payload().parts, [0], { path_ns: [44] }),
      rows: rowsOf(rows().rows, [0], { name: ["aten::mm"], operator: [null], line: [null] }),
    });
    await show({ t0: "1050", t1: "1094", by: "operator" });
    expect(lastRows()).toMatchObject({ t0: "1050", t1: "1094", by: "operator" });
    const legend = document.querySelector(".path-parts")?.textContent;
    expect(legend).toContain("44 ns");
    expect(legend).not.toContain("Host code");
    expect(link("aten::mm")).toContain("#operator?");
    expect(screen.getByRole("columnheader", { name: /Operator/ })).toBeTruthy();
    expect(screen.queryByRole("columnheader", { name: /Source line/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Whole path" }));
    await waitFor(() => expect(lastRows()).not.toHaveProperty("t0"));
  });

  it("draws no chart of a single step", async () => {
    const { step, name, ...times } = payload().steps;
    answer = payload({ steps: { ...times, step: step.slice(1), name: name.slice(1) } });
    await show();
    expect(text()).not.toContain("Reading the ranks");
  });

  it("says so where there is nothing", async () => {
    answer = payload({
      parts: declaredTable<CriticalPathPayload["parts"]>("path_kinds", 0, { kind: [] }),
    });
    showLive(CriticalPathView);
    await waitFor(() => expect(text()).toContain("This trace has no steps"));
  });
});

describe("on Overview", () => {
  it("asks for the one step, and leads on with the chosen part", async () => {
    answer = payload({ strips: [strip()] });
    render(
      <PathOfStep
        {...viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() })}
        all={false}
        step={1}
        device="GPU"
      >
        <FirstGlyph device="GPU" />
      </PathOfStep>,
    );
    // No figure stands there that could change.
    expect(document.querySelector(".path-first")?.textContent).toBe("GPU");
    await waitFor(() => expect(glyph()).toBeTruthy());
    expect(asked[0]?.searchParams.get("steps")).toBe("1");
    expect(link("What is on it")).toBe("#critical_path?");
    fireEvent.keyDown(glyph(), { key: "ArrowRight" });
    fireEvent.keyDown(glyph(), { key: " " });
    expect(link("What is on it")).toBe("#critical_path?t0=1000&t1=1010");
    expect(link("On the timeline")).toBe("#trace?path=1&t=1000%2C10");
  });
});

const partsOf = (kind: string[], path_ns: number[]) => ({
  parts: declaredTable<CriticalPathPayload["parts"]>("path_kinds", kind.length, { kind, path_ns }),
});

describe("the seven groups", () => {
  it("hold every kind, and lose none of the time", () => {
    const kinds = Object.keys(payload().steps).flatMap((key) =>
      key.endsWith("_ns") ? [key.slice(0, -3)] : [],
    );
    expect(kinds.length).toBeGreaterThan(10);
    for (const device of ["GPU", "CPU"]) {
      const times = groupTimes(
        partsOf(
          kinds,
          kinds.map((_, i) => 2 ** i),
        ),
        device,
      );
      expect(times.map(({ label }) => label)).toEqual([
        "Data loading",
        `${device} compute`,
        "Copies",
        "Communication",
        "Waiting for a rank",
        "Host code",
        "Not recorded",
      ]);
      expect(times.reduce((sum, { ns }) => sum + ns, 0)).toBe(2 ** kinds.length - 1);
      expect(times.reduce((sum, { share }) => sum + (share ?? 0), 0)).toBeCloseTo(1, 12);
      const looks = times.map(({ color, pattern }) => `${color} ${pattern ?? ""}`);
      expect(new Set(looks).size).toBe(7);
    }
  });

  it("count operators as what computes where there is no accelerator", () => {
    const times = (device: string) =>
      groupTimes(partsOf(["operator", "python"], [3, 1]), device).map(({ label, ns }) => [
        label,
        ns,
      ]);
    expect(times("CPU")).toEqual([
      ["CPU compute", 3],
      ["Host code", 1],
    ]);
    expect(times("GPU")).toEqual([["Host code", 4]]);
  });

  it("show no group of no time", () => {
    render(<PathParts {...partsOf(["memcpy", "kernel"], [0, 5])} device="GPU" />);
    expect(document.querySelector(".path-parts")?.textContent).toBe(" GPU compute5 ns 100 %");
  });
});

describe("the model", () => {
  it("says of a stretch only what is known", () => {
    expect(stretchesOf(strip())).toEqual([
      { t0: 1000, t1: 1010 },
      { t0: 1010, t1: 1100 },
    ]);
    const unknown = strip({ category: ["not_recorded", "compute"], name: [null, null] });
    expect(spoken(unknown, 0, categoryLooks("GPU"))).toBe("Not recorded, 0 ns to 10 ns");
  });

  it("says for a screen reader that nothing waited for the device", () => {
    const times = groupTimes(partsOf(["python"], [100]), "GPU");
    expect(glyphLabel(strip(), times, "GPU")).toBe(
      "Step 5, 100 ns. Path: Host code 100 ns, all of it. GPU busy 90.0 %: 90 ns of kernels that the end of the step waited for nowhere.",
    );
  });

  it("lists groups of which nothing is on the path, with what much of them takes beside it", () => {
    const times = groupTimes(partsOf(["python", "memcpy"], [100, 98]), "GPU");
    const all = withAll(times, { compute: 124, copies: 100, data_loading: 0 }, "GPU");
    expect(all.map(({ key, ns, all }) => [key, ns, all])).toEqual([
      ["compute", 0, 124],
      ["copies", 98, null],
      ["host_code", 100, null],
    ]);
  });

  it("reads a part only where it lies in a path", () => {
    const strips = [strip()];
    expect(readRange({ t0: "1050", t1: "2000" }, strips)).toEqual({ t0: 1050, t1: 2000 });
    for (const [t0, t1] of [
      ["0", "1000"],
      ["1100", "1200"],
      ["1050", "1050"],
      ["a", "1100"],
      ["1050", ""],
    ])
      expect(readRange({ t0: t0 ?? "", t1: t1 ?? "" }, strips)).toBeNull();
    expect(timelineParams(null, [])).toEqual({ path: "1" });
    expect(groupOf(GROUPS, "module").value).toBe("module");
    expect(groupOf(GROUPS, "rank").value).toBe("place");
  });
});
