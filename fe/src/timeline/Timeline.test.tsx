import { act, fireEvent, render, type RenderResult, waitFor } from "@testing-library/preact";
import axe from "axe-core";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { sampleTree } from "./fixtures";
import { NO_ROW_STATE, type TimelineHandle, type TimelineProps } from "./props";
import { Timeline } from "./Timeline";
import type { Source } from "./types";

/** A 2D context that takes everything and draws nothing. */
const context = (): unknown =>
  new Proxy(
    {},
    {
      get: (_, name) =>
        name === "measureText" ? (text: string) => ({ width: text.length * 6 }) : vi.fn(),
      set: () => true,
    },
  );

class Observer {
  private readonly told: () => void;
  constructor(told: () => void) {
    this.told = told;
  }
  observe(): void {
    this.told();
  }
  disconnect(): void {
    // Nothing is watched.
  }
}

class Bitmap {
  readonly data: Uint8ClampedArray;
  constructor(width: number, height: number) {
    this.data = new Uint8ClampedArray(width * height * 4);
  }
}

/** Every element is 800 by 300 px at the origin. Undone by `vi.restoreAllMocks` and `vi.unstubAllGlobals`. */
function stubCanvas(): void {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation(context as never);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(300);
  vi.stubGlobal("ResizeObserver", Observer);
  vi.stubGlobal("innerHeight", 100);
  vi.stubGlobal(
    "OffscreenCanvas",
    class {
      getContext = context;
    },
  );
  vi.stubGlobal("ImageData", Bitmap);
}

beforeEach(() => {
  stubCanvas();
  localStorage.clear();
});

const source = (load: Source["load"] = () => Promise.resolve(new ArrayBuffer(0))): Source => ({
  offset: 0,
  span: 1e6,
  levelMax: 10,
  load,
  name: () => "gemm",
});

const SOURCES = [source()];

function propsOf(more: Partial<TimelineProps> = {}): TimelineProps {
  return {
    sources: SOURCES,
    tree: sampleTree(),
    span: { t0: 0, t1: 1e6 },
    initialView: null,
    boundaries: [],
    marks: [],
    arrows: [],
    curves: new Map(),
    figures: new Map(),
    activity: { device: [0, 255], host: null },
    colourBy: "category",
    selected: null,
    area: null,
    hits: [null],
    highlight: [null],
    gaps: [],
    litGroup: null,
    hitHeat: null,
    rows: NO_ROW_STATE,
    onRows: vi.fn(),
    onSelect: vi.fn(),
    onArea: vi.fn(),
    onMark: vi.fn(),
    onCommand: vi.fn(),
    onVisible: vi.fn(),
    onViewSettled: vi.fn(),
    ...more,
  };
}

const frame = (): Promise<void> => act(() => new Promise<void>((done) => setTimeout(done, 40)));

async function open(
  more: Partial<TimelineProps> = {},
): Promise<{ props: TimelineProps } & RenderResult> {
  const props = propsOf(more);
  const page = render(<Timeline {...props} />);
  await frame();
  return { props, ...page };
}

const sighted = (props: TimelineProps): string[] =>
  vi
    .mocked(props.onVisible)
    .mock.calls.at(-1)?.[0]
    .rows.map((row) => row.key) ?? [];

describe("what it shows", () => {
  it("tells the rows in sight and names them", async () => {
    const { props, getByText, container } = await open();
    expect(sighted(props).slice(0, 3)).toEqual(["host", "main", "main.calls/1"]);
    expect(getByText("stream 7").className).toBe("timeline-label");
    expect(container.querySelector(".timeline-name-overlap")?.textContent).toContain("overlap");
  });

  it("says aloud what was selected, and where", async () => {
    const page = await open({ selected: { source: 0, event: 1, lane: 3, start: 1000, end: 3500 } });
    await act(() => new Promise<void>((done) => setTimeout(done, 560)));
    expect(page.container.querySelector("[aria-live]")?.textContent).toBe(
      "Selected: 2.50 µs at 1.000 µs in main",
    );
  });

  it("says when no row is left", async () => {
    const { getByText } = await open({ rows: { ...NO_ROW_STATE, filter: "xyzzy" } });
    expect(getByText(/No track matches/).textContent).toContain("xyzzy");
  });

  it("says that tiles cannot be had, and asks again", async () => {
    const load = vi.fn(() => Promise.reject(new Error("The server went away.")));
    const { getByRole } = await open({ sources: [source(load)] });
    await frame();
    expect(getByRole("alert").textContent).toContain("The server went away.");
    const before = load.mock.calls.length;
    fireEvent.click(getByRole("button", { name: "Try again" }));
    expect(load.mock.calls.length).toBeGreaterThan(before);
  });

  it("has nothing that axe complains of", async () => {
    const { container } = await open();
    const { violations } = await axe.run(container, {
      rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
    });
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  });

  it("takes its hook and its handle away with it", async () => {
    const handle = vi.fn();
    const { unmount } = await open({ handle });
    expect(window.__profiler_test?.rows().length).toBeGreaterThan(3);
    unmount();
    expect([window.__profiler_test, handle.mock.calls.at(-1)?.[0]]).toEqual([undefined, null]);
  });
});

describe("rows", () => {
  it("fold and unfold", async () => {
    const { props, getByRole } = await open();
    fireEvent.click(getByRole("button", { name: /^main\.python/ }));
    expect([...(vi.mocked(props.onRows).mock.calls[0]?.[0].open ?? [])]).toEqual(["main.python"]);
    fireEvent.click(getByRole("button", { name: "Collapse all tracks" }));
    expect(vi.mocked(props.onRows).mock.calls[1]?.[0].shut.has("gpu")).toBe(true);
  });

  it("are pinned, moved and filtered by controls with names", async () => {
    const { props, getByRole, getByLabelText } = await open();
    fireEvent.click(getByRole("button", { name: "Pin stream 9 to the top" }));
    fireEvent.click(getByRole("button", { name: "Move stream 9 up", hidden: true }));
    fireEvent.input(getByLabelText("Filter tracks"), { target: { value: "gpu" } });
    const told = vi.mocked(props.onRows).mock.calls.map(([state]) => state);
    expect([told[0]?.pinned, told[1]?.order, told[2]?.filter]).toEqual([
      ["stream 9"],
      ["stream 9", "stream 7"],
      "gpu",
    ]);
    expect(
      getByRole("button", { name: "Move stream 7 up", hidden: true }).hasAttribute("disabled"),
    ).toBe(true);
  });

  it("show a lane that the handle asks for, and nothing beside it", async () => {
    let handle: TimelineHandle | null = null;
    const { props, rerender } = await open({ handle: (given) => (handle ??= given) });
    handle!.reveal(0, 1);
    const opened = vi.mocked(props.onRows).mock.calls[0]?.[0];
    expect([opened?.open.size, opened?.peek]).toEqual([0, { source: 0, lane: 1 }]);
    rerender(<Timeline {...props} rows={opened!} />);
    await frame();
    expect(window.__profiler_test?.rows().map((row) => row.key)).toContain("main.python/1");
  });
});

describe("moves", () => {
  const view = (): { t0: number; t1: number } => window.__profiler_test!.view();
  const canvas = (page: RenderResult): HTMLElement => page.getByRole("application");

  it("zooms by keys while they are held, and tells where it came to rest", async () => {
    const page = await open();
    const before = view();
    fireEvent.keyDown(canvas(page), { key: "w" });
    await frame();
    fireEvent.keyUp(canvas(page), { key: "w" });
    expect(view().t1 - view().t0).toBeLessThan(before.t1 - before.t0);
    await act(() => new Promise<void>((done) => setTimeout(done, 330)));
    expect(page.props.onViewSettled).toHaveBeenCalledTimes(1);
    expect(vi.mocked(page.props.onViewSettled).mock.calls[0]?.[0]).toEqual(view());
  });

  it("zooms by keys about the selection while the pointer is elsewhere", async () => {
    const page = await open({
      initialView: { t0: 0, t1: 100_000 },
      selected: { source: 0, event: 1, lane: 5, start: 20_000, end: 30_000 },
    });
    fireEvent.keyDown(canvas(page), { key: "w" });
    await frame();
    fireEvent.keyUp(canvas(page), { key: "w" });
    expect((25_000 - view().t0) / (view().t1 - view().t0)).toBeCloseTo(0.25, 6);
    expect(view().t1).toBeLessThan(100_000);
  });

  it("goes where the handle says", async () => {
    let handle: TimelineHandle | null = null;
    await open({ handle: (given) => (handle ??= given) });
    handle!.zoomTo({ t0: 1000, t1: 2000 }, { animate: false, margin: 0.5 });
    expect(handle!.view()).toEqual({ t0: 500, t1: 2500 });
    handle!.panTo({ t0: 9000, t1: 9100 }, false);
    expect(handle!.view()).toEqual({ t0: 8050, t1: 10_050 });
  });

  it("leaves typing and other parts of the page alone", async () => {
    const page = await open();
    fireEvent.keyDown(page.getByLabelText("Filter tracks"), { key: "m" });
    const other = document.createElement("button");
    document.body.append(other);
    fireEvent.keyDown(other, { key: "m" });
    other.remove();
    expect(page.props.onMark).not.toHaveBeenCalled();
    fireEvent.keyDown(canvas(page), { key: "m" });
    expect(page.props.onMark).toHaveBeenCalledTimes(1);
  });

  it("asks the page around it for what it cannot do", async () => {
    const page = await open();
    for (const key of ["?", "n", "Escape"]) fireEvent.keyDown(canvas(page), { key });
    expect(vi.mocked(page.props.onCommand).mock.calls.flat()).toEqual([
      "help",
      "next_hit",
      "clear",
    ]);
  });

  it("marks the selection, and makes an area of what is in view", async () => {
    const page = await open({ selected: { source: 0, event: 1, lane: 5, start: 10, end: 30 } });
    fireEvent.keyDown(canvas(page), { key: "m" });
    expect(page.props.onMark).toHaveBeenCalledWith({ t0: 10, t1: 30 });
    fireEvent.keyDown(canvas(page), { key: "r" });
    expect(vi.mocked(page.props.onArea).mock.calls[0]?.[0]).toMatchObject({ t0: 0, t1: 1e6 });
  });

  it("draws areas while the tool is on", async () => {
    const page = await open();
    fireEvent.click(page.getByRole("button", { name: /Select an area/ }));
    const at = (type: string, x: number, y: number): void => {
      fireEvent(
        canvas(page),
        new PointerEvent(type, {
          clientX: x,
          clientY: y,
          pointerId: 1,
          pointerType: "mouse",
          bubbles: true,
        }),
      );
    };
    at("pointerdown", 100, 180);
    at("pointermove", 400, 200);
    at("pointerup", 400, 200);
    const area = vi.mocked(page.props.onArea).mock.calls[0]?.[0];
    expect([...(area?.lanes.get(0) ?? [])]).toEqual([5, 6]);
    expect(area?.t1).toBeGreaterThan(area?.t0 ?? 0);
  });

  it("lets go of selection and area by a click on the ground", async () => {
    const page = await open({ area: { t0: 1, t1: 2, lanes: new Map() } });
    fireEvent(
      canvas(page),
      new PointerEvent("pointerdown", { clientX: 300, clientY: 30, pointerId: 1, bubbles: true }),
    );
    fireEvent(
      canvas(page),
      new PointerEvent("pointerup", { clientX: 300, clientY: 30, pointerId: 1, bubbles: true }),
    );
    expect(
      [page.props.onSelect, page.props.onArea].map((told) => vi.mocked(told).mock.calls[0]?.[0]),
    ).toEqual([null, null]);
  });
});

it("keeps the width of the names for the next visit", async () => {
  const first = await open();
  fireEvent.keyDown(first.getByRole("separator"), { key: "ArrowRight" });
  first.unmount();
  const second = await open();
  expect(second.getByRole("separator").getAttribute("aria-valuenow")).toBe("260");
});

describe("scales", () => {
  const drag = async (element: Element, from: number, to: number): Promise<void> => {
    const fire = (type: string, x: number): void =>
      void fireEvent(
        element,
        new PointerEvent(type, { clientX: x, clientY: 30, pointerId: 1, bubbles: true }),
      );
    fire("pointerdown", from);
    fire("pointermove", (from + to) / 2);
    fire("pointermove", to);
    fire("pointerup", to);
    await frame();
  };
  const view = (): { t0: number; t1: number } => window.__profiler_test!.view();

  it("draws a new window on the minimap, moves it and centres it", async () => {
    const { container } = await open();
    const minimap = container.querySelector(".timeline-minimap")!;
    await drag(minimap, 200, 400);
    const first = view();
    expect((first.t1 - first.t0) / 1e6).toBeCloseTo(0.26, 2);
    await drag(minimap, 300, 380);
    expect((view().t0 - first.t0) / (first.t1 - first.t0)).toBeCloseTo(0.4, 6);
    await drag(minimap, 600, 600);
    await act(() => new Promise<void>((done) => setTimeout(done, 400)));
    expect((view().t0 + view().t1) / 2).toBeCloseTo(755_102.04, 1);
  });

  it("chooses a stretch of time over all rows in sight on the ruler", async () => {
    const { container, props } = await open();
    await drag(container.querySelector(".timeline-ruler")!, 100, 500);
    const area = vi.mocked(props.onArea).mock.calls[0]?.[0];
    expect([...(area?.lanes.get(0) ?? [])]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(((area?.t1 ?? 0) - (area?.t0 ?? 0)) / 1e6).toBeCloseTo(0.51, 2);
  });

  it("shows a step by a double click on its name", async () => {
    const { container } = await open({
      boundaries: [
        { name: "step 1", of: "host", about: [], start: 0, end: 400_000 },
        { name: "step 2", of: "host", about: [], start: 400_000, end: 900_000 },
      ],
    });
    const event = new MouseEvent("dblclick", { clientX: 500, bubbles: true });
    Object.defineProperty(event, "offsetY", { value: 5 });
    fireEvent(container.querySelector(".timeline-ruler")!, event);
    await waitFor(() => expect(view()).toEqual({ t0: 385_000, t1: 915_000 }));
  });
});

it("moves rows by dragging their names, even when the pointer leaves them at once", async () => {
  const { container, props } = await open();
  const row = (key: string): Element => container.querySelector(`[data-row="${key}"]`)!;
  const fire = (type: string, y: number): void => {
    const target = type === "pointerdown" ? row("gpu").querySelector("button")! : window;
    fireEvent(
      target,
      new PointerEvent(type, {
        clientX: 10,
        clientY: y,
        pointerId: 1,
        pointerType: "mouse",
        button: 0,
        bubbles: true,
      }),
    );
  };
  document.elementFromPoint = () => row("host");
  fire("pointerdown", 150);
  fire("pointermove", -5);
  fire("pointerup", -5);
  expect(vi.mocked(props.onRows).mock.calls[0]?.[0].order).toEqual(["gpu", "host"]);
});
