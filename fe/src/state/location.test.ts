import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  changePage,
  EMPTY_PAGE,
  findHost,
  fromEntries,
  hrefOfPage,
  pageOfHref,
  type PageState,
  pageStore,
  readHash,
  startLocation,
  toEntries,
  writeHash,
} from "./location";
import { parseSteps, viewQuery, withOnly } from "./view";

const PREFIX = "p.pytorch_profiler.";
const STATE: PageState = {
  view: "operator",
  selection: { run: "a/b=1&c", worker: "host 1", span: "2" },
  steps: { first: 3, last: 7, skipCold: true },
  params: { group: "shape", search: "aten::mm #1" },
};

describe("the hash", () => {
  it("comes back as it went, beside TensorBoard's own parts and unknown keys", () => {
    const hash = writeHash("#scalars&tagFilter=loss&p.other.x=1", PREFIX, STATE);
    expect(
      hash.startsWith("#scalars&tagFilter=loss&p.other.x=1&p.pytorch_profiler.view=operator&"),
    ).toBe(true);
    expect(fromEntries(readHash(hash, PREFIX))).toEqual(STATE);
  });

  it("means all ranks by Overview's own key of earlier editions, where it is Overview's", () => {
    const params = (view: string) => fromEntries(readHash(`#view=${view}&of=ranks`, "")).params;
    expect([params("overview"), params("api_calls")]).toEqual([{ all: "1" }, { of: "ranks" }]);
  });

  it("replaces its own keys and keeps the tab", () => {
    const first = writeHash("", PREFIX, STATE);
    expect(first.startsWith("#pytorch_profiler&")).toBe(true);
    const second = writeHash(first, PREFIX, { ...EMPTY_PAGE, view: "kernel" });
    expect(second).toBe("#pytorch_profiler&p.pytorch_profiler.view=kernel");
  });

  it("has no prefix and no tab when the page stands alone", () => {
    const hash = writeHash("", "", STATE);
    expect(hash).toContain(
      "#view=operator&run=a/b%3D1%26c&worker=host%201&span=2&steps=3-7&skip_cold=1&group=shape",
    );
    expect(fromEntries(readHash(hash, ""))).toEqual(STATE);
  });

  it("keeps a kind of steps, which counts where no step is chosen", () => {
    const steps = { first: null, last: null, skipCold: true, kind: "kind A" };
    const hash = writeHash("", "", { ...STATE, steps });
    expect(hash).toContain("&step_kind=kind%20A&");
    expect(fromEntries(readHash(hash, "")).steps).toEqual(steps);
    const asked = viewQuery({ ...STATE, steps });
    expect([asked.step_kind, asked.skip_cold]).toEqual(["kind A", undefined]);
    const one = withOnly(steps, 3);
    expect(viewQuery({ ...STATE, steps: one }).step_kind).toBeUndefined();
    expect(toEntries({ ...STATE, steps: one }).map(([key]) => key)).not.toContain("step_kind");
  });

  it("leaves out defaults", () => expect(toEntries(EMPTY_PAGE)).toEqual([["view", "overview"]]));

  it("survives nonsense", () => {
    const state = fromEntries(
      readHash(
        "#x&p.pytorch_profiler.view=nope&p.pytorch_profiler.steps=a-b&p.pytorch_profiler.run=%E0%A4%A",
        PREFIX,
      ),
    );
    expect(state).toEqual({ ...EMPTY_PAGE, selection: { run: "%E0%A4%A", worker: "", span: "" } });
  });

  it("does not let a view overwrite the page's own keys", () => {
    expect(toEntries({ ...EMPTY_PAGE, params: { view: "kernel", run: "x" } })).toEqual([
      ["view", "overview"],
    ]);
  });
});

it.each([
  ["", null, null],
  ["4", 4, 4],
  ["2-7", 2, 7],
  ["7-2", 2, 7],
  ["-3", null, null],
  ["1e9", null, null],
])("reads steps %j", (text, first, last) => expect(parseSteps(text)).toEqual({ first, last }));

describe("the host", () => {
  it("is TensorBoard's window when it may be read", () => {
    const parent = { location: { hash: "#x" } } as Window;
    expect(findHost({ parent } as Window)).toEqual({ window: parent, prefix: PREFIX });
  });
  it("is the own window when the parent is of another origin", () => {
    const parent = {
      get location(): never {
        throw new DOMException("cross origin", "SecurityError");
      },
    } as unknown as Window;
    const own = { parent } as Window;
    expect(findHost(own)).toEqual({ window: own, prefix: "" });
  });
});

describe("a living page", () => {
  let end: () => void;
  beforeEach(() => {
    vi.useFakeTimers();
    history.replaceState(null, "", "/#view=kernel&run=r");
    pageStore.set(EMPTY_PAGE);
    end = startLocation();
  });
  afterEach(() => {
    end();
    vi.useRealTimers();
  });

  it("starts from the URL", () =>
    expect(pageStore.get()).toMatchObject({ view: "kernel", selection: { run: "r" } }));

  it("writes small changes a moment later, in place", () => {
    const entries = history.length;
    changePage((state) => ({ ...state, params: { search: "a" } }), "replace");
    changePage((state) => ({ ...state, params: { search: "ab" } }), "replace");
    expect(location.hash).toBe("#view=kernel&run=r");
    vi.advanceTimersByTime(500);
    expect(location.hash).toBe("#view=kernel&run=r&search=ab");
    expect(history.length).toBe(entries);
  });

  it("writes what was pending into the entry that it leaves", () => {
    changePage((state) => ({ ...state, params: { search: "a" } }), "replace");
    const replace = vi.spyOn(history, "replaceState");
    const push = vi.spyOn(history, "pushState");
    changePage((state) => ({ ...state, view: "trace", params: {} }), "push");
    expect(replace.mock.calls[0]?.[2]).toContain("search=a");
    expect(push.mock.calls[0]?.[2]).toContain("view=trace");
  });

  it("follows the back button", () => {
    history.replaceState(null, "", "#view=operator&run=other&steps=2");
    window.dispatchEvent(new Event("popstate"));
    expect(pageStore.get()).toMatchObject({
      view: "operator",
      selection: { run: "other" },
      steps: { first: 2, last: 2 },
    });
  });

  it("stays as it is when the keys are gone, and writes them again", () => {
    history.replaceState(null, "", "#other");
    window.dispatchEvent(new Event("hashchange"));
    expect(pageStore.get().view).toBe("kernel");
    expect(location.hash).toBe("#view=kernel&run=r");
  });

  it("knows its own links", () => {
    expect(pageOfHref(hrefOfPage(STATE))).toEqual(STATE);
    expect(pageOfHref("https://elsewhere.example/#view=kernel")).toBeNull();
  });
});
