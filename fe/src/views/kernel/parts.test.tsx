import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HOSTILE, kernelRows, kernels, NAMED_BY } from "../fixtures";
import {
  AttributionLine,
  kernelColumns,
  KernelCharts,
  KernelDetail,
  UnattributedList,
} from "./parts";

afterEach(cleanup);
const text = (): string => document.body.textContent;
const links = (name: string): string => `#operator=${name}`;

describe("KernelCharts", () => {
  it("shows time by kernel, and matrix cores as yes, no and unknown, of the found rows", () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const payload = kernels(names, {
      rows: kernelRows(names, { matrix: [1, 0, 2, 0, 0, 0, 0, 0] }),
    });
    const found = Uint32Array.of(0, 1, 2, 3, 4, 5, 6);
    const more = { sortedBy: "", top: 5, onSelect: () => undefined };
    const { rerender } = render(<KernelCharts payload={payload} found={found} {...more} />);
    const [time, matrix] = document.querySelectorAll("figure");
    expect(time?.textContent).toContain("other (2)");
    for (const part of ["with Tensor Cores", "without", "not known"])
      expect(matrix?.textContent).toContain(part);
    rerender(<KernelCharts payload={payload} found={found} {...more} sortedBy="calls" top={3} />);
    expect(time?.textContent).toMatch(/^Calls by kernel.*other \(4\)/);
  });

  it("draws hostile kernel names as text", () => {
    render(
      <KernelCharts
        payload={kernels([HOSTILE], { rows: kernelRows([HOSTILE], { short_name: [HOSTILE] }) })}
        found={Uint32Array.of(0)}
        sortedBy=""
        top={5}
        onSelect={() => undefined}
      />,
    );
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("AttributionLine", () => {
  it("counts kernels, launches and operators", () => {
    render(
      <AttributionLine
        attribution={{
          device_events: 1000,
          kernels: 963,
          with_launch: 963,
          with_operator: 940,
          by: NAMED_BY,
        }}
      />,
    );
    const parts = [...document.querySelectorAll(".attribution-part")].map((p) => p.textContent);
    expect(parts).toEqual([
      "963 kernels",
      "963 with launch",
      "940 with operator (97.6 %)",
      "1\u202f000 device events",
    ]);
    expect(document.querySelector(".attribution")?.textContent).toMatch(/^In the whole trace:963/);
  });
  it("leads to the reasons only where an operator is missing", () => {
    const onWhy = vi.fn();
    render(
      <AttributionLine
        attribution={{
          device_events: 9,
          kernels: 9,
          with_launch: 9,
          with_operator: 8,
          by: NAMED_BY,
        }}
        onWhy={onWhy}
      />,
    );
    fireEvent.click(screen.getByText("Which kernels have no operator?"));
    expect(onWhy).toHaveBeenCalledOnce();
    cleanup();
    render(
      <AttributionLine
        attribution={{
          device_events: 9,
          kernels: 9,
          with_launch: 9,
          with_operator: 9,
          by: NAMED_BY,
        }}
        onWhy={onWhy}
      />,
    );
    expect(screen.queryByRole("button")).toBeNull();
  });
  it("has no share of nothing", () => {
    render(
      <AttributionLine
        attribution={{
          device_events: 3,
          kernels: 0,
          with_launch: 0,
          with_operator: 0,
          by: NAMED_BY,
        }}
      />,
    );
    expect(text()).not.toContain("%");
    expect(text()).not.toContain("NaN");
  });
});

it("UnattributedList names the reason, and draws nothing when there is none", () => {
  const { container } = render(<UnattributedList items={[]} />);
  expect(container.innerHTML).toBe("");
  render(<UnattributedList items={[{ reason: "no launch recorded", calls: 1, ns: 2_000_000 }]} />);
  expect(text()).toContain("no launch recorded 1 call, 2.00 ms");
});

describe("kernelColumns", () => {
  it("by name leaves out what only launches have", () => {
    const keys = kernelColumns(kernels(), links).map((c) => c.key);
    expect(keys).toEqual([
      "name",
      "time_share",
      "calls",
      "total_ns",
      "mean_ns",
      "min_ns",
      "max_ns",
      "blocks_per_sm",
      "occupancy",
    ]);
  });

  it("by properties lists the operator, or why it is not known", () => {
    const rows = kernelRows(["a", "b"], {
      operator: ["aten::mm", null],
      no_operator: [null, "no_launch"],
      grid: ["[1]", null],
      block: ["[32]", null],
      registers: [32, null],
      matrix_eligible: [1, 2],
      shared_memory_bytes: [0, null],
    });
    const columns = kernelColumns(kernels([], { group: "properties", rows }), links);
    expect(columns.map((c) => c.key)).toEqual(
      expect.arrayContaining([
        "operator",
        "grid",
        "block",
        "registers",
        "shared_memory_bytes",
        "matrix_eligible",
      ]),
    );
    const operator = columns.find((c) => c.key === "operator");
    expect([operator?.href?.(0), operator?.href?.(1), operator?.unknown?.(1)]).toEqual([
      "#operator=aten::mm",
      null,
      "no launch recorded",
    ]);
  });

  it("draws the short name and keeps the full one", () => {
    const column = kernelColumns(
      kernels(["void k<int>()"], { rows: kernelRows(["void k<int>()"], { short_name: ["k"] }) }),
      links,
    )[0];
    expect([column?.values[0], column?.short?.[0]]).toEqual(["void k<int>()", "k"]);
  });

  it("takes zero rows and 100,000", () => {
    for (const n of [0, 100_000]) {
      const names = Array.from({ length: n }, (_, i) => `k${i}`);
      for (const column of kernelColumns(kernels(names, { group: "properties" }), links))
        expect(column.values).toHaveLength(n);
    }
  });
});

it("KernelDetail shows the full name as text, to be copied", () => {
  render(<KernelDetail name={HOSTILE} timelineHref="#timeline" />);
  expect(document.querySelector("code")?.textContent).toBe(HOSTILE);
  expect(screen.getByRole("button", { name: "Copy the full name" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "Show on the timeline" }).getAttribute("href")).toBe(
    "#timeline",
  );
  expect(document.querySelector("img")).toBeNull();
});
