import { fireEvent, render, type RenderResult, screen, within } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Grid } from "./Grid";
import type { Column, GridProps } from "./types";

const N = 5000;
const COLUMNS: Column[] = [
  {
    key: "name",
    label: "Name",
    kind: "text",
    values: Array.from({ length: N }, (_, i) => `op_${i}`),
  },
  {
    key: "calls",
    label: "Calls",
    kind: "count",
    values: Float64Array.from({ length: N }, (_, i) => (i * 37) % N),
  },
  {
    key: "time",
    label: "Time",
    kind: "time",
    values: Array.from({ length: N }, (_, i) => (i === 3 ? null : i * 1000)),
  },
];

const show = (props: Partial<GridProps> = {}): RenderResult =>
  render(<Grid label="Operators" columns={COLUMNS} {...props} />);
const names = (): string[] =>
  screen
    .getAllByRole("rowheader")
    .map((cell) => cell.querySelector(".cell-text")?.textContent ?? "");
const grid = (): HTMLElement => screen.getByRole("grid", { name: "Operators" });
const press = (key: string, more = {}): boolean => fireEvent.keyDown(grid(), { key, ...more });
const activeText = (): string | undefined =>
  document.querySelector(`#${grid().getAttribute("aria-activedescendant") ?? "none"}`)?.textContent;

beforeEach(() => localStorage.clear());

describe("the grid", () => {
  it("draws a window of the rows and tells how many there are", () => {
    show();
    expect(grid().getAttribute("aria-rowcount")).toBe("5001");
    expect(names().length).toBeLessThan(80);
    expect(screen.getByText("5 000 rows")).toBeTruthy();
  });

  it("sorts by pressing a head, and says so", () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "Calls" }));
    expect(screen.getByRole("columnheader", { name: /Calls/ }).getAttribute("aria-sort")).toBe(
      "descending",
    );
    const best = [...Array(N).keys()].find((i) => (i * 37) % N === N - 1)!;
    expect(names()[0]).toBe(`op_${best}`);
  });

  it("searches by words and by pattern, and shows what is wrong with a pattern", () => {
    show();
    const box = screen.getByRole("textbox");
    fireEvent.input(box, { target: { value: "op_499" } });
    expect(names()).toEqual(["op_499", ...Array.from({ length: 10 }, (_, i) => `op_499${i}`)]);
    expect(screen.getByText("11 of 5 000")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Regular expression" }));
    fireEvent.input(box, { target: { value: "^op_7$" } });
    expect(names()).toEqual(["op_7"]);
    fireEvent.input(box, { target: { value: "(" } });
    expect(screen.getByRole("alert").textContent).toMatch(/Invalid regular expression/);
    fireEvent.input(box, { target: { value: "nothing at all" } });
    expect(screen.getByText("No row matches")).toBeTruthy();
  });

  it("tells its owner about sort and search, and obeys it", () => {
    const onSort = vi.fn();
    const onSearch = vi.fn();
    show({
      sort: { key: "time", descending: true },
      onSort,
      search: { text: "op_1", regex: false },
      onSearch,
    });
    expect(names()[0]).toBe("op_1999");
    fireEvent.click(screen.getByRole("button", { name: "Time" }));
    expect(onSort).toHaveBeenCalledWith({ key: "time", descending: false });
    expect(names()[0]).toBe("op_1999");
    fireEvent.click(screen.getByRole("button", { name: "Clear the search" }));
    expect(onSearch).toHaveBeenCalledWith({ text: "", regex: false });
  });

  it("moves by keys", () => {
    show();
    fireEvent.focus(grid());
    expect(activeText()).toContain("op_0");
    press("ArrowDown");
    press("ArrowRight");
    expect(activeText()).toBe("37");
    press("End");
    expect(activeText()).toContain("1.00 µs");
    press("Home", { ctrlKey: true });
    expect(activeText()).toContain("op_0");
  });

  it("draws bars as long as the values are large, those of the longest too", () => {
    show({
      columns: [{ key: "ns", label: "Total", kind: "time", bar: true, values: [1000, 950, 0] }],
      sort: null,
    });
    const lengths = [...document.querySelectorAll(".cell-bar")].map(
      (bar) => /\* ([\d.]+)\)/.exec(bar.getAttribute("style") ?? "")?.[1],
    );
    expect(lengths).toEqual(["1", "0.95", "0"]);
  });

  it("copies the exact value of a cell", () => {
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    show();
    fireEvent.focus(grid());
    press("ArrowDown");
    press("End");
    press("c", { ctrlKey: true });
    expect(writeText).toHaveBeenCalledWith("1000");
    vi.unstubAllGlobals();
  });

  it("opens rows by Enter and by the button, and keeps them open through a sort", () => {
    show({ detail: (row) => <p>details of {row}</p>, expandable: (row) => row !== 1, sort: null });
    fireEvent.focus(grid());
    press("Enter");
    expect(screen.getByText("details of 0")).toBeTruthy();
    press("ArrowDown");
    press("Enter");
    expect(screen.queryByText("details of 1")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Details of op_2" }));
    expect(screen.getByText("details of 2")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Details of op_0" }));
    expect(screen.queryByText("details of 0")).toBeNull();
  });

  it("keeps open rows over new data by their key", () => {
    const short = (list: string[]): Column[] => [
      { key: "name", label: "Name", kind: "text", values: list },
    ];
    const first = ["a", "b"];
    const second = ["b", "a"];
    const detail = (row: number): string => `detail ${row}`;
    const { rerender } = render(
      <Grid
        label="Operators"
        columns={short(first)}
        detail={detail}
        rowKey={(row) => first[row]!}
      />,
    );
    fireEvent.click(screen.getByRole("button", { name: "Details of a" }));
    rerender(
      <Grid
        label="Operators"
        columns={short(second)}
        detail={detail}
        rowKey={(row) => second[row]!}
      />,
    );
    expect(screen.getByText("detail 1")).toBeTruthy();
    rerender(<Grid label="Operators" columns={short(["x", "y"])} detail={detail} />);
    expect(screen.queryByText(/detail/)).toBeNull();
  });

  it("follows a link by Enter", () => {
    const onFollow = vi.fn();
    const columns: Column[] = [{ ...COLUMNS[0]!, href: (row) => `#${row}`, onFollow }];
    show({ columns });
    fireEvent.focus(grid());
    press("ArrowDown");
    press("Enter");
    expect(onFollow).toHaveBeenCalledWith(1);
  });

  it("hides and shows columns, and remembers it", () => {
    const { unmount } = show({ storage: "test" });
    fireEvent.click(screen.getByRole("button", { name: "Columns" }));
    fireEvent.click(within(screen.getByRole("group", { name: "Columns" })).getByLabelText("Calls"));
    expect(screen.queryByRole("columnheader", { name: /Calls/ })).toBeNull();
    unmount();
    show({ storage: "test" });
    expect(screen.queryByRole("columnheader", { name: /Calls/ })).toBeNull();
    expect(grid().getAttribute("aria-colcount")).toBe("2");
  });

  it("saves the shown rows and columns with exact values", async () => {
    const saved: Blob[] = [];
    vi.spyOn(URL, "createObjectURL").mockImplementation(
      (blob) => `blob:${saved.push(blob as Blob)}`,
    );
    show({
      search: { text: "op_3", regex: false },
      sort: { key: "time", descending: false },
      pinned: [1],
    });
    fireEvent.click(screen.getByRole("button", { name: /Download the/ }));
    const lines = (await saved[0]!.text()).split("\r\n");
    expect(lines.slice(0, 2)).toEqual(["Name,Calls,Time (ns)", "op_30,1110,30000"]);
    expect(lines.at(-2)).toBe("op_1,37,1000");
    expect(lines.at(-3)).toBe("op_3,111,");
  });

  it("shows the order in which the rows came, and turns it at the first press", () => {
    const onSort = vi.fn();
    show({ order: { key: "calls", descending: true }, onSort });
    const head = screen.getByRole("columnheader", { name: /Calls/ });
    expect(head.getAttribute("aria-sort")).toBe("descending");
    fireEvent.click(screen.getByRole("button", { name: "Calls" }));
    expect(onSort).toHaveBeenLastCalledWith({ key: "calls", descending: false });
  });

  it("draws charts of the rows that a search leaves when asked for them", () => {
    show({
      search: { text: "op_499", regex: false },
      aside: (found) => <p>{found.length} found</p>,
    });
    expect(screen.queryByText("11 found")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Charts" }));
    expect(screen.getByText("11 found")).toBeTruthy();
  });

  it("copies the shown rows for spreadsheets and as Markdown, without columns that only lead on", async () => {
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    const go: Column = { key: "go", label: "Go", kind: "text", values: ["there"], action: true };
    const few = COLUMNS.map((column) => ({
      ...column,
      values: Array.from(column.values).slice(3, 4),
    }));
    show({ columns: [...few, go] });
    fireEvent.click(screen.getByRole("button", { name: "Copy" }));
    fireEvent.click(screen.getByRole("button", { name: /spreadsheet/ }));
    await vi.waitFor(() => expect(writeText).toHaveBeenCalledTimes(1));
    fireEvent.click(screen.getByRole("button", { name: /Markdown/ }));
    await vi.waitFor(() => expect(writeText).toHaveBeenCalledTimes(2));
    expect(writeText.mock.calls).toEqual([
      ["Name\tCalls\tTime (ns)\nop_3\t111\t\n"],
      ["| Name | Calls | Time (ns) |\n| --- | --- | --- |\n| op_3 | 111 |  |\n"],
    ]);
    vi.unstubAllGlobals();
  });

  it("shows unknown as unknown", () => {
    show({ columns: [COLUMNS[0]!, { ...COLUMNS[2]!, unknown: (row) => `reason ${row}` }] });
    expect(screen.getByTitle("reason 3").textContent).toBe("–");
  });

  describe("as a tree", () => {
    const tree = {
      columns: [
        { key: "name", label: "Name", kind: "text", values: ["net", "conv", "weight", "head"] },
      ] as Column[],
      tree: [-1, 0, 1, -1],
    };
    const treegrid = (): HTMLElement => screen.getByRole("treegrid", { name: "Operators" });
    const key = (name: string): boolean => fireEvent.keyDown(treegrid(), { key: name });

    it("folds and opens by the button and by all, and says how deep a row lies", () => {
      show(tree);
      expect(names()).toEqual(["net", "conv", "weight", "head"]);
      expect(screen.getByRole("row", { name: /weight/ }).getAttribute("aria-level")).toBe("3");
      fireEvent.click(screen.getByRole("button", { name: "Children of conv" }));
      expect(names()).toEqual(["net", "conv", "head"]);
      expect(screen.getByRole("row", { name: /conv/ }).getAttribute("aria-expanded")).toBe("false");
      fireEvent.click(screen.getByRole("button", { name: "Collapse all" }));
      expect(names()).toEqual(["net", "head"]);
      fireEvent.click(screen.getByRole("button", { name: "Expand all" }));
      expect(names()).toHaveLength(4);
    });

    it("folds, opens and goes up by arrows", () => {
      show(tree);
      fireEvent.focus(treegrid());
      key("ArrowDown");
      key("ArrowLeft");
      expect(names()).toEqual(["net", "conv", "head"]);
      key("ArrowRight");
      expect(names()).toHaveLength(4);
      key("ArrowDown");
      key("ArrowLeft");
      expect(
        document.querySelector(`#${treegrid().getAttribute("aria-activedescendant") ?? "none"}`)
          ?.textContent,
      ).toContain("conv");
    });

    it("opens what leads to a found row, and forgets it with the search", () => {
      show(tree);
      fireEvent.click(screen.getByRole("button", { name: "Collapse all" }));
      fireEvent.input(screen.getByRole("textbox"), { target: { value: "weight" } });
      expect(names()).toEqual(["net", "conv", "weight"]);
      expect(screen.getByText("1 of 4")).toBeTruthy();
      fireEvent.input(screen.getByRole("textbox"), { target: { value: "" } });
      expect(names()).toEqual(["net", "head"]);
    });

    it("saves all rows with their level, also folded ones", async () => {
      const saved: Blob[] = [];
      vi.spyOn(URL, "createObjectURL").mockImplementation(
        (blob) => `blob:${saved.push(blob as Blob)}`,
      );
      show(tree);
      fireEvent.click(screen.getByRole("button", { name: "Collapse all" }));
      fireEvent.click(screen.getByRole("button", { name: /Download the 4/ }));
      expect((await saved[0]!.text()).split("\r\n")).toEqual([
        "Level,Name",
        "0,net",
        "1,conv",
        "2,weight",
        "0,head",
        "",
      ]);
    });
  });
});
