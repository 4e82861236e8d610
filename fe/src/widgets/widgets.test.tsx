import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { definitionOf } from "../base/definitions";
import { Menu, SearchBox, Segmented, Select, TextInput } from "./controls";
import { modeOf, orderedRange, shortNames, StepSelector } from "./steps";
import { Term } from "./tooltip";

afterEach(cleanup);

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
    wall_ns: 1e6,
    cold: index === 0,
    odd: index === 2,
  }));
  const all = { first: null, last: null, skipCold: false };

  it("chooses whole rows where a row is several steps, and takes an exact link", () => {
    const rows = [0, 25, 50].map((index) => ({
      step: index,
      steps: index === 50 ? 7 : 25,
      name: `ProfilerStep#${index}`,
      wall_ns: 1e6,
      cold: false,
      odd: false,
    }));
    const onChange = vi.fn();
    const { rerender } = render(
      <StepSelector steps={rows} value={{ ...all, first: 3, last: 3 }} onChange={onChange} />,
    );
    expect(screen.getByRole("radio", { name: "All 57" })).toBeTruthy();
    expect(screen.getByDisplayValue("step 3 of the trace")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Step"), { target: { value: "25" } });
    expect(onChange).toHaveBeenLastCalledWith({ first: 25, last: 49, skipCold: false });
    rerender(
      <StepSelector steps={rows} value={{ ...all, first: 0, last: 49 }} onChange={onChange} />,
    );
    fireEvent.change(screen.getByLabelText("to"), { target: { value: "56" } });
    expect(onChange).toHaveBeenLastCalledWith({ first: 0, last: 56, skipCold: false });
  });

  it("goes from all to one and to a range", () => {
    const onChange = vi.fn();
    const { rerender } = render(<StepSelector steps={steps} value={all} onChange={onChange} />);
    fireEvent.click(screen.getByRole("radio", { name: "One" }));
    expect(onChange).toHaveBeenLastCalledWith({ first: 0, last: 0, skipCold: false });
    rerender(
      <StepSelector
        steps={steps}
        value={{ first: 3, last: 3, skipCold: false }}
        onChange={onChange}
      />,
    );
    fireEvent.click(screen.getByRole("radio", { name: "Range" }));
    expect(onChange).toHaveBeenLastCalledWith({ first: 2, last: 3, skipCold: false });
    rerender(
      <StepSelector
        steps={steps}
        value={{ first: 1, last: 2, skipCold: false }}
        onChange={onChange}
      />,
    );
    fireEvent.change(screen.getByLabelText("From"), { target: { value: "3" } });
    expect(onChange).toHaveBeenLastCalledWith({ first: 3, last: 3, skipCold: false });
    fireEvent.change(screen.getByLabelText("to"), { target: { value: "0" } });
    expect(onChange).toHaveBeenLastCalledWith({ first: 0, last: 0, skipCold: false });
    expect(screen.getAllByRole("option", { name: "7 – 1.00 ms, odd" })).toHaveLength(2);
  });

  it("leaves cold steps out", () => {
    const onChange = vi.fn();
    render(<StepSelector steps={steps} value={all} onChange={onChange} />);
    fireEvent.click(screen.getByRole("checkbox", { name: /Skip cold steps/ }));
    expect(onChange).toHaveBeenCalledWith({ ...all, skipCold: true });
  });

  it("does not ask about cold steps when there are none", () => {
    render(<StepSelector steps={steps.slice(1)} value={all} onChange={vi.fn()} />);
    expect(screen.queryByRole("checkbox")).toBeNull();
  });

  it("shortens names only where numbers are left", () => {
    expect(shortNames(["ProfilerStep#9", "ProfilerStep#10"])).toEqual(["9", "10"]);
    expect(shortNames(["step", "step"])).toEqual(["step", "step"]);
    expect(shortNames(["train 1", "eval 2"])).toEqual(["train 1", "eval 2"]);
  });

  it("orders and bounds a range", () => {
    expect(orderedRange(9, -2, 4)).toEqual({ first: 0, last: 3 });
    expect([
      modeOf(all, 4),
      modeOf({ ...all, first: 2 }, 4),
      modeOf({ ...all, first: 1, last: 2 }, 4),
    ]).toEqual(["all", "one", "range"]);
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
