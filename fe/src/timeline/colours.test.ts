import { describe, expect, it } from "vitest";
import {
  Colours,
  contrast,
  DIMMED,
  hashOf,
  hueOf,
  mixed,
  parseColour,
  SHADES,
  SINGLE,
  SUMMARY,
  textOn,
  type Rgb,
} from "./colours";
import { paletteFor } from "./palette_fixtures";
import { sourceOf } from "./tile_fixtures";

const THEMES = ["light", "dark"] as const;

describe("parseColour", () => {
  it.each([
    ["#0af", [0, 170, 255]],
    [" #4d9fdb", [77, 159, 219]],
    ["color-mix(in srgb, red, blue)", [150, 157, 168]],
  ])("%s", (text, rgb) => {
    expect(parseColour(text)).toEqual(rgb);
  });
});

describe.each(THEMES)("palette %s", (theme) => {
  const palette = paletteFor(theme);
  const ground = parseColour(palette.ground);

  it("has a colour per look, and enough hues", () => {
    expect(palette.looks).toHaveLength(15);
    expect(palette.hues.length).toBeGreaterThanOrEqual(12);
    expect(new Set(palette.looks).size).toBe(15);
    expect(new Set(palette.hues).size).toBe(palette.hues.length);
  });

  it.each([...palette.looks, ...palette.hues])("text on %s can be read (4.5:1)", (colour) => {
    const text = parseColour(textOn(parseColour(colour), palette.onSlice));
    expect(contrast(parseColour(colour), text)).toBeGreaterThanOrEqual(4.5);
  });

  it.each([...palette.looks, ...palette.hues])(
    "%s stands out from the ground, as a single slice, a summary and dimmed",
    (colour) => {
      const rgb = parseColour(colour);
      expect(contrast(rgb, ground)).toBeGreaterThan(1.4);
      expect(contrast(mixed(rgb, ground, 0.26), ground)).toBeGreaterThan(1.2);
    },
  );
});

/** Linear light as people without one kind of cones see it (Machado, Oliveira, Fernandes 2009, severity 1). */
const BLIND: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function lab(rgb: Rgb, kind: string): number[] {
  const linear = rgb.map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  const seen = BLIND[kind]!.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, factor, i) => sum + factor * linear[i]!, 0),
      ),
    ),
  );
  const [r, g, b] = seen as [number, number, number];
  const xyz = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
  ];
  const [x, y, z] = xyz.map((t) =>
    t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116,
  ) as [number, number, number];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe.each(THEMES)("people who see fewer colours, %s", (theme) => {
  // Kernel, memcpy, memset, communication, operator, runtime: what stands side by side in one view.
  const side = [3, 4, 5, 13, 1, 2].map((look) => paletteFor(theme).looks[look]!);
  it.each(Object.keys(BLIND))("%s tell the main categories apart", (kind) => {
    for (const [i, a] of side.entries()) {
      for (const b of side.slice(i + 1)) {
        const [one, other] = [lab(parseColour(a), kind), lab(parseColour(b), kind)];
        const distance = Math.hypot(...one.map((v, at) => v - other[at]!));
        expect(distance, `${a} and ${b}`).toBeGreaterThan(8);
      }
    }
  });
});

it("chooses black or white where the palette's text cannot be read", () => {
  expect(textOn([10, 20, 60], "#10151f")).toBe("#ffffff");
  expect(textOn([250, 250, 240], "#f0f0f0")).toBe("#000000");
});

describe("hues of names", () => {
  it("depend on the text alone and are the same everywhere", () => {
    // FNV-1a and the finisher of MurmurHash3, computed by another program.
    expect([hashOf(""), hashOf("aten::mm")]).toEqual([2872998923, 2733228372]);
    expect(hueOf("anything", 0)).toBe(0);
  });

  it("spread over the palette, even for names that differ in one letter", () => {
    const counts = new Map<number, number>();
    for (let i = 0; i < 1600; i++)
      counts.set(hueOf(`kernel_${i}`, 16), (counts.get(hueOf(`kernel_${i}`, 16)) ?? 0) + 1);
    expect(counts.size).toBe(16);
    expect(Math.max(...counts.values())).toBeLessThan(150);
  });
});

describe("Colours", () => {
  const palette = {
    ...paletteFor("light"),
    ground: "#ffffff",
    looks: ["#000000", "#ff0000"],
    hues: ["#00ff00", "#0000ff"],
  };
  const colours = new Colours(palette);
  const packed = (variant: number, colour: number, shade: number): number =>
    colours.packed[(variant * colours.count + colour) * SHADES + shade]!;

  it("packs colours as they lie in an ImageData", () => {
    expect(packed(SINGLE, 1, SHADES - 1).toString(16)).toBe("ff0000ff");
    expect(packed(SINGLE, 3, SHADES - 1).toString(16)).toBe("ffff0000");
    expect(packed(SINGLE, 1, 0) >>> 24).toBe(77);
    expect(packed(SUMMARY, 0, SHADES - 1).toString(16)).toBe("ff424242");
    expect(packed(DIMMED, 0, SHADES - 1).toString(16)).toBe("ffcccccc");
  });

  it("finds colours by look, name and module", () => {
    const names = new Map([[5, "a"]]);
    const source = { ...sourceOf([]), name: (n: number) => names.get(n) };
    const category = colours.table(source, "category");
    expect([category.find(1, 9), category.find(200, 9)]).toEqual([1, 0]);
    const name = colours.table(source, "name");
    expect(name.find(5, 9)).toBe(2 + hueOf("a", 2));
    expect(name.values[5]).toBe(2 + hueOf("a", 2));
    const module = colours.table(source, "module");
    expect([module.find(0, 9), module.find(6, 9)]).toEqual([colours.neutral, 2 + hueOf("a", 2)]);
    expect(colours.table(source, "name")).toBe(name);
  });

  it("asks again for a name that was still on its way", () => {
    const names = new Map<number, string>();
    const table = colours.table({ ...sourceOf([]), name: (n) => names.get(n) }, "name");
    expect(table.find(4000, 3)).toBe(3);
    names.set(4000, "late");
    expect(table.find(4000, 3)).toBe(2 + hueOf("late", 2));
  });
});
