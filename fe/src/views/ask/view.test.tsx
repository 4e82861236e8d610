import { fireEvent, render, screen, within } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AskTable } from "../../api/types.gen";
import { pageStore, startLocation } from "../../state/location";
import { queriesOf, serve, viewProps } from "../../testing/page";
import { figureOf, kindName, leadsTo, piecesOf, type Row } from "./model";
import { Ask } from "./view";

const ROW: Row = {
  ...{ kind: "operator", name: "aten::_softmax", label: "aten::_softmax", more: "", calls: 180 },
  ...{ time_ns: 263e6, path_ns: 263e6, change_ns: null, bytes: null },
  to: "view=operator&search=%5Eaten%3A%3A_softmax%24&regex=1",
};
const FINDING: Row = {
  ...{ ...ROW, kind: "finding", name: "Call it", label: "Call it", calls: null, time_ns: null },
  ...{ change_ns: -380e6, to: "view=overview" },
};
const WORD: Row = { ...FINDING, kind: "word", label: "Softmax", more: "What it is.", to: "" };

const tableOf = (rows: readonly Row[]): AskTable =>
  Object.fromEntries(
    Object.keys(ROW).map((key) => [key, rows.map((row) => row[key as keyof Row])]),
  ) as unknown as AskTable;

const answer = (rows: readonly Row[], sentence = "") => ({
  ...{ subject: {}, sentence, over: "Times are of step 6." },
  rows: tableOf(rows),
});

function open(filter = "search", rows: readonly Row[] = [FINDING, ROW, WORD]) {
  const asked = serve({ ask: (url: URL) => answer(url.searchParams.get("q") ? rows : [FINDING]) });
  const actions = { setParam: vi.fn(), setSteps: vi.fn() };
  const onClose = vi.fn();
  const props = viewProps({}, actions);
  const hrefOf = vi.fn(() => `${location.href.replace(/#.*/, "")}#view=kernel`);
  render(<Ask {...{ ...props, hrefOf, filter, onClose }} here="kernel" />);
  const field = screen.getByRole("combobox", { name: "Ask" });
  const type = async (text: string) => {
    fireEvent.input(field, { target: { value: text } });
    await vi.waitFor(() => expect(queriesOf(asked, "ask").at(-1)?.q).toBe(text));
    await vi.waitFor(() => expect(screen.getAllByRole("option")).toHaveLength(rows.length));
  };
  return { asked, field, type, onClose, hrefOf, ...actions };
}

const chosen = (): string | undefined =>
  screen.getAllByRole("option").find((one) => one.getAttribute("aria-selected") === "true")
    ?.textContent;

describe("the field", () => {
  let end: () => void;
  beforeEach(() => {
    end = startLocation();
    return () => end();
  });

  it("answers as one types, arrows choose, and Enter goes", async () => {
    const { field, type, hrefOf, onClose } = open();
    await type("softmax");
    expect(chosen()).toBe("FindingCall it −380 ms");
    fireEvent.keyDown(field, { key: "ArrowDown" });
    expect(chosen()).toBe("Operatoraten::_softmax × 180263 ms");
    expect(field.getAttribute("aria-activedescendant")).toBe(screen.getAllByRole("option")[1]?.id);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(hrefOf.mock.calls.at(-1)?.slice(0, 2)).toEqual([
      "operator",
      { search: "^aten::_softmax$", regex: "1" },
    ]);
    expect(onClose).toHaveBeenCalledTimes(1);
    expect(pageStore.get().view).toBe("kernel");
  });

  it("filters this place by Alt Enter, a pattern between slashes as one", async () => {
    const { field, type, setParam, onClose } = open();
    await type("/soft.*x/");
    fireEvent.keyDown(field, { key: "Enter", altKey: true });
    expect(setParam.mock.calls).toEqual([
      ["search", "soft.*x"],
      ["regex", "1"],
    ]);
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it("offers no filter where the place has none", () => {
    open("");
    expect(screen.queryByRole("button", { name: /filter this page/ })).toBeNull();
  });

  it("does not go where an earlier question led", async () => {
    const { field, type, hrefOf } = open();
    await type("softmax");
    fireEvent.input(field, { target: { value: "gemm" } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(hrefOf).not.toHaveBeenCalled();
  });

  it("says what a word means below the list, and goes nowhere", async () => {
    const { field, type, onClose } = open();
    await type("softmax");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) fireEvent.keyDown(field, { key });
    expect(screen.getByText("What it is.")).toBeTruthy();
    expect(onClose).not.toHaveBeenCalled();
  });

  it("asks the question that a row is", async () => {
    const { field, type } = open("", [{ ...FINDING, to: "ask=why+7" }]);
    await type("step 7");
    fireEvent.keyDown(field, { key: "Enter" });
    expect(screen.getByRole<HTMLInputElement>("combobox").value).toBe("why 7");
  });

  it("draws names as text, whatever stands in them", async () => {
    const label = "<img src=x onerror=alert(1)>\u202esoftmax";
    await open("", [{ ...ROW, label }]).type("softmax");
    expect(within(screen.getByRole("listbox")).queryByRole("img")).toBeNull();
    expect(chosen()).toContain(label);
  });
});

describe("a row", () => {
  const props = viewProps({ group: "shape", all: "1" }, { setParam: vi.fn(), setSteps: vi.fn() });
  const to = (address: string) => {
    const hrefOf = vi.fn((..._to: Parameters<typeof props.hrefOf>) => "");
    leadsTo({ ...ROW, to: address }, "operator", { ...props, hrefOf });
    return hrefOf.mock.calls[0];
  };

  it("leads to a section, or stays in the shown one with its own choices", () => {
    const own = { run: "r", worker: "w", span: "s" };
    expect(to("view=steps&why=4")).toEqual(["steps", { why: "4" }, own, props.steps]);
    expect(to("steps=4")?.slice(0, 2)).toEqual(["operator", { group: "shape" }]);
    expect(to("steps=4")?.[3]).toEqual({ first: 4, last: 4, skipCold: false });
    expect(to("worker=rank2&span=1&all=")).toEqual([
      "operator",
      { group: "shape", all: "" },
      { run: "r", worker: "rank2", span: "1" },
      undefined,
    ]);
  });

  it("reads as a change, as bytes or as a time", () => {
    expect(figureOf({ ...ROW, kind: "step", change_ns: 9.8e6 })).toBe("+9.80 ms");
    expect(figureOf({ ...ROW, bytes: 3 * 2 ** 30 })).toBe("3.00 GiB");
    expect(figureOf({ ...ROW, time_ns: null })).toBe("");
    expect(kindName("what_if")).toBe("What if");
  });

  it("marks what was looked for, and no sign of a pattern is one", () => {
    expect(piecesOf("aten::_softmax", "SOFTMAX")).toEqual(["aten::_", "softmax", ""]);
    expect(piecesOf("a(b)+", "(b)+ ")).toEqual(["a", "(b)+", ""]);
    expect(piecesOf("abc", " ")).toEqual(["abc"]);
  });
});
