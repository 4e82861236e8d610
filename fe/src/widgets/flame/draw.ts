import { fontOfTheme, tokensOfTheme } from "../../base/theme";
import { LEAST_WIDTH, lettersOf, PADDING } from "../labels";
import { firstAfter, type FlameLayout, type FlameView } from "./layout";

/** Height of a frame with the gap below it, css px. */
export const FRAME_HEIGHT = 19;
/** How a kind is written, so that none is told by its colour alone. */
const STYLES = ["600 ", "italic ", "", "", "italic "] as const;
export const FLAME_KINDS = ["module", "annotation", "operator", "line", "rest"] as const;
const GAP = 1;
const FADED = 0.3;

/** What the theme makes of a canvas: colours, and letters that are measured once. */
export function brushOf(canvas: HTMLCanvasElement) {
  const context = canvas.getContext("2d");
  if (!context) return null;
  const tokens = tokensOfTheme();
  const token = (name: string): string => tokens(name) || "#888888";
  const base = `12px ${fontOfTheme()}`;
  const muted = token("--ink-2");
  return {
    canvas,
    context,
    kinds: FLAME_KINDS.map((kind) => token(`--flame-${kind}`)),
    text: token("--ink"),
    muted,
    accent: token("--accent"),
    light: tokens("--flame-light") || "50%",
    hatch: hatchOf(context, muted),
    faces: STYLES.map((style) => {
      const font = style + base;
      return {
        font,
        letters: lettersOf((letter) => ((context.font = font), context.measureText(letter).width)),
      };
    }),
  };
}

export type FlameBrush = NonNullable<ReturnType<typeof brushOf>>;

/** Colours by something else than the kind: of each frame a place in hues (degrees) with their saturation (%). */
export interface FlameTint {
  of: ArrayLike<number>;
  colours: readonly (readonly [hue: number, saturation: number])[];
}

/** Where a frame begins and ends, px; within the graph. */
export function edgesOf(
  layout: FlameLayout,
  row: number,
  { begin, length }: FlameView,
  width: number,
): [number, number] {
  const left = (layout.left[row] ?? 0) - begin;
  const scale = width / length;
  return [Math.max(0, left * scale), Math.min(width, (left + (layout.width[row] ?? 0)) * scale)];
}

/** The line on which a level stands, from the top; `upward`: the outermost frames at the bottom. */
export const lineOf = (level: number, levels: number, upward: boolean): number =>
  upward ? levels - 1 - level : level;

export interface FlameScene {
  layout: FlameLayout;
  name: readonly string[];
  /** Place in `FLAME_KINDS` of each frame. */
  kind: ArrayLike<number>;
  hatched?: ArrayLike<boolean> | undefined;
  /** Frames that a search found; null without one. */
  found?: Uint8Array | null | undefined;
  tint?: FlameTint | null;
  upward?: boolean;
  view: FlameView;
  scroll: number;
  width: number;
  height: number;
}

export function drawFlame(brush: FlameBrush, scene: FlameScene): void {
  const { canvas, context } = brush;
  const { width, height, scroll, layout } = scene;
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  const first = Math.max(0, Math.floor(scroll / FRAME_HEIGHT));
  const last = Math.min(layout.byLevel.length, Math.ceil((scroll + height) / FRAME_HEIGHT));
  for (let line = first; line < last; line++) drawLine(brush, scene, line);
  context.globalAlpha = 1;
}

function drawLine(brush: FlameBrush, scene: FlameScene, line: number): void {
  const { layout, view, width } = scene;
  const rows = layout.byLevel[lineOf(line, layout.byLevel.length, scene.upward === true)];
  if (!rows || view.length <= 0) return;
  const end = view.begin + view.length;
  const y = line * FRAME_HEIGHT - scene.scroll;
  // What is narrower than a pixel is drawn once per pixel.
  let drawn = -1;
  for (let i = firstAfter(layout, rows, view.begin); i < rows.length; i++) {
    const row = rows[i] ?? 0;
    if ((layout.left[row] ?? 0) >= end) break;
    const [x0, x1] = edgesOf(layout, row, view, width);
    if (x1 <= drawn) continue;
    drawn = Math.max(x1, Math.floor(x0) + 1);
    drawFrame(brush, scene, row, x0, y, Math.max(1, x1 - x0 - GAP));
  }
}

function drawFrame(
  brush: FlameBrush,
  scene: FlameScene,
  row: number,
  x: number,
  y: number,
  width: number,
): void {
  const { context, hatch } = brush;
  const high = FRAME_HEIGHT - GAP;
  const kind = scene.kind[row] ?? 0;
  const found = scene.found?.[row];
  context.globalAlpha = found === 0 ? FADED : 1;
  const tint = scene.tint?.colours[scene.tint.of[row] ?? -1];
  context.fillStyle = tint
    ? `hsl(${tint[0]} ${tint[1]}% ${brush.light})`
    : (brush.kinds[kind] ?? brush.muted);
  context.fillRect(x, y, width, high);
  if (scene.hatched?.[row] && hatch && width >= 3) {
    context.fillStyle = hatch;
    context.fillRect(x, y, width, high);
  }
  if (found) {
    context.fillStyle = brush.accent;
    context.fillRect(x, y + high - 3, width, 3);
  }
  const face = brush.faces[kind];
  if (width < LEAST_WIDTH || !face) return;
  const text = face.letters.fit(scene.name[row] ?? "", width - 2 * PADDING);
  if (!text) return;
  context.font = face.font;
  context.fillStyle = brush.text;
  context.fillText(text, x + PADDING, y + high / 2 + 0.5);
}

function hatchOf(context: CanvasRenderingContext2D, colour: string): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const brush = tile.getContext("2d");
  if (!brush) return null;
  brush.strokeStyle = colour;
  brush.globalAlpha = 0.4;
  brush.beginPath();
  for (const at of [-8, 0, 8]) {
    brush.moveTo(at - 1, 9);
    brush.lineTo(at + 9, -1);
  }
  brush.stroke();
  return context.createPattern(tile, "repeat");
}
