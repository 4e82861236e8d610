import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { StackItem } from "../../api/types.gen";
import { HOSTILE, operatorRows, operators } from "../fixtures";
import { nameOfKey } from "../parts_by_name";
import { charts } from "./model";
import { chartTitle, operatorColumns, OperatorCharts } from "./parts";
import { Frames, Stacks } from "./stacks";

afterEach(cleanup);
const text = (): string => document.body.textContent;
const links = {
  kernels: (name: string) => `#kernel=${name}`,
  timeline: (name: string) => `#timeline=${name}`,
};
const stack = (over: Partial<StackItem> = {}): StackItem => ({
  frames: ["<built-in mm>", "dir/net.py(12): forward", "main.py(3): <module>"],
  calls: 4,
  device_self_ns: 1000,
  device_total_ns: 2000,
  host_self_ns: 300,
  host_total_ns: 400,
  ...over,
});

describe("OperatorCharts", () => {
  it("draws four charts, in the vendor's word, and tells which slice was pressed", () => {
    const chosen = vi.fn();
    render(<OperatorCharts charts={charts(operators())} device="NPU" top={10} onSelect={chosen} />);
    expect([...document.querySelectorAll("h3")].map((h) => h.textContent)).toEqual([
      "NPU self time",
      "NPU total time",
      "Host self time",
      "Host total time",
    ]);
    fireEvent.click(screen.getAllByRole("button", { name: "aten::mm" })[0]!);
    expect(nameOfKey(chosen.mock.calls[0]?.[0] as string)).toBe("aten::mm");
  });

  it("draws the two of the host on a CPU-only trace", () => {
    const payload = operators(["aten::mm"], {
      has_device: false,
      rows: operatorRows(["aten::mm"], { device_self_ns: [null], device_total_ns: [null] }),
    });
    render(
      <OperatorCharts
        charts={charts(payload)}
        device="accelerator"
        top={10}
        onSelect={() => undefined}
      />,
    );
    expect(document.querySelectorAll("figure")).toHaveLength(2);
    expect(text()).not.toContain("ccelerator");
  });

  it("pools what is beyond the top", () => {
    const names = Array.from({ length: 30 }, (_, i) => `op${i}`);
    render(
      <OperatorCharts
        charts={charts(operators(names))}
        device="GPU"
        top={5}
        onSelect={() => undefined}
      />,
    );
    expect(screen.getAllByText("other (25)")).toHaveLength(4);
  });

  it("draws hostile names as text", () => {
    render(
      <OperatorCharts
        charts={charts(operators([HOSTILE]))}
        device="GPU"
        top={5}
        onSelect={() => undefined}
      />,
    );
    expect(document.querySelector("img")).toBeNull();
    expect(text()).toContain(HOSTILE);
  });
});

it("chartTitle starts with a capital", () =>
  expect(chartTitle("device_self", "accelerator")).toBe("Accelerator self time"));

describe("operatorColumns", () => {
  const keys = (over: Parameters<typeof operators>[1]): string[] =>
    operatorColumns(operators(undefined, over), links).map((c) => c.key);

  it("has every column of the payload", () => {
    expect(keys({})).toEqual([
      "name",
      "calls",
      "device_self_ns",
      "device_total_ns",
      "host_self_ns",
      "host_total_ns",
      "matrix_eligible",
      "matrix_self_share",
      "matrix_total_share",
      "kernels",
      "timeline",
    ]);
    const rows = operatorRows(["aten::mm"], { input_shapes: ["[[2,3]]"] });
    expect(keys({ group: "shape", rows })).toContain("input_shapes");
    expect(keys({ group: "stack", rows, stacks: [0] })).toEqual(
      expect.arrayContaining(["input_shapes", "stack"]),
    );
  });

  it("leaves out the accelerator on a CPU-only trace", () => {
    expect(
      keys({
        has_device: false,
        rows: operatorRows(["aten::mm"], {
          device_self_ns: [null],
          device_total_ns: [null],
          matrix_eligible: [2],
          matrix_self_share: [null],
          matrix_total_share: [null],
        }),
      }),
    ).toEqual(["name", "calls", "host_self_ns", "host_total_ns", "timeline"]);
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

describe("Stacks", () => {
  it("shows the figures and opens to frames that can be copied", () => {
    render(
      <Stacks
        stacks={[stack(), stack({ frames: [HOSTILE] })]}
        without={3}
        hasDevice
        device="GPU"
      />,
    );
    const [first, second] = document.querySelectorAll("details");
    expect(first?.querySelector("summary")?.textContent).toContain("dir/net.py:12 forward");
    expect(first?.textContent).toContain("GPU self 1.00 µs");
    expect(document.querySelectorAll(".frame")).toHaveLength(0);
    for (const details of [first!, second!]) fireEvent.click(details.querySelector("summary")!);
    expect(first?.querySelectorAll(".frame")).toHaveLength(3);
    expect(screen.getAllByRole("button", { name: "Copy stack" })).toHaveLength(2);
    expect(text()).toContain("3 calls have no call stack.");
    expect(document.querySelector("img")).toBeNull();
  });

  it("opens the only one, and draws thousands by and by", () => {
    render(<Stacks stacks={[stack()]} without={0} hasDevice device="GPU" />);
    expect(document.querySelectorAll(".frame")).toHaveLength(3);
    cleanup();
    const many = Array.from({ length: 5000 }, (_, i) => stack({ frames: [`f.py(${i}): f`] }));
    render(<Stacks stacks={many} without={0} hasDevice device="GPU" />);
    expect(document.querySelectorAll("details")).toHaveLength(50);
    fireEvent.click(screen.getByText(/4.950 more call stacks/));
    expect(document.querySelectorAll("details")).toHaveLength(100);
  });

  it("speaks of no accelerator on a CPU-only trace", () => {
    render(
      <Stacks
        stacks={[stack({ device_self_ns: null, device_total_ns: null })]}
        without={0}
        hasDevice={false}
        device="GPU"
      />,
    );
    expect(text()).not.toContain("GPU");
  });
});

it("Frames splits file, line and function, and stands frames without them", () => {
  render(<Frames frames={["dir/net.py(12): forward", "", HOSTILE]} />);
  expect(screen.getByText("forward")).toBeTruthy();
  expect(document.querySelector(".frame-place")?.textContent).toBe("dir/net.py:12");
  expect(text()).toContain("(no name)");
  expect(document.querySelector("img")).toBeNull();
});
