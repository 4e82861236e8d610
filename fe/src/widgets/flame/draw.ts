import { fontOfTheme, tokensOfTheme } from "../../base/theme";
import { LEAST_WIDTH, Letters, PADDING } from "../labels";
import { firstAfter, type FlameLayout, type FlameView } from "./layout";

/** Height of a frame with the gap below it, css px. */
export const FRAME_HEIGHT = 19;
/** How a kind is written, so that none is told by its colour alone. */
const STYLES = ["600 ", "italic ", "", "", "italic "] as const;
export const FLAME_KINDS = ["module", "annotation", "operator", "line", "rest"] as const;
const GAP = 1;
const FADED = 0.3;

type FlamePalette = ReturnType<typeof flamePalette>;

function flamePalette() {
  const tokens = tokensOfTheme();
  const token = (name: string): string => tokens(name) || "#888888";
  return {
    kinds: FLAME_KINDS.map((kind) => token(`--flame-${kind}`)),
    text: token("--text"),
    muted: token("--muted"),
    accent: token("--accent"),
    light: tokens("--flame-light") || "50%",
    font: `12px ${fontOfTheme()}`,
  };
}

/** Colours by something else than the kind: of each frame a place in hues (degrees) with their saturation (%). */
export interface FlameTint {
  of: ArrayLike<number>;
  colours: readonly (readonly [hue: number, saturation: number])[];
}

/** The line on which a level stands, from the top; `upward`: the outermost frames at the bottom. */
export const lineOf = (level: number, levels: number, upward: boolean): number =>
  upward ? levels - 1 - level : level;

export interface FlameScene {
  layout: FlameLayout;
  name: readonly string[];
  /** Place in `FLAME_KINDS` of each frame. */
  kind: ArrayLike<number>;
  hatched: ArrayLike<boolean>;
  /** Frames that a search found; null without one. */
  found: Uint8Array | null;
  tint?: FlameTint | null;
  upward?: boolean;
  view: FlameView;
  scroll: number;
  width: number;
  height: number;
}

export class FlamePainter {
  private letters: Letters[] = [];
  private palette: FlamePalette | null = null;
  private hatch: CanvasPattern | null = null;

  private readonly canvas: HTMLCanvasElement;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  forget(): void {
    this.palette = null;
  }

  draw(scene: FlameScene): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = scene;
    if (
      this.canvas.width !== Math.round(width * ratio) ||
      this.canvas.height !== Math.round(height * ratio)
    ) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.textBaseline = "middle";
    const palette = (this.palette ??= this.prepare(context));
    const first = Math.max(0, Math.floor(scene.scroll / FRAME_HEIGHT));
    const last = Math.min(
      scene.layout.byLevel.length,
      Math.ceil((scene.scroll + height) / FRAME_HEIGHT),
    );
    for (let line = first; line < last; line++) this.drawLine(context, scene, line, palette);
    context.globalAlpha = 1;
  }

  private prepare(context: CanvasRenderingContext2D): FlamePalette {
    const palette = flamePalette();
    this.letters = STYLES.map(
      (style) =>
        new Letters(
          (letter) => ((context.font = style + palette.font), context.measureText(letter).width),
        ),
    );
    this.hatch = hatchOf(context, palette.muted);
    return palette;
  }

  private drawLine(
    context: CanvasRenderingContext2D,
    scene: FlameScene,
    line: number,
    palette: FlamePalette,
  ): void {
    const { layout, view, width } = scene;
    const rows = layout.byLevel[lineOf(line, layout.byLevel.length, scene.upward === true)];
    if (!rows || view.length <= 0) return;
    const scale = width / view.length;
    const end = view.begin + view.length;
    const y = line * FRAME_HEIGHT - scene.scroll;
    // What is narrower than a pixel is drawn once per pixel.
    let drawn = -1;
    for (let i = firstAfter(layout, rows, view.begin); i < rows.length; i++) {
      const row = rows[i] ?? 0;
      const left = layout.left[row] ?? 0;
      if (left >= end) break;
      const x0 = Math.max(0, (left - view.begin) * scale);
      const x1 = Math.min(width, (left + (layout.width[row] ?? 0) - view.begin) * scale);
      if (x1 <= drawn) continue;
      drawn = Math.max(x1, Math.floor(x0) + 1);
      this.drawFrame(context, scene, row, palette, { x: x0, y, width: Math.max(1, x1 - x0 - GAP) });
    }
  }

  private drawFrame(
    context: CanvasRenderingContext2D,
    scene: FlameScene,
    row: number,
    palette: FlamePalette,
    box: { x: number; y: number; width: number },
  ): void {
    const { x, y, width } = box;
    const high = FRAME_HEIGHT - GAP;
    const kind = scene.kind[row] ?? 0;
    const found = scene.found?.[row];
    context.globalAlpha = found === 0 ? FADED : 1;
    const tint = scene.tint?.colours[scene.tint.of[row] ?? -1];
    context.fillStyle = tint
      ? `hsl(${tint[0]} ${tint[1]}% ${palette.light})`
      : (palette.kinds[kind] ?? palette.muted);
    context.fillRect(x, y, width, high);
    if (scene.hatched[row] && this.hatch && width >= 3) {
      context.fillStyle = this.hatch;
      context.fillRect(x, y, width, high);
    }
    if (found) {
      context.fillStyle = palette.accent;
      context.fillRect(x, y + high - 3, width, 3);
    }
    if (width < LEAST_WIDTH) return;
    const text = this.letters[kind]?.fit(scene.name[row] ?? "", width - 2 * PADDING);
    if (!text) return;
    context.font = (STYLES[kind] ?? "") + palette.font;
    context.fillStyle = palette.text;
    context.fillText(text, x + PADDING, y + high / 2 + 0.5);
  }
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
