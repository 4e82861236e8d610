import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Controlled, gestureTarget, onKeyDown } from "./controls";
import type { DrawStats } from "./draw";
import { listen } from "./gestures";
import { HoverNews } from "./hover_card";
import type { TimelineHandle, TimelineProps } from "./props";
import { type LaneOfSource, NO_ROWS, type RowLayout, sameLane, withLane } from "./rows";
import { Scene, type SceneElements } from "./scene";
import type { CurveValue, Row, Slice, TimeRange } from "./types";
import { topOf, xAt } from "./viewport";

export interface Slot<T> {
  current: T | null;
}

type SceneRefs = { [E in keyof SceneElements]: Slot<SceneElements[E]> } & {
  root: Slot<HTMLDivElement>;
};

const ELEMENTS = [
  "root",
  "stage",
  "canvas",
  "ruler",
  "minimap",
  "list",
  "sticky",
  "bar",
  "frame",
  "measure",
] as const satisfies readonly (keyof SceneRefs)[];

export interface SceneState {
  refs: SceneRefs;
  scene: { readonly current: Scene | null };
  layout: RowLayout;
  rows: readonly Row[];
  hover: HoverNews;
  problem: unknown;
  busy: boolean;
  grabbed: boolean;
  /** How to zoom is to be said. */
  hint: boolean;
  /** `on`: the next clicks are the ends of a distance; `ns`: the one that was measured last. */
  measured: { on: boolean; ns: number | null };
  measure: (on: boolean) => void;
}

export function useScene(props: TimelineProps, areaTool: boolean): SceneState {
  const refs = useSceneRefs();
  const scene = useRef<Scene | null>(null);
  const newest = useRef({ props, areaTool });
  newest.current = { props, areaTool };
  const [inSight, setInSight] = useState<Pick<SceneState, "layout" | "rows">>({
    layout: NO_ROWS,
    rows: [],
  });
  const [hover] = useState(() => new HoverNews());
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [grabbed, setGrabbed] = useState(false);
  const { hint, onHint } = useHint();
  const { measured, tell } = useMeasured(scene);
  const wanted = useRef<LaneOfSource | null>(null);

  useLayoutEffect(() => {
    const elements = elementsOf(refs);
    if (!elements) return undefined;
    const live = new Scene(elements, newest.current.props, {
      onRowsInSight: (layout, rows) => setInSight({ layout, rows }),
      onHover: (under, at) =>
        hover.set(under && at && { under, at, room: { width: live.width, height: live.height } }),
      onProblem: setProblem,
      onBusy: setBusy,
    });
    scene.current = live;
    const controlled: Controlled = {
      scene: live,
      props: () => newest.current.props,
      areaTool: () => newest.current.areaTool,
      onGrabbed: setGrabbed,
      onHint,
      onMeasure: tell,
    };
    const ends = [
      listen(elements.canvas, gestureTarget(controlled)),
      listenToKeys(controlled, refs.root),
      expose(live, controlled.props),
    ];
    newest.current.props.handle?.(handleOf(live, controlled.props, wanted));
    return () => {
      newest.current.props.handle?.(null);
      for (const end of ends) end();
      live.dispose();
      scene.current = null;
    };
  }, [refs, hover, tell, onHint]);

  useLayoutEffect(() => {
    const now = scene.current;
    if (!now) return;
    now.update(props);
    if (wanted.current) showLane(now, wanted);
  });

  const measure = (on: boolean): void => {
    scene.current?.measure.turn(on);
    tell();
  };
  return { refs, scene, ...inSight, hover, problem, busy, grabbed, hint, measured, measure };
}

const HINT_MS = 2000;

/** Said for a while after it was last asked for. */
function useHint() {
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (!asked) return undefined;
    const timer = setTimeout(() => setAsked(0), HINT_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  const onHint = useCallback(() => setAsked((times) => times + 1), []);
  return { hint: asked > 0, onHint };
}

/** What was measured, told after every change. */
function useMeasured(scene: { readonly current: Scene | null }) {
  const [measured, setMeasured] = useState<SceneState["measured"]>({ on: false, ns: null });
  const tell = useCallback(() => {
    const live = scene.current;
    if (!live) return;
    const { on, range } = live.measure;
    setMeasured({ on, ns: range && range.t1 - range.t0 });
    live.invalidate();
  }, [scene]);
  return { measured, tell };
}

function useSceneRefs(): SceneRefs {
  const [refs] = useState(
    () => Object.fromEntries(ELEMENTS.map((name) => [name, { current: null }])) as SceneRefs,
  );
  return refs;
}

/** Null until all of them stand. */
function elementsOf(refs: SceneRefs): SceneElements | null {
  const elements = ELEMENTS.map((name) => [name, refs[name].current] as const);
  return elements.every(([, element]) => element)
    ? (Object.fromEntries(elements) as unknown as SceneElements)
    : null;
}

/** Keys work while the timeline, or nothing at all, has the focus; Escape and ? on the whole page. */
function listenToKeys(controlled: Controlled, root: Slot<HTMLElement>): () => void {
  const { keys } = controlled.scene.camera;
  const ours = (target: EventTarget | null): boolean =>
    target === document.body || (target instanceof Node && root.current?.contains(target) === true);
  const down = (event: KeyboardEvent): void => {
    const mine = ours(event.target) || event.key === "Escape" || event.key === "?";
    if (mine && onKeyDown(controlled, event)) event.preventDefault();
    // Shift may come after the key that it makes faster.
    else if (event.key === "Shift") keys.press(event);
  };
  const up = (event: KeyboardEvent): void => keys.release(event);
  // A key that goes up while another window has the focus is never told.
  const lost = (): void => keys.clear();
  const over = new AbortController();
  const { signal } = over;
  document.addEventListener("keydown", down, { signal });
  document.addEventListener("keyup", up, { signal });
  window.addEventListener("blur", lost, { signal });
  return () => over.abort();
}

/** Scrolls to a lane that was asked for, once its row is there. */
function showLane(scene: Scene, wanted: { current: LaneOfSource | null }): void {
  const lane = wanted.current;
  if (!lane) return;
  scene.settleRows();
  const rows = scene.layout.rows.filter((row) => sameLane(row, lane));
  // A folded row may stand for the lane as well.
  const row = rows.find(({ open }) => open !== false) ?? rows[0];
  if (!row) return;
  wanted.current = null;
  scene.showRow(row, true);
}

function handleOf(
  scene: Scene,
  props: () => TimelineProps,
  wanted: { current: LaneOfSource | null },
): TimelineHandle {
  return {
    zoomTo: (range, { animate = true, margin = 0.1 } = {}) =>
      scene.showRange(range, margin, animate),
    panTo: (range, animate = true) => scene.camera.bring(range, animate),
    reveal: (source, lane) => {
      const { rows, tree, onRows } = props();
      wanted.current = { source, lane };
      const next = withLane(rows, tree, source, lane);
      if (next === rows) showLane(scene, wanted);
      else onRows(next);
    },
    view: () => scene.camera.view,
    redraw: scene.invalidate,
  };
}

/** Says the newest text for a moment after it was set, so that a screen reader is not flooded while things move. */
export function useAnnouncement(
  text: () => string,
  dependencies: readonly unknown[],
  pause: number,
): string {
  const [spoken, setSpoken] = useState("");
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(newest.current()), pause);
    return () => clearTimeout(timer);
    // The text is read when the pause is over.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, dependencies);
  return spoken;
}

interface ProfilerTest {
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

/** What browser tests may ask of the canvas, which has no elements that they could find: `window.__profiler_test`. */
function expose(scene: Scene, props: () => TimelineProps): () => void {
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
