import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { WhatIfPayload } from "../../api/types.gen";
import { ALL_STEPS, type Params } from "../../state/view";
import { HOSTILE } from "../../testing/cases";
import { serve, showLive, text, viewProps } from "../../testing/page";
import { WhatIf } from "./what_if";
import { event, ref } from "../trace/fixtures";
import { prediction, whatIf } from "./what_if_fixtures";
import { HalvedLink, halvedColumns } from "./what_if_links";
import {
  commandOf,
  halvedPart,
  readChanges,
  resultOf,
  changesText,
  wordsOf,
} from "./what_if_model";

const { catalogue } = whatIf();
let answer: WhatIfPayload;
let asked: URL[];
let shown: { params: Params };
const scrolled = vi.fn();

beforeEach(() => {
  answer = whatIf();
  Element.prototype.scrollIntoView = scrolled;
  scrolled.mockClear();
  asked = serve({
    what_if: ({ searchParams }: URL) =>
      searchParams.get("change") ? { ...answer, prediction: prediction() } : answer,
  });
});

const show = async (start: Params = {}): Promise<void> => {
  shown = showLive(WhatIf, start);
  await waitFor(() => expect(screen.getByRole("list", { name: "Changes" })).toBeTruthy());
};

describe("the panel", () => {
  it("lists the usual changes with what each saves, and simulates nothing yet", async () => {
    await show();
    const list = screen.getByRole("list", { name: "Changes" });
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((item) => item.textContent),
    ).toEqual([
      "Calls that wait for the device return at once13.0 µs36.1 %",
      "The host's own work × 0.51.50 µs4.2 %",
    ]);
    expect(text()).toContain("step of 36.0 µs, mean of 2 steps");
    expect(text()).toContain("misses the measured time by 0.1 %");
    expect(asked.some((url) => url.searchParams.get("change"))).toBe(false);
  });

  it("says where nothing that a change acts on was recorded", async () => {
    answer = { ...answer, prediction: prediction({ absent: true }) };
    serve({ what_if: () => answer });
    await show();
    fireEvent.click(screen.getByRole("checkbox", { name: /^Calls that wait/ }));
    await waitFor(() => expect(text()).toContain("Nothing that this acts on was recorded"));
  });

  it("simulates all chosen changes together and keeps them in the link", async () => {
    await show();
    fireEvent.click(screen.getByRole("checkbox", { name: /^Calls that wait/ }));
    fireEvent.click(screen.getByRole("checkbox", { name: /^The host's own/ }));
    expect(shown.params.what_if).toBe("no-sync;host:factor=0.5");
    await waitFor(() => expect(text()).toContain("Step 36.0 µs → 23.0 µs"));
    expect(text()).toContain("(19.0 µs to 27.0 µs) −36.1 %");
    expect(asked.at(-1)?.searchParams.get("change")).toBe("no-sync;host:factor=0.5");
    expect(scrolled).not.toHaveBeenCalled();
    const row = screen.getByRole("row", { name: /^Synchronization/ });
    expect(row.textContent).toContain("18.0 µs5.00 µs−13.0 µs");
  });

  it("changes a parameter by its slider", async () => {
    await show({ what_if: "host" });
    const slider = screen.getByRole("slider", { name: "Time ×" });
    fireEvent.input(slider, { target: { value: "0.25" } });
    fireEvent.change(slider, { target: { value: "0.25" } });
    await waitFor(() => expect(shown.params.what_if).toBe("host:factor=0.25"));
    // What it saves alone is known only as usual.
    expect(screen.getByRole("checkbox", { name: "The host's own work × 0.25" })).toBeTruthy();
    expect(text()).not.toContain("4.2 %");
  });

  it("comes into sight with the changes of a link, and lets go of them", async () => {
    await show({ what_if: "scale:kernel=gemm*,factor=2" });
    expect(scrolled).toHaveBeenCalledOnce();
    expect(screen.getByLabelText<HTMLInputElement>("kernel").value).toBe("gemm*");
    fireEvent.click(screen.getByRole("checkbox", { name: "Time of kernel gemm* × 2" }));
    expect(shown.params.what_if).toBeUndefined();
    expect(text()).toContain("Choose changes");
  });

  it("adds a change of events by name", async () => {
    await show();
    const form = within(screen.getByRole("form", { name: "Add a change" }));
    const add = form.getByRole<HTMLButtonElement>("button", { name: "Add" });
    expect(add.disabled).toBe(true);
    fireEvent.change(form.getByLabelText("of"), { target: { value: "kernel" } });
    fireEvent.input(form.getByLabelText("called"), { target: { value: HOSTILE } });
    fireEvent.click(add);
    expect(shown.params.what_if).toBe(`scale:kernel=${HOSTILE},factor=0.5`);
    expect(document.querySelector("img")).toBeNull();
    fireEvent.change(form.getByLabelText("of"), { target: { value: "kind" } });
    fireEvent.click(add);
    expect(shown.params.what_if).toContain(";scale:kind=not_recorded,factor=0.5");
  });

  it("adds another declared change once", async () => {
    await show();
    const form = within(screen.getByRole("form", { name: "Add a change" }));
    const names = (): string[] =>
      [...form.getByLabelText<HTMLSelectElement>("Add").options].map(({ value }) => value);
    expect(names()).toEqual(catalogue.map(({ name }) => name));
    fireEvent.change(form.getByLabelText("Add"), { target: { value: "peak" } });
    fireEvent.click(form.getByRole("button", { name: "Add" }));
    expect(shown.params.what_if).toBe("peak:share=0.7");
    expect(names()).not.toContain("peak");
    expect(names()).toHaveLength(catalogue.length - 1);
  });

  it("says so where no usual change helps, and nothing where there are no steps", async () => {
    answer = whatIf({ presets: { ...answer.presets, change: [] } });
    await show();
    expect(text()).toContain("None of the usual changes");
    cleanup();
    answer = whatIf({ steps: 0 });
    showLive(WhatIf);
    await waitFor(() => expect(document.querySelector(".view-waiting")).toBeNull());
    expect(text()).toBe("");
  });
});

describe("the model", () => {
  it.each([
    "no-sync;host:factor=0.25",
    "scale:kernel=f(T) [with T = float; U = int, factor],factor=2;host:factor=0.5",
    "scale:kernel=*,factor=0.5",
    "scale:kernel=f\\,factor=1 \\;host:x,factor=0.5;no-sync",
    "nonsense:a=b",
  ])("reads and writes %s", (changes) => {
    expect(changesText(readChanges(changes, catalogue))).toBe(changes);
  });

  it("writes a command that a shell takes", () => {
    const changes = readChanges("no-sync;scale:kernel=f<a b>", catalogue);
    expect(commandOf("run/it's.json", changes, { first: 2, last: 4, skipCold: true })).toBe(
      "torch-tb-profiler whatif 'run/it'\\''s.json' --change no-sync" +
        " --change 'scale:kernel=f<a b>,factor=0.5' --steps 2-4 --skip-cold",
    );
    expect(commandOf("a.json", [], ALL_STEPS)).toBe("torch-tb-profiler whatif a.json");
  });

  it("says changes in words", () => {
    const words = (change: string): string => {
      const [read] = readChanges(change, catalogue);
      const declared = catalogue.find(({ name }) => name === read?.name);
      return declared ? wordsOf(read ?? {}, declared) : "";
    };
    expect(words("peak:share=0.5,operator=aten::mm")).toBe(
      "Kernels of aten::mm reach 50.0 % of the device's peak",
    );
    expect(words("no-sync")).toBe("Calls that wait for the device return at once");
    expect(words("scale:kind=python")).toBe("Time of kind Python × 0.5");
  });

  it("halves a part of the path by what it is called", () => {
    expect(halvedPart("kernel", "gemm", "a.py(1): f")).toBe("scale:kernel=gemm,factor=0.5");
    expect(halvedPart("operator", "aten::mm", null)).toBe("scale:operator=aten::mm,factor=0.5");
    expect(halvedPart("python", null, "a.py(1): f")).toBe("scale:line=a.py(1): f,factor=0.5");
    expect(halvedPart("dataloader", "next", null)).toBe("scale:name=next,factor=0.5");
    for (const kind of ["launch", "not_recorded", null])
      expect(halvedPart(kind, "x", null)).toBeNull();
  });

  it("says what takes longer", () => {
    expect(resultOf(prediction({ predicted_ns: 45_000 })).change).toBe("+25.0 %");
  });
});

describe("links to the panel", () => {
  it("ask for half the time of rows that can be chosen by name", () => {
    const rows = { kind: ["kernel", "launch"], name: ["gemm", "gemm"], line: [null, null] };
    const [column] = halvedColumns(rows as never, "place", (_, params) => JSON.stringify(params));
    expect([0, 1].map((row) => column?.href?.(row))).toEqual([
      '{"what_if":"scale:kernel=gemm,factor=0.5","by":""}',
      null,
    ]);
    const [modules] = halvedColumns(rows as never, "module", (_, params) => params?.what_if ?? "");
    expect(modules?.href?.(1)).toBe("scale:module=gemm,factor=0.5");
    expect(halvedColumns(rows as never, "track", () => "")).toEqual([]);
  });

  it("stand beside an event of the timeline, where its name can be chosen", () => {
    const view = viewProps({}, { setParam: vi.fn(), setSteps: vi.fn() });
    const { rerender } = render(<HalvedLink view={view} event={event(7)} />);
    expect(screen.getByRole("link").getAttribute("href")).toContain("scale%3Akernel%3Devent+7");
    rerender(<HalvedLink view={view} event={event(7, { ref: ref(7, { look: 14 }) })} />);
    expect(screen.queryByRole("link")).toBeNull();
  });
});
