/**
 * The moving part of the timeline: it owns the camera, the tiles and the painter, and draws one frame when something changed and none when nothing did.
 * It lives outside Preact, because nothing of it may cost a diff per frame.
 */

import { fontOfTheme, watchTheme } from "../base/theme";
import { formatExactTime } from "../base/units";
import { Camera } from "./camera";
import { type DrawStats, Painter } from "./draw";
import { MinimapPainter } from "./draw_minimap";
import { drawRuler, STEP_BAND, TICK_BAND } from "./draw_ruler";
import type { Point } from "./gestures";
import { gapAt } from "./gaps";
import { rowUnder, sliceAt } from "./hit";
import { takesKeys } from "./keyboard";
import { Measure, snapped } from "./measure";
import { paletteOfTheme } from "./palette_of_theme";
import type { Selected, VisibleRange, TimelineProps } from "./props";
import {
  type Growth,
  growthFor,
  layOut,
  NO_ROWS,
  type RowLayout,
  rowsInSight,
  sameLane,
} from "./rows";
import { areaOf, extentOf, scrollFor, visibleRangeOf } from "./visible_range";
import { stickyShift } from "./sticky";
import { ViewEvents } from "./view_events";
import { TileStore } from "./tile_store";
import type { Area, Boundary, Frame, Gap, Palette, Row, Slice, TimeRange } from "./types";
import { columnsOf, fit, lengthOf, middleOf, rangeOf, timeAt, topOf, xAt } from "./viewport";

/** What can be told about at the pointer; `time`: that of the pointer. */
export type Under =
  | { kind: "slice"; slice: Slice; row: Row | null }
  | { kind: "row"; row: Row; time: number }
  | { kind: "gap"; gap: Gap }
  | { kind: "boundary"; boundary: Boundary };

export interface SceneElements {
  stage: HTMLDivElement;
  canvas: HTMLCanvasElement;
  ruler: HTMLCanvasElement;
  minimap: HTMLCanvasElement;
  list: HTMLDivElement;
  sticky: HTMLDivElement;
  /** A native scroll bar; its only child is as high as the content. */
  bar: HTMLDivElement;
  frame: HTMLDivElement;
  measure: HTMLDivElement;
}

/** What the scene tells its component, the last two at each frame. */
export interface SceneNews {
  onRowsInSight: (layout: RowLayout, rows: readonly Row[]) => void;
  onHover: (under: Under | null, at: Point | null) => void;
  /** Tiles cannot be had: an error; `null`: all is well again. */
  onProblem: (error: unknown) => void;
  onBusy: (busy: boolean) => void;
}

/** Css px of the window below the canvas. */
const BELOW_ROWS = 16;
/** Pinned rows get at most this share of the canvas. */
const PINNED_SHARE = 0.6;
/** From a measured point to the edge that is meant, px. */
const SNAP = 8;
/** Something must be on its way for so long, ms, before it is said. */
const PATIENCE = 350;

const NO_FIGURES: TimelineProps["figures"] = new Map();

export function rulerHeight(props: Pick<TimelineProps, "boundaries">): number {
  return props.boundaries.length > 0 ? STEP_BAND + TICK_BAND : TICK_BAND;
}

export class Scene {
  readonly camera: Camera;
  layout: RowLayout = NO_ROWS;
  rows: readonly Row[] = [];
  frame: Frame | null = null;
  hovered: Slice | null = null;
  /** Where the pointer is on the canvas; `null`: elsewhere, or it is dragging. */
  pointer: Point | null = null;
  readonly measure = new Measure();
  #draft: Area | null = null;
  stats: DrawStats | null = null;
  readonly clock = new FrameClock();
  width = 0;
  height = 0;
  store: TileStore;
  #props: TimelineProps;
  readonly #elements: SceneElements;
  readonly #news: SceneNews;
  readonly #painter: Painter;
  readonly #minimap: MinimapPainter;
  readonly viewEvents: ViewEvents;
  #palette: Palette;
  #font: string;
  readonly #lessMotion = window.matchMedia("(prefers-reduced-motion: reduce)");
  #request = 0;
  readonly #endings: (() => void)[] = [];
  #told = {
    pointer: null as Point | null,
    layout: NO_ROWS,
    rows: [] as readonly Row[],
  };
  #busySince: number | null = null;
  #laidOut: readonly unknown[] = [];
  #growth: Growth | undefined;

  constructor(elements: SceneElements, props: TimelineProps, news: SceneNews) {
    this.#elements = elements;
    this.#props = props;
    this.#news = news;
    this.camera = new Camera(props.span, props.initialView, this.invalidate);
    this.#palette = paletteOfTheme();
    this.#font = fontOfTheme();
    this.#painter = new Painter(elements.canvas, `11px ${this.#font}`);
    this.#minimap = new MinimapPainter(elements.minimap);
    this.store = new TileStore(props.sources, this.invalidate);
    this.viewEvents = new ViewEvents(
      (visible) => this.#props.onVisible(visible),
      (view) => this.#props.onViewSettled(view),
    );
    this.#endings.push(watchTheme(this.#rePaint), this.#watchSize());
  }

  get view(): TimeRange {
    return this.camera.view;
  }

  get scroll(): number {
    return this.camera.scroll;
  }

  update(props: TimelineProps): void {
    const { sources } = this.#props;
    this.#props = props;
    if (sources !== props.sources && !this.store.place(props.sources)) {
      this.store.dispose();
      this.store = new TileStore(props.sources, this.invalidate);
      this.hovered = null;
    }
    this.camera.setSpan(props.span);
    this.invalidate();
  }

  dispose(): void {
    cancelAnimationFrame(this.#request);
    // Nothing draws any more, whatever still calls.
    this.width = 0;
    this.viewEvents.end();
    this.store.dispose();
    for (const end of this.#endings) end();
  }

  /** Asks for a frame; many times before it is the same as once. */
  readonly invalidate = (): void => {
    if (this.#request === 0) this.#request = requestAnimationFrame(this.#render);
  };

  /** Lays the rows out at once where they changed, for those who need to know before the next frame. */
  settleRows(): void {
    const room = Math.round(this.height * PINNED_SHARE);
    const { tree, rows } = this.#props;
    // Of the window, not of the canvas: rows may not grow and shrink with the panels about them.
    const tall = window.innerHeight;
    const now = [tree, rows, room, tall];
    if (now.every((part, i) => part === this.#laidOut[i])) return;
    if (tree !== this.#laidOut[0] || tall !== this.#laidOut[3])
      this.#growth = growthFor(
        tree,
        tall - this.#elements.stage.getBoundingClientRect().top - BELOW_ROWS,
      );
    this.#laidOut = now;
    this.layout = layOut(tree, rows, room, this.#growth);
    this.camera.setHeights(this.layout.height, this.height);
  }

  /** The keys act on the timeline from now on, unless somebody is typing. */
  takeKeys(): void {
    if (!takesKeys(document.activeElement)) this.#elements.canvas.focus({ preventScroll: true });
  }

  showRow(row: Row, animate: boolean): void {
    this.camera.scrollTo(scrollFor(this, row), animate);
  }

  showRange(range: TimeRange, margin: number, animate: boolean): void {
    // What has no length gets the closest look that still shows where it is.
    const stretch = range.t1 > range.t0 ? range : { t0: range.t0 - 500, t1: range.t0 + 500 };
    this.camera.go(fit(stretch, margin, this.#props.span), animate);
  }

  visible(): VisibleRange {
    return visibleRangeOf(this);
  }

  /** The area of a stroke: a draft until it is done, then chosen. `to`: `null` where the stroke was given up. */
  drawArea(from: Point, to: Point | null, done: boolean): void {
    const area = to && areaOf(from, to, this);
    this.#draft = done ? null : area;
    this.invalidate();
    if (done && area) this.#props.onArea(area);
  }

  sliceUnder(at: Point): Slice | null {
    return this.frame && sliceAt(this.frame, this.store, at.x, at.y);
  }

  /** The slice of a selection, when it is in sight and stands for itself there. */
  sliceOf(selected: Selected): Slice | null {
    const row = this.rows.find((one) => sameLane(one, selected));
    if (!row) return null;
    const y = topOf(this, row) + row.height / 2;
    const slice = this.sliceUnder({ x: xAt(this, middleOf(selected)), y });
    return slice?.event === selected.event && slice.count <= 1 ? slice : null;
  }

  /** The time at a point, or that of a slice's edge close by. */
  edgeNear({ x, y }: Point): number {
    const near = [-SNAP, -SNAP / 2, 0, SNAP / 2, SNAP].map((by) =>
      this.sliceUnder({ x: x + by, y }),
    );
    return snapped(Math.round(this.timeUnder(x)), near, SNAP * this.visible().nsPerPx);
  }

  /** The row of the selection, when it is in sight. */
  #selectedRow(): Row | undefined {
    const { selected } = this.#props;
    return this.rows.find(
      (row) => selected && sameLane(row, selected) && topOf(this, row) + row.height <= this.height,
    );
  }

  boundaryUnder(x: number): Boundary | undefined {
    const time = this.timeUnder(x);
    return this.#props.boundaries.find(({ start, end }) => start <= time && time < end);
  }

  /** A column as a share of the width. */
  shareAt(x: number): number {
    return x / Math.max(1, this.width);
  }

  timeUnder(x: number): number {
    return timeAt(this, x);
  }

  /** The chosen area, or the one that is being chosen. */
  get #area(): Area | null {
    return this.#draft ?? this.#props.area;
  }

  readonly #render = (now: number): void => {
    this.#request = 0;
    if (this.width <= 0 || this.height <= 0) return;
    this.camera.still = this.#lessMotion.matches;
    this.camera.tick(now);
    this.settleRows();
    const begun = performance.now();
    this.rows = rowsInSight(this.layout, this.scroll, this.height);
    const visible = this.visible();
    this.store.want(visible.view, visible.nsPerPx, visible.lanes);
    this.frame = this.#makeFrame();
    this.#hover(this.frame);
    this.stats = this.#painter.draw(this.frame, this.store);
    this.#drawScales(this.frame);
    this.#moveElements();
    this.#tell(now, visible);
    this.clock.add(performance.now() - begun, this.stats.ms);
    if (this.camera.moving) this.invalidate();
  };

  #makeFrame(): Frame {
    return {
      ...this.#props,
      width: this.width,
      height: this.height,
      ratio: window.devicePixelRatio || 1,
      view: this.view,
      scroll: this.scroll,
      rows: this.rows,
      pinnedHeight: this.layout.pinnedHeight,
      palette: this.#palette,
      hovered: null,
      area: this.#area,
      figures: this.#draft ? NO_FIGURES : this.#props.figures,
      pointer: this.pointer,
    };
  }

  /** What is under the pointer changes when the view moves as well. */
  #hover(frame: Frame): void {
    const { pointer, hovered } = this;
    const slice = pointer && pointer.y >= 0 ? this.sliceUnder(pointer) : null;
    frame.hovered = this.hovered = slice;
    const same = slice && hovered ? sameSlice(slice, hovered) : slice === hovered;
    if (!same) this.#elements.stage.toggleAttribute("data-on", slice !== null);
    if (same && pointer === this.#told.pointer) return;
    this.#told.pointer = pointer;
    this.#news.onHover(pointer && this.#under(frame, slice, pointer), pointer);
  }

  #under(frame: Frame, slice: Slice | null, { x, y }: Point): Under | null {
    const time = this.timeUnder(x);
    if (y < 0) {
      const boundary = y < STEP_BAND - rulerHeight(this.#props) && this.boundaryUnder(x);
      return boundary ? { kind: "boundary", boundary } : null;
    }
    const row = rowUnder(frame, y) ?? null;
    const gap = row && gapAt(frame, row, time);
    if (gap) return { kind: "gap", gap };
    if (slice) return { kind: "slice", slice, row };
    return row && (row.counter >= 0 || row.overlap) ? { kind: "row", row, time } : null;
  }

  #drawScales(frame: Frame): void {
    const { span, activity, selected, hitHeat: heat } = this.#props;
    drawRuler(this.#elements.ruler, {
      ...frame,
      height: rulerHeight(this.#props),
      origin: span.t0,
      chosen: this.#area ?? (selected && rangeOf(selected)),
      pointer: this.pointer && this.timeUnder(this.pointer.x),
      font: this.#font,
    });
    this.#minimap.draw({ ...frame, span, activity, heat });
  }

  #moveElements(): void {
    const { list, sticky, bar, frame } = this.#elements;
    this.#moveMeasure();
    list.style.transform = `translateY(${-this.scroll}px)`;
    sticky.style.transform = `translateY(${stickyShift(this.layout, this.rows, this.scroll)}px)`;
    const child = bar.firstElementChild;
    const length = `${this.camera.scrollRange + this.height}px`;
    if (child instanceof HTMLElement && child.style.height !== length) child.style.height = length;
    if (Math.abs(bar.scrollTop - this.scroll) >= 1) bar.scrollTop = this.scroll;
    const area = this.#area;
    const extent = area && extentOf(area, this);
    const columns = extent && columnsOf(this, area.t0, area.t1, 4);
    frame.hidden = !columns;
    if (!columns) return;
    const [left, right] = columns;
    frame.style.transform = `translate(${left}px, ${extent.y0}px)`;
    frame.style.width = `${Math.max(2, right - left)}px`;
    frame.style.height = `${extent.y1 - extent.y0}px`;
  }

  #moveMeasure(): void {
    const { measure: element } = this.#elements;
    const { stretch, y } = this.measure;
    const columns = stretch && columnsOf(this, stretch.t0, stretch.t1, 4);
    element.hidden = !columns;
    if (!columns) return;
    const [left, right] = columns;
    element.style.transform = `translateX(${left}px)`;
    element.style.width = `${Math.max(1, right - left)}px`;
    element.style.setProperty("--at", `${Math.min(y, this.height - 24)}px`);
    const text = formatExactTime(Math.round(lengthOf(stretch)));
    if (element.textContent !== text && element.firstElementChild)
      element.firstElementChild.textContent = text;
  }

  #tell(now: number, visible: VisibleRange): void {
    const told = this.#told;
    const sameRows =
      told.layout === this.layout &&
      told.rows.length === this.rows.length &&
      told.rows[told.rows.length - 1] === this.rows[this.rows.length - 1];
    if (!sameRows) {
      told.layout = this.layout;
      told.rows = this.rows;
      this.#news.onRowsInSight(this.layout, this.rows);
    }
    this.viewEvents.see(now, { ...visible, rows: told.rows });
    this.#news.onProblem(this.store.problem);
    this.#news.onBusy(this.#busyFor(now) > PATIENCE);
  }

  /** How long something has been on its way, ms. */
  #busyFor(now: number): number {
    if (!this.store.busy) this.#busySince = null;
    else if (this.#busySince === null) {
      this.#busySince = now;
      setTimeout(this.invalidate, PATIENCE + 20);
    }
    return now - (this.#busySince ?? now);
  }

  readonly #rePaint = (): void => {
    this.#palette = paletteOfTheme();
    this.#font = fontOfTheme();
    this.invalidate();
  };

  #watchSize(): () => void {
    let windowWidth = window.innerWidth;
    const measure = (): void => {
      const { clientWidth, clientHeight } = this.#elements.stage;
      if (clientWidth === this.width && clientHeight === this.height) return;
      // A panel opened or a border was moved. Of a larger or smaller window the same stretch is seen.
      if (this.width > 0 && clientWidth > 0 && windowWidth === window.innerWidth)
        this.camera.widen(clientWidth / this.width);
      windowWidth = window.innerWidth;
      const seen = this.#selectedRow();
      this.width = clientWidth;
      this.height = clientHeight;
      this.camera.setHeights(this.layout.height, this.height);
      // What was just selected may not vanish below the panel that tells of it.
      if (seen && !this.#selectedRow()) this.showRow(seen, false);
      // At once, because a canvas of the old size would be seen stretched for a frame.
      this.#render(performance.now());
    };
    const observer = new ResizeObserver(measure);
    observer.observe(this.#elements.stage);
    // The ratio of px changes with the browser's zoom.
    window.addEventListener("resize", this.invalidate);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", this.invalidate);
    };
  }
}

const sameSlice = (a: Slice, b: Slice): boolean =>
  sameLane(a, b) && a.event === b.event && a.count === b.count;

const KEPT = 600;

/** How long frames took, for those who measure: the last ones only. */
export class FrameClock {
  /** Main-thread time of each frame, ms. */
  readonly frames: number[] = [];
  readonly draws: number[] = [];

  add(frame: number, draw: number): void {
    push(this.frames, frame);
    push(this.draws, draw);
  }

  clear(): void {
    this.frames.length = 0;
    this.draws.length = 0;
  }
}

function push(values: number[], value: number): void {
  values.push(value);
  if (values.length > KEPT) values.shift();
}
