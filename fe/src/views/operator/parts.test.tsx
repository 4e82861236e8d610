import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { GPU_WORDS, HOSTILE, operatorRows, operators } from "../../testing/cases";
import type { OperatorPayload } from "../../api/types.gen";
import { CPU, GPU, reply } from "../../testing/replies";
import { nameOfKey } from "../parts_by_name";
import { chartTitle, operatorColumns, OperatorCharts } from "./parts";
import { Frames } from "./parts";
import { text } from "../../testing/page";

const links = {
  kernels: (name: string) => `#kernel=${name}`,
  timeline: (name: string) => `#timeline=${name}`,
};
const all = (names: readonly string[]): Uint32Array => Uint32Array.from(names.keys());

describe("OperatorCharts", () => {
  const draw = (names: string[], onSelect = (_: string): void => undefined): void => {
    const payload = { ...operators(names), vocabulary: { ...GPU_WORDS, device: "NPU" } };
    render(<OperatorCharts {...{ payload, onSelect }} found={all(names)} sortedBy="" top={5} />);
  };

  it("is titled in the vendor's word, and tells which part was pressed", () => {
    const chosen = vi.fn();
    draw(["aten::mm", "aten::add"], chosen);
    expect(document.querySelector("h3")?.textContent).toBe("NPU self time");
    fireEvent.click(screen.getAllByRole("button", { name: "aten::mm" })[0]!);
    expect(nameOfKey(chosen.mock.calls[0]?.[0] as string)).toBe("aten::mm");
  });

  it("pools what has no room", () => {
    draw(Array.from({ length: 30 }, (_, i) => `op${i}`));
    expect(screen.getAllByText("other (25)")).toHaveLength(2);
  });
});

it("chartTitle starts with a capital", () =>
  expect(chartTitle("device_self", "accelerator")).toBe("Accelerator self time"));

describe("operatorColumns", () => {
  const keys = (payload: OperatorPayload): string[] =>
    operatorColumns(payload, links).map((c) => c.key);
  const HOST = [
    ...["host_self_ns", "host_total_ns", "host_median_ns", "host_mean_ns"],
    ...["host_deviation_ns", "host_min_ns", "host_max_ns"],
  ];

  it("has every column of the payload", () => {
    expect(keys(reply("operator", GPU))).toEqual([
      "name",
      "time_share",
      "calls",
      "device_self_ns",
      "device_total_ns",
      ...HOST,
      "matrix_eligible",
      "matrix_self_share",
      "matrix_total_share",
      "attribution",
      "kernels",
      "timeline",
    ]);
    expect(keys(reply("operator?group=shape", GPU))).toContain("input_shapes");
    expect(keys(reply("operator?group=stack", GPU))).toEqual(
      expect.arrayContaining(["input_shapes", "stack"]),
    );
  });

  it("leaves out the accelerator on a CPU-only trace", () => {
    expect(keys(reply("operator", CPU))).toEqual([
      "name",
      "time_share",
      "calls",
      ...HOST,
      "attribution",
      "timeline",
    ]);
  });

  it("keeps exact values for copying and short ones for reading", () => {
    const rows = operatorRows(["aten::mm", "aten::mm"], {
      input_shapes: ["[[2,3],[3,4]]", null],
    });
    const stacks = [1, null];
    const frames = { parent: [-1, 0], frame: ["main.py(3): <module>", "dir/net.py(12): forward"] };
    const columns = operatorColumns(operators([], { group: "stack", rows, frames, stacks }), links);
    const shapes = columns.find((c) => c.key === "input_shapes");
    expect([shapes?.values[0], shapes?.short?.[0], shapes?.values[1]]).toEqual([
      "[[2,3],[3,4]]",
      "2×3, 3×4",
      null,
    ]);
    const stack = columns.find((c) => c.key === "stack");
    expect([stack?.values[0], stack?.short?.[0], stack?.values[1]]).toEqual([
      "dir/net.py(12): forward; main.py(3): <module>",
      "dir/net.py:12 forward",
      null,
    ]);
    expect(stack?.unknown?.(1)).toBe("no call stack");
  });

  it("links to the kernels only of operators that have device time", () => {
    const columns = operatorColumns(
      operators(["a", "b"], { rows: operatorRows(["a", "b"], { device_self_ns: [5, 0] }) }),
      links,
    );
    const column = columns.find((c) => c.key === "kernels");
    expect([column?.href?.(0), column?.href?.(1)]).toEqual(["#kernel=a", null]);
  });

  it("links to the calls on the timeline, but not those of the pooled row", () => {
    const column = operatorColumns(operators(["a", "other"], { pooled: 4 }), links).find(
      (c) => c.key === "timeline",
    );
    expect([column?.href?.(0), column?.href?.(1)]).toEqual(["#timeline=a", null]);
  });

  it("takes zero rows and 100,000", () => {
    expect(operatorColumns(operators([]), links)[0]?.values).toHaveLength(0);
    const names = Array.from({ length: 100_000 }, (_, i) => `op${i}`);
    const tree = {
      parent: names.map((_, i) => (i % 60 ? i - 1 : -1)),
      frame: names.map((_, i) => `dir/file${i}.py(${i}): f`),
    };
    const payload = operators([], {
      group: "stack",
      rows: operatorRows(names, {
        input_shapes: names.map(() => "[[1]]"),
      }),
      frames: tree,
      stacks: names.map((_, i) => i),
    });
    for (const column of operatorColumns(payload, links))
      expect(column.values).toHaveLength(100_000);
  });
});

it("Frames splits file, line and function, and stands frames without them", () => {
  render(<Frames frames={["dir/net.py(12): forward", "", HOSTILE]} />);
  expect(screen.getByText("forward")).toBeTruthy();
  expect(document.querySelector(".frame-place")?.textContent).toBe("dir/net.py:12");
  expect(text()).toContain("(no name)");
  expect(document.querySelector("img")).toBeNull();
});
