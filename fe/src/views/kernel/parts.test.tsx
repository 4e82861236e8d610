import { render, screen } from "@testing-library/preact";
import { describe, expect, it } from "vitest";
import { efficiency, onHost } from "../efficiency/fixtures";
import type { EfficiencyPayload } from "../../api/types.gen";
import { declaredTable, HOSTILE, kernelRows, kernels } from "../../testing/cases";
import { kernelColumns, KernelCharts, KernelDetail, UnattributedList } from "./parts";
import { text } from "../../testing/page";

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
});

it("UnattributedList names the reason, and draws nothing when there is none", () => {
  const { container } = render(<UnattributedList items={[]} />);
  expect(container.innerHTML).toBe("");
  render(<UnattributedList items={[{ reason: "no launch recorded", calls: 1, ns: 2_000_000 }]} />);
  expect(text()).toContain("no launch recorded 1 call, 2.00 ms");
});

describe("kernelColumns", () => {
  it("by name begins with time, calls, the roof and occupancy; deviation, least and most are for whoever wants them", () => {
    const payload = kernels(["void gemm<1>()", "sort"]);
    const kernels_together = declaredTable<EfficiencyPayload["kernels_together"]>(
      "kernels_together",
      2,
      {
        name: ["sort", "void gemm<1>()"],
        of_roof: [null, 0.54],
        roof: [null, "memory"],
        no_roof: ["not modelled", null],
      },
    );
    const columns = kernelColumns(payload, links, efficiency({ kernels_together }));
    expect(columns.filter(({ hidden }) => !hidden).map(({ key }) => key)).toEqual([
      "name",
      "total_ns",
      "calls",
      "mean_ns",
      "of_roof",
      "occupancy",
      "matrix",
      "blocks_per_sm",
    ]);
    expect(columns.find(({ key }) => key === "of_roof")?.values).toEqual([0.54, null]);
    expect(columns.find(({ key }) => key === "max_ns")?.hidden).toBe(true);
    const without = kernelColumns(payload, links, onHost()).map(({ key }) => key);
    expect(without).not.toContain("of_roof");
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
    const columns = kernelColumns(kernels([], { group: "properties", rows }), links, null);
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
      null,
    )[0];
    expect([column?.values[0], column?.short?.[0]]).toEqual(["void k<int>()", "k"]);
  });

  it("takes zero rows and 100,000", () => {
    for (const n of [0, 100_000]) {
      const names = Array.from({ length: n }, (_, i) => `k${i}`);
      for (const column of kernelColumns(kernels(names, { group: "properties" }), links, null))
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
