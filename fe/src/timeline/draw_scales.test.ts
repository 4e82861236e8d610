import { beforeEach, describe, expect, it, vi } from "vitest";
import { paletteFor } from "./palette_fixtures";
import { MinimapPainter, type MinimapFrame } from "./draw_minimap";
import { drawRuler, type RulerFrame } from "./draw_ruler";

type Call = [string, ...unknown[]];

/** A context that writes down what is drawn. */
function recorder(calls: Call[]): unknown {
  const own: Record<string, unknown> = {};
  return new Proxy(own, {
    get: (_, name: string) => {
      if (name === "measureText") return (text: string) => ({ width: text.length * 6 });
      return name in own ? own[name] : (...values: unknown[]) => void calls.push([name, ...values]);
    },
    set: (_, name: string, value) => {
      own[name] = value;
      return true;
    },
  });
}

let calls: Call[];
const drawn = (name: string): Call[] => calls.filter((call) => call[0] === name);
const texts = (): string[] =>
  drawn("fillText").map(([, text]) => String(text).replaceAll("\u202f", " "));

beforeEach(() => {
  calls = [];
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation((() =>
    recorder(calls)) as never);
});

describe("the ruler", () => {
  const RULER: RulerFrame = {
    width: 460,
    height: 40,
    ratio: 2,
    view: { t0: 0, t1: 5e6 },
    origin: 0,
    boundaries: [],
    marks: [],
    chosen: null,
    pointer: null,
    palette: paletteFor("light"),
    font: "sans-serif",
  };
  const draw = (more: Partial<RulerFrame>): void =>
    drawRuler(document.createElement("canvas"), { ...RULER, ...more });

  it("is as sharp as the screen", () => {
    const canvas = document.createElement("canvas");
    drawRuler(canvas, RULER);
    expect([canvas.width, canvas.height]).toEqual([920, 80]);
  });

  it("labels its ticks, but none that would be cut off", () => {
    draw({});
    expect(texts()).toEqual(["0", "1 ms", "2 ms", "3 ms", "4 ms"]);
  });

  it("shows what all labels are to be added to", () => {
    draw({ view: { t0: 1_234_567_890, t1: 1_234_568_890 } });
    expect(texts().at(-1)).toBe("1.234 567 s +");
  });

  it("names steps and whose time it is, by their number alone where there is no room for more", () => {
    draw({
      boundaries: [
        { name: "ProfilerStep#7", of: "host", about: [], start: 0, end: 2e6 },
        { name: "ProfilerStep#8", of: "host", about: [], start: 2e6, end: 2.4e6 },
        { name: "ProfilerStep#9", of: "host", about: [], start: 2.4e6, end: 2.5e6 },
      ],
    });
    expect(texts().slice(0, 2)).toEqual(["ProfilerStep#7 · host", "#8"]);
    expect(texts()).not.toContain("#9");
  });

  it("says the time under the pointer to the px, inside its edges", () => {
    draw({ pointer: 4_999_000 });
    const [, text, x] = drawn("fillText").at(-1)!;
    expect(text).toBe("5.00 ms");
    expect(Number(x) + 7 * 6).toBeLessThanOrEqual(460);
  });

  it("leaves out marks that are not in sight", () => {
    draw({ marks: [{ key: "a", label: "", start: 9e6, end: 9e6, kind: "person" }] });
    const before = drawn("fill").length;
    draw({ marks: [{ key: "a", label: "", start: 1e6, end: 1e6, kind: "person" }] });
    expect(drawn("fill").length - 2 * before).toBe(1);
  });
});

describe("the minimap", () => {
  const MAP: MinimapFrame = {
    width: 100,
    ratio: 1,
    span: { t0: 0, t1: 960 },
    view: { t0: 100, t1: 200 },
    activity: { device: [0, 255, 0, 0], host: null },
    boundaries: [],
    marks: [],
    heat: null,
    palette: paletteFor("dark"),
  };

  it("draws what was busy once, and the window every time", () => {
    const painter = new MinimapPainter(document.createElement("canvas"));
    painter.draw(MAP);
    const first = drawn("fillRect").length;
    calls.length = 0;
    painter.draw({ ...MAP, view: { t0: 300, t1: 400 } });
    const second = drawn("fillRect").length;
    expect(first - second).toBe(25);
    painter.draw({ ...MAP, palette: { ...MAP.palette, device: "#333333" } });
    expect(drawn("fillRect").length - second).toBe(first);
  });

  it("shows a single hit among many buckets", () => {
    const painter = new MinimapPainter(document.createElement("canvas"));
    painter.draw(MAP);
    const without = drawn("fillRect").length;
    calls.length = 0;
    painter.draw({ ...MAP, heat: { range: MAP.span, counts: [0, 0, 1, 0, 0, 0, 0, 900] } });
    expect(drawn("fillRect").length - (without - 25)).toBe(2);
  });
});
