import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { linearAxis } from "./axes";
import { Donut } from "./Donut";
import { Figure, tableCsv } from "./Figure";
import { poolParts, ringPath } from "./parts";
import { piecesOf, slotsOf } from "./stack";
import { StackedBars } from "./StackedBars";

describe("poolParts", () => {
  const parts = [3, 1, 5, 0, 2].map((value, i) => ({ key: `k${i}`, label: `l${i}`, value }));
  it("sorts, leaves out nothing but 0, and pools the rest", () => {
    const drawn = poolParts(parts, 2);
    expect(drawn.map(({ key, value, pooled }) => [key, value, pooled])).toEqual([
      ["k2", 5, 1],
      ["k0", 3, 1],
      ["other", 3, 2],
    ]);
    expect(drawn.reduce((sum, part) => sum + part.share, 0)).toBeCloseTo(1);
  });
  it("names a single one that would be pooled alone", () =>
    expect(poolParts(parts, 3).map((part) => part.key)).toEqual(["k2", "k0", "k4", "k1"]));
});

it("closes a ring of one part", () => expect(ringPath(0, 1, 30, 50).match(/M/g)?.length).toBe(2));

describe("linearAxis", () => {
  it.each([
    [17.3e6, ["0", "5", "10", "15", "20"], "ms"],
    [950, ["0", "200", "400", "600", "800", "1\u202f000"], "ns"],
    [2.3e9, ["0", "0.5", "1.0", "1.5", "2.0", "2.5"], "s"],
  ])("has round ticks for %d ns", (largest, labels, unit) => {
    const { ticks, scale, max } = linearAxis(largest, "ns");
    expect([ticks.map(scale.text), scale.unit]).toEqual([labels, unit]);
    expect(max).toBeGreaterThanOrEqual(largest);
  });
  it("counts in whole ones", () => expect(linearAxis(3, "count").ticks).toEqual([0, 1, 2, 3]));
  it("has an end when there is nothing", () =>
    expect([linearAxis(0, "ns").max, linearAxis(NaN, "ns").max]).toEqual([1, 1]));
});

describe("stacked bars", () => {
  it("stack without gaps to the height of their sum", () => {
    const pieces = piecesOf([1, 0, 3], 8, 100);
    expect(pieces).toEqual([
      { series: 0, y: 87.5, height: 12.5 },
      { series: 2, y: 50, height: 37.5 },
    ]);
  });
  it("scroll instead of getting too thin, with labels that do not touch", () => {
    const slots = slotsOf(500, 700, 20);
    expect(slots.width).toBeGreaterThan(700);
    expect(slots.every * slots.slot).toBeGreaterThan(20);
    expect(slotsOf(5, 700, 20).width).toBe(700);
    // Two bars stand in the middles of the halves.
    expect(slotsOf(2, 700, 20)).toMatchObject({ slot: 350, bar: 120 });
  });

  const bars = [0, 1, 2].map((key) => ({
    key,
    label: `${key}`,
    title: `Step ${key}`,
    values: [1e6, 2e6],
    mark: key === 1 ? "odd: too slow" : "",
  }));
  const series = [
    { key: "a", label: "Kernel", color: "red" },
    { key: "b", label: "Other", color: "blue" },
  ];
  it("tell every value, mark the odd one, and choose by click and by key", () => {
    const onSelect = vi.fn();
    render(
      <StackedBars
        label="Steps"
        series={series}
        bars={bars}
        unit="ns"
        onSelect={onSelect}
        selected={2}
      />,
    );
    const odd = screen.getByRole("button", {
      name: "Step 1: 3.00 ms. Kernel 1.00 ms, Other 2.00 ms. odd: too slow",
    });
    fireEvent.click(odd);
    expect(onSelect).toHaveBeenLastCalledWith(1);
    expect(screen.getByRole("button", { name: /^Step 2/ }).getAttribute("aria-pressed")).toBe(
      "true",
    );
    fireEvent.focus(screen.getByRole("button", { name: /^Step 0/ }));
    fireEvent.keyDown(screen.getByRole("button", { name: /^Step 0/ }), { key: "Enter" });
    expect(onSelect).toHaveBeenLastCalledWith(0);
    expect(document.querySelector(".chart-tip")?.textContent).toContain("Step 0");
  });
  it("draw only the bars again that the pointer leaves and comes to", () => {
    const drawn = [0, 0, 0];
    const counted = bars.map((bar, i) =>
      Object.defineProperty({ ...bar }, "mark", {
        get: () => ((drawn[i] = (drawn[i] ?? 0) + 1), ""),
      }),
    );
    render(<StackedBars label="Steps" series={series} bars={counted} unit="ns" />);
    const before = [...drawn];
    fireEvent.pointerEnter(screen.getByRole("button", { name: /^Step 1/ }));
    expect(document.querySelector(".chart-tip")?.textContent).toContain("Step 1");
    expect(drawn.map((times, i) => times > (before[i] ?? 0))).toEqual([true, true, false]);
  });
  it("have one tab stop", () => {
    render(<StackedBars label="Steps" series={series} bars={bars} unit="ns" />);
    expect(screen.getAllByRole("button").map((bar) => bar.getAttribute("tabindex"))).toEqual([
      "0",
      "-1",
      "-1",
    ]);
  });
});

it("shows a figure's data as a table", () => {
  const table = {
    columns: [{ label: "Step" }, { label: "Time", unit: "ns" as const }],
    rows: [
      ["a", 1_234_567],
      ["b", null],
    ],
  };
  render(
    <Figure title="Times" table={table}>
      <p>chart</p>
    </Figure>,
  );
  fireEvent.click(screen.getByRole("button", { name: "Show Times as a data table" }));
  expect(screen.queryByText("chart")).toBeNull();
  const rows = screen.getAllByRole("row").map(({ textContent }) => textContent);
  expect(rows).toEqual(["StepTime", "a1.23 ms", "b–"]);
  expect(screen.getByText("1.23 ms").title).toBe("1234567");
  expect(tableCsv(table)).toBe("Step,Time (ns)\r\na,1234567\r\nb,\r\n");
});

it("lists a donut's parts in words", () => {
  const onSelect = vi.fn();
  render(
    <Donut
      label="Self time"
      parts={[
        { key: "x", label: "aten::mm", value: 3e6 },
        { key: "y", label: "aten::add", value: 1e6 },
      ]}
      unit="ns"
      caption="total"
      onSelect={onSelect}
    />,
  );
  expect(screen.getByRole("img").getAttribute("aria-label")).toBe(
    "Self time: aten::mm 75.0 %, aten::add 25.0 %",
  );
  fireEvent.click(screen.getByRole("button", { name: "aten::mm" }));
  expect(onSelect).toHaveBeenCalledWith("x");
});
