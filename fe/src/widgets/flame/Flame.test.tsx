import { fireEvent, render, screen } from "@testing-library/preact";
import { beforeEach, expect, it, vi } from "vitest";
import { Flame, type FlameProps, visited, type ZoomPath } from "./Flame";
import { brushOf, drawFlame, FRAME_HEIGHT } from "./draw";
import { layOutFlame } from "./layout";

const PARENT = [-1, 0, 0, 2];
const layout = layOutFlame({ parent: PARENT, value: [100, 30, 60, 60], order: null });
const NAMES = ["step", "conv", "norm", "mul"];

// happy-dom has no canvas: what is drawn is looked at in a browser, here only what it is drawn from.
const context = {
  fillRect: vi.fn(),
  fillText: vi.fn(),
  clearRect: vi.fn(),
  setTransform: vi.fn(),
  beginPath: vi.fn(),
  moveTo: vi.fn(),
  lineTo: vi.fn(),
  stroke: vi.fn(),
  createPattern: () => null,
  measureText: () => ({ width: 7 }),
};
beforeEach(() => {
  vi.clearAllMocks();
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation(() => context as never);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1000);
  vi.spyOn(HTMLCanvasElement.prototype, "getBoundingClientRect").mockReturnValue({
    left: 0,
    top: 0,
    width: 1000,
    height: 57,
  } as DOMRect);
});

function show(over: Partial<FlameProps> = {}): {
  onZoom: ReturnType<typeof vi.fn>;
  canvas: HTMLElement;
} {
  const onZoom = vi.fn();
  render(
    <Flame
      label="Flame graph"
      {...{
        layout,
        parent: PARENT,
        name: NAMES,
        kind: [0, 2, 2, 2],
        hatched: [false, false, true, false],
        found: null,
        zoom: -1,
        onZoom,
      }}
      describe={(row) => [NAMES[row]!, `${layout.width[row]} ns`]}
      detail={(row) => <p data-testid="detail">{row}</p>}
      {...over}
    />,
  );
  return { onZoom, canvas: screen.getByRole("application", { name: "Flame graph" }) };
}

it("zooms to the frame that is pressed, and tells which one", () => {
  const { onZoom, canvas } = show();
  fireEvent.click(canvas, { clientX: 100, clientY: FRAME_HEIGHT + 5 });
  expect(onZoom).toHaveBeenLastCalledWith(2);
  expect(screen.getByTestId("detail").textContent).toBe("2");
  expect(screen.getByRole("status").textContent).toBe("norm, 60 ns");
  fireEvent.click(canvas, { clientX: 950, clientY: FRAME_HEIGHT + 5 });
  expect(onZoom).toHaveBeenCalledTimes(1);
});

it("goes from frame to frame by keys, zooms in by Enter and out by Escape", () => {
  const { onZoom, canvas } = show({ zoom: 2 });
  fireEvent.keyDown(canvas, { key: "ArrowDown" });
  expect(screen.getByTestId("detail").textContent).toBe("3");
  fireEvent.keyDown(canvas, { key: "Enter" });
  fireEvent.keyDown(canvas, { key: "Escape" });
  fireEvent.keyDown(canvas, { key: "Home" });
  expect(onZoom.mock.calls).toEqual([[3], [0], [-1]]);
  fireEvent.keyDown(canvas, { key: "ArrowUp" });
  fireEvent.keyDown(canvas, { key: "ArrowRight" });
  // conv lies beside norm, out of sight.
  expect(screen.getByTestId("detail").textContent).toBe("2");
});

it("says what the frame in sight is, also when a link led to it", () => {
  show({ zoom: 3 });
  expect(screen.getByTestId("detail").textContent).toBe("3");
});

it("names the way to the frame in sight, and leads out by it", () => {
  const { onZoom } = show({ zoom: 3 });
  expect(screen.getByRole("navigation").textContent).toBe("All › step › norm › mul");
  fireEvent.click(screen.getByRole("button", { name: "norm" }));
  fireEvent.click(screen.getByRole("button", { name: "All" }));
  expect(onZoom.mock.calls).toEqual([[2], [-1]]);
});

it("leads back to the zoom before and forward again, by buttons and keys, also after a link", () => {
  const onZoom = vi.fn();
  const flame = (zoom: number) => (
    <Flame
      label="Flame graph"
      {...{ layout, zoom, onZoom, parent: PARENT, name: NAMES, kind: [0, 2, 2, 2] }}
      hatched={[]}
      found={null}
      describe={() => []}
      detail={() => null}
    />
  );
  const { rerender } = render(flame(-1));
  rerender(flame(2));
  rerender(flame(3));
  fireEvent.click(screen.getByRole("button", { name: "Previous zoom" }));
  expect(onZoom).toHaveBeenLastCalledWith(2);
  rerender(flame(2));
  fireEvent.keyDown(screen.getByRole("application"), { key: "]" });
  expect(onZoom).toHaveBeenLastCalledWith(3);
});

it("stands on its head: the outermost frame at the bottom, and keys follow what is seen", () => {
  const { onZoom, canvas } = show({ upward: true });
  fireEvent.click(canvas, { clientX: 100, clientY: 2 * FRAME_HEIGHT + 5 });
  expect(onZoom).toHaveBeenLastCalledWith(0);
  fireEvent.keyDown(canvas, { key: "ArrowUp" });
  expect(screen.getByTestId("detail").textContent).toBe("2");
});

it("shows a card at the pointer only over a frame", () => {
  const { canvas } = show();
  fireEvent.pointerMove(canvas, { clientX: 700, clientY: FRAME_HEIGHT + 5 });
  expect(document.querySelector(".tooltip")?.textContent).toBe("conv30 ns");
  fireEvent.pointerMove(canvas, { clientX: 950, clientY: FRAME_HEIGHT + 5 });
  expect(document.querySelector(".tooltip")).toBeNull();
});

it("draws only what is in sight: the zoomed frame and those around it over the whole width, each with its name", () => {
  const brush = brushOf(document.createElement("canvas"))!;
  const scene = {
    layout,
    name: NAMES,
    kind: [0, 2, 2, 2],
    hatched: [false, false, false, false],
    found: null,
    scroll: 0,
    width: 1000,
    height: 57,
  };
  drawFlame(brush, { ...scene, view: { begin: 60, length: 30 } });
  expect(context.fillRect.mock.calls).toEqual([
    [0, 0, 999, 18],
    [0, 19, 999, 18],
  ]);
  expect(context.fillText.mock.calls.map(([text]) => text as string)).toEqual(["step", "conv"]);
});

it("draws frames narrower than a pixel once per pixel", () => {
  const parent = [-1, ...Array<number>(100_000).fill(0)];
  const many = layOutFlame({
    parent,
    value: [100_000, ...Array<number>(100_000).fill(1)],
    order: null,
  });
  const brush = brushOf(document.createElement("canvas"))!;
  const kind = new Uint8Array(parent.length);
  drawFlame(brush, {
    layout: many,
    name: parent.map(() => "x"),
    kind,
    hatched: [],
    found: null,
    view: { begin: 0, length: 100_000 },
    scroll: 0,
    width: 500,
    height: 38,
  });
  expect(context.fillRect.mock.calls.length).toBeLessThanOrEqual(502);
  expect(context.fillRect.mock.calls.length).toBeGreaterThan(450);
});

it("goes on from what is in sight, and forgets what was ahead", () => {
  const path = [-1, 4, 7].reduce<ZoomPath>((kept, zoom) => visited(kept, zoom), {
    zooms: [-1],
    at: 0,
  });
  expect(path).toEqual({ zooms: [-1, 4, 7], at: 2 });
  expect(visited({ ...path, at: 1 }, 9)).toEqual({ zooms: [-1, 4, 9], at: 2 });
  expect(visited({ ...path, at: 1 }, 4)).toEqual({ ...path, at: 1 });
});
