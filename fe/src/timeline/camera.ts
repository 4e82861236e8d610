/** Where the timeline looks: the view in time and the scroll position over rows, and how both move on their own (animations, held keys). */

import { clamp } from "../base/clamp";
import { HeldKeys } from "./keyboard";
import type { TimeRange } from "./types";
import { between, bring, confine, ease, lengthOf, panBy, whole, zoomAt } from "./viewport";

interface Flight<T> {
  from: T;
  to: T;
  begun: number | null;
  length: number;
  curve: (p: number) => number;
}

const ZOOM_MS = 130;
const FLIGHT_MS = 320;
const SCROLL_MS = 200;
/** Steps of a wheel smaller than this e-fold are already smooth. */
const SMALL_STEP = 0.12;
/** After a pause of the browser a held key must not jump. */
const LONGEST_FRAME = 0.1;
/** So long after it was sent somewhere, ms, panels that open for it leave the view as it is. */
const JUST_SENT = 1000;

const easeOut = (p: number): number => 1 - (1 - p) ** 3;

export class Camera {
  view: TimeRange;
  scroll = 0;
  readonly keys = new HeldKeys();
  /** Share of the width about which held keys zoom. */
  keyCentre = 0.5;
  still = false;
  #span: TimeRange;
  #content = 0;
  #height = 0;
  /** How far it may stay scrolled though the rows end above. */
  #slack = 0;
  #sentAt = -Infinity;
  #flight: Flight<TimeRange> | null = null;
  #slide: Flight<number> | null = null;
  #last: number | null = null;

  readonly #onMove: () => void;

  /** `onMove` is called whenever it was sent somewhere: a frame is to be drawn. */
  constructor(span: TimeRange, view: TimeRange | null, onMove: () => void = () => undefined) {
    this.#span = span;
    this.#onMove = onMove;
    this.view = view ? confine(view, span) : whole(span);
  }

  /** New bounds; a view of the whole stays one. */
  setSpan(span: TimeRange): void {
    if (span.t0 === this.#span.t0 && span.t1 === this.#span.t1) return;
    const all = lengthOf(this.view) >= lengthOf(whole(this.#span)) * (1 - 1e-9);
    this.#span = span;
    this.#flight = null;
    this.view = all ? whole(span) : confine(this.view, span);
  }

  /** Heights of the content and of the canvas, px. A canvas that grows (a panel was closed) leaves the rows where they are. */
  setHeights(content: number, height: number): void {
    if (content !== this.#content) this.#slack = 0;
    else if (height !== this.#height) this.#slack = this.scroll;
    this.#content = content;
    this.#height = height;
    this.scroll = this.#limited(this.scroll);
  }

  /** The canvas is `ratio` times as wide as before: what is seen stays where it is, except on the way to what was just asked for. */
  widen(ratio: number): void {
    if (this.#flight || performance.now() - this.#sentAt < JUST_SENT) return;
    const { t0, t1 } = this.view;
    this.view = confine({ t0, t1: t0 + (t1 - t0) * ratio }, this.#span);
  }

  get scrollRange(): number {
    return Math.max(0, this.#content - this.#height, this.#slack);
  }

  /** Where the view is going; the view itself when it rests. */
  get goal(): TimeRange {
    return this.#flight?.to ?? this.view;
  }

  zoom(at: number, factor: number): void {
    this.#onMove();
    if (this.still || Math.abs(Math.log(factor)) < SMALL_STEP) {
      this.#jump(zoomAt(this.view, at, factor, this.#span));
      return;
    }
    // From the goal on, so that quick notches add up, but about the time that is under the pointer now.
    const time = this.view.t0 + at * lengthOf(this.view);
    const limit = { t0: 0, t1: lengthOf(whole(this.#span)) };
    const goal = zoomAt({ t0: 0, t1: lengthOf(this.goal) }, 0, factor, limit);
    const length = lengthOf(goal);
    const to = confine({ t0: time - at * length, t1: time + (1 - at) * length }, this.#span);
    this.#fly(to, ZOOM_MS, easeOut);
  }

  pan(share: number): void {
    this.#onMove();
    this.#jump(panBy(this.view, share, this.#span));
  }

  go(view: TimeRange, animate: boolean): void {
    this.#onMove();
    this.#sentAt = performance.now();
    const to = confine(view, this.#span);
    if (!animate || this.still) this.#jump(to);
    else this.#fly(to, FLIGHT_MS, ease);
  }

  bring(range: TimeRange, animate: boolean): void {
    const to = bring(this.goal, range, this.#span);
    if (to !== this.goal) this.go(to, animate);
  }

  whole(animate: boolean): void {
    this.go(whole(this.#span), animate);
  }

  scrollBy(px: number): boolean {
    this.#slide = null;
    const before = this.scroll;
    this.scroll = this.#limited(before + px);
    this.#slack = Math.min(this.#slack, this.scroll);
    if (this.scroll !== before) this.#onMove();
    return this.scroll !== before;
  }

  scrollTo(y: number, animate: boolean): void {
    const to = this.#limited(y);
    this.#onMove();
    this.#slide = null;
    if (!animate || this.still) this.scroll = to;
    else if (to !== this.scroll)
      this.#slide = { from: this.scroll, to, begun: null, length: SCROLL_MS, curve: easeOut };
  }

  rest(): void {
    this.#flight = null;
    this.#slide = null;
    this.keys.clear();
  }

  get moving(): boolean {
    return this.#flight !== null || this.#slide !== null || this.keys.moving;
  }

  /** One frame at a time, ms. */
  tick(now: number): void {
    if (!this.moving) {
      this.#last = null;
      return;
    }
    const seconds =
      this.#last === null ? 1 / 60 : Math.min(LONGEST_FRAME, (now - this.#last) / 1000);
    this.#last = now;
    this.#fall(now);
    if (this.keys.moving) {
      const { zoom, pan } = this.still ? this.keys.step() : this.keys.motion(seconds);
      if (zoom !== 1) this.#jump(zoomAt(this.view, this.keyCentre, zoom, this.#span));
      if (pan !== 0) this.#jump(panBy(this.view, pan, this.#span));
    }
  }

  #fall(now: number): void {
    if (this.#flight) {
      this.#flight.begun ??= now;
      const p = (now - this.#flight.begun) / this.#flight.length;
      this.view = confine(
        between(this.#flight.from, this.#flight.to, this.#flight.curve(p)),
        this.#span,
      );
      if (p >= 1) {
        this.view = this.#flight.to;
        this.#flight = null;
      }
    }
    if (this.#slide) {
      this.#slide.begun ??= now;
      const p = Math.min(1, (now - this.#slide.begun) / this.#slide.length);
      this.scroll = this.#limited(
        this.#slide.from + (this.#slide.to - this.#slide.from) * this.#slide.curve(p),
      );
      if (p >= 1) this.#slide = null;
    }
  }

  #fly(to: TimeRange, length: number, curve: (p: number) => number): void {
    this.#flight = { from: this.view, to, begun: null, length, curve };
  }

  #jump(view: TimeRange): void {
    this.#flight = null;
    this.view = view;
  }

  #limited(y: number): number {
    return clamp(Math.round(y), 0, this.scrollRange);
  }
}
