/** What browser tests may ask of the canvas, which has no elements that they could find: `window.__profiler_test`. */

import type { TimelineProps } from "./props";
import type { Scene } from "./scene";
import type { DrawStats } from "./draw";
import type { CurveValue, Row, Slice, TimeRange } from "./types";
import { topOf, xAt } from "./viewport";

export interface ProfilerTest {
  rows: () => (Row & { top: number })[];
  view: () => TimeRange;
  scroll: () => { at: number; range: number };
  size: () => { width: number; height: number };
  sliceAt: (x: number, y: number) => (Slice & { label: string }) | null;
  xOf: (time: number) => number;
  selected: () => TimelineProps["selected"];
  /** Of the area, by the label of the curve. */
  figures: () => [string, CurveValue][];
  zoomTo: (range: TimeRange) => void;
  /** Nothing moves, nothing is on its way, and the view around the canvas knows what is in sight. */
  idle: () => boolean;
  stats: () => { draw: DrawStats | null };
  /** Last frames, ms: time on the main thread, and of it drawing the canvas. */
  times: () => { frames: readonly number[]; draws: readonly number[] };
  clearTimes: () => void;
}

declare global {
  interface Window {
    __profiler_test?: ProfilerTest;
  }
}

export function expose(scene: Scene, props: () => TimelineProps): () => void {
  const hook = hookOf(scene, props);
  window.__profiler_test = hook;
  return () => {
    if (window.__profiler_test === hook) delete window.__profiler_test;
  };
}

function hookOf(scene: Scene, props: () => TimelineProps): ProfilerTest {
  const { camera, clock } = scene;
  return {
    rows: () => scene.rows.map((row) => ({ ...row, top: topOf(scene, row) })),
    view: () => camera.view,
    scroll: () => ({ at: camera.scroll, range: camera.scrollRange }),
    size: () => ({ width: scene.width, height: scene.height }),
    sliceAt: (x, y) => {
      const slice = scene.sliceUnder({ x, y });
      return slice && { ...slice, label: props().sources[slice.source]?.name(slice.name) ?? "" };
    },
    xOf: (time) => xAt(scene, time),
    selected: () => props().selected,
    figures: () =>
      scene.rows.flatMap((row) => {
        const value = props().figures.get(row.key);
        return value ? [[row.label, value]] : [];
      }),
    zoomTo: (range) => camera.go(range, false),
    idle: () => !camera.moving && !scene.store.busy && !scene.viewEvents.pending,
    stats: () => ({ draw: scene.stats }),
    times: () => clock,
    clearTimes: () => clock.clear(),
  };
}
