import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { definitionOf } from "../base/definitions";
import { Menu, SearchBox, Segmented, Select, TextInput } from "./controls";
import { barsOf, stepsLabel, StepSelector } from "./steps";
import { Term } from "./tooltip";

describe("Term", () => {
  const key = "step";
  const definition = definitionOf(key);
  it("shows its definition on focus and on hover, and hides it by Escape", async () => {
    render(<Term id={key} />);
    const term = screen.getByText(definition!.label);
    fireEvent.focusIn(term);
    expect((await screen.findByRole("tooltip")).textContent).toBe(definition!.text);
    expect(term.getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
    fireEvent.keyDown(document.body, { key: "Escape" });
    await vi.waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
    fireEvent.pointerEnter(term);
    await screen.findByRole("tooltip");
    fireEvent.pointerLeave(term);
    await vi.waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  });
  it.each([
    ["pressed", fireEvent.pointerDown],
    ["used by the keyboard", fireEvent.keyDown],
  ])("goes away when the control that it is about is %s", async (_, use) => {
    render(
      <Term id={key} focusable={false}>
        <button>Go</button>
      </Term>,
    );
    fireEvent.pointerEnter(screen.getByText("Go").parentElement!);
    await screen.findByRole("tooltip");
    use(screen.getByText("Go"));
    await vi.waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  });
  it("is plain text where the docs define nothing", () => {
    render(<Term id="no_such_key">Label</Term>);
    expect(screen.getByText("Label").getAttribute("tabindex")).toBeNull();
  });
});

it("shows a value that is not among the options any more", () => {
  render(
    <Select label="Run" value="gone" options={[{ value: "a", label: "a" }]} onChange={vi.fn()} />,
  );
  expect(screen.getByRole("option", { name: "gone (not found)" })).toBeTruthy();
});

it("is a radio group", () => {
  const onChange = vi.fn();
  render(
    <Segmented
      label="Group"
      value="a"
      options={[
        { value: "a", label: "A" },
        { value: "b", label: "B" },
      ]}
      onChange={onChange}
    />,
  );
  fireEvent.click(screen.getByRole("radio", { name: "B" }));
  expect(onChange).toHaveBeenCalledWith("b");
});

it("clears a search by Escape", () => {
  const onChange = vi.fn();
  render(<SearchBox label="Search" text="x" regex={true} onChange={onChange} />);
  fireEvent.keyDown(screen.getByRole("textbox"), { key: "Escape" });
  expect(onChange).toHaveBeenCalledWith({ text: "", regex: true });
});

it("closes a menu by Escape and gives the focus back", () => {
  render(
    <Menu label="More">
      <p>inside</p>
    </Menu>,
  );
  const button = screen.getByRole("button", { name: "More" });
  fireEvent.click(button);
  fireEvent.keyDown(screen.getByText("inside"), { key: "Escape" });
  expect(screen.queryByText("inside")).toBeNull();
  expect(document.activeElement).toBe(button);
});

describe("StepSelector", () => {
  const steps = [0, 1, 2, 3].map((index) => ({
    step: index,
    steps: 1,
    name: `ProfilerStep#${index + 5}`,
    wall_ns: 1e6 * (index + 1),
    cold: index === 0,
    odd: index === 2,
  }));
  const merged = [0, 25, 50].map((index) => ({
    step: index,
    steps: index === 50 ? 7 : 25,
    name: `ProfilerStep#${index} to ProfilerStep#${index + (index === 50 ? 6 : 24)}`,
    wall_ns: 25e6,
    cold: false,
    odd: false,
  }));
  const all = { first: null, last: null, skipCold: false };
  const range = (first: number, last: number, skipCold = false) => ({ first, last, skipCold });

  it.each([
    [steps, all, "All 4 steps"],
    [steps, { ...all, skipCold: true }, "Steps 6 to 8"],
    [steps, range(0, 2, true), "Steps 6 to 7"],
    // A cold step that is chosen alone is wanted.
    [steps, range(0, 0, true), "Step 5"],
    [steps, { ...all, first: 3 }, "Step 8"],
    [steps, range(1, 3), "Steps 6 to 8"],
    [steps, range(9, 9), "No step"],
    [steps.slice(0, 1), all, "One step"],
    [[], all, "No steps"],
    [merged, all, "All 57 steps"],
    [merged, range(0, 49), "Steps 0 to 49"],
    [merged, range(3, 3), "Step 3 of the trace"],
    [merged, range(3, 30), "28 of 57 steps"],
    [steps.map((row, i) => ({ ...row, name: `train ${i}` })), range(1, 2), "2 of 4 steps"],
    [
      steps.map((row, i) => ({ ...row, cold: i === 1 })),
      { ...all, skipCold: true },
      "3 of 4 steps",
    ],
  ])("is called by what is chosen", (rows, value, text) =>
    expect(stepsLabel(rows, value)).toBe(text),
  );

  it("has no more bars than have room, with the time of one step", () => {
    expect(barsOf(merged).map((bar) => [bar.name, bar.wall_ns])).toEqual([
      ["0 to 24", 1e6],
      ["25 to 49", 1e6],
      ["50 to 56", 25e6 / 7],
    ]);
    expect(barsOf(steps, 2)).toEqual([
      { step: 0, steps: 2, name: "5 to 6", wall_ns: 2e6, cold: true, odd: false },
      { step: 2, steps: 2, name: "7 to 8", wall_ns: 4e6, cold: false, odd: true },
    ]);
  });

  function opened(value: typeof all | ReturnType<typeof range>) {
    const onChange = vi.fn();
    render(<StepSelector steps={steps} value={value} onChange={onChange} median={1} />);
    fireEvent.click(screen.getByRole("button", { name: /^Steps: / }));
    const bars = screen.getByRole("listbox", { name: "Steps" });
    vi.spyOn(bars, "getBoundingClientRect").mockReturnValue({ left: 0, width: 400 } as DOMRect);
    bars.setPointerCapture = vi.fn();
    return { bars, onChange };
  }

  it("is chosen by a press, and several by a drag; who draws over a cold one wants it", () => {
    const { bars, onChange } = opened({ ...all, skipCold: true });
    fireEvent.pointerDown(bars, { clientX: 350 });
    fireEvent.pointerMove(bars, { clientX: 120 });
    expect(screen.getAllByRole("option", { selected: true })).toHaveLength(3);
    fireEvent.pointerUp(bars, { clientX: 120 });
    expect(onChange).toHaveBeenLastCalledWith(range(1, 3, true));
    expect(screen.queryByRole("listbox")).toBeNull();
    cleanup();
    const again = opened({ ...all, skipCold: true });
    fireEvent.pointerDown(again.bars, { clientX: 0 });
    fireEvent.pointerUp(again.bars, { clientX: 150 });
    expect(again.onChange).toHaveBeenLastCalledWith(range(0, 1));
  });

  it("is chosen by the keyboard", () => {
    const { bars, onChange } = opened(range(1, 1));
    fireEvent.keyDown(bars, { key: "ArrowRight" });
    fireEvent.keyDown(bars, { key: "ArrowRight", shiftKey: true });
    expect(bars.getAttribute("aria-activedescendant")).toBe(screen.getAllByRole("option")[3]?.id);
    expect(onChange).not.toHaveBeenCalled();
    fireEvent.keyDown(bars, { key: "Enter" });
    expect(onChange).toHaveBeenLastCalledWith(range(2, 3));
  });

  it("offers all but the cold, the median and the odd ones", () => {
    const { onChange } = opened(all);
    expect(screen.getByRole("button", { name: /^All 4 steps/ }).getAttribute("aria-pressed")).toBe(
      "true",
    );
    expect(screen.getByRole("button", { name: "Step 6 the median, 2.00 ms" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Step 7 odd, 3.00 ms" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Steps 6 to 8 all but the cold one" }));
    expect(onChange).toHaveBeenCalledWith({ ...all, skipCold: true });
  });
});

it("a field whose value follows each key is emptied with it", () => {
  const props = { "aria-label": "Name", onInput: vi.fn() };
  const { rerender } = render(<TextInput {...props} value="" />);
  const field = screen.getByLabelText<HTMLInputElement>("Name");
  fireEvent.input(field, { target: { value: "a" } });
  rerender(<TextInput {...props} value="a" />);
  rerender(<TextInput {...props} value="" />);
  expect([props.onInput.mock.calls, field.value]).toEqual([[["a"]], ""]);
});
