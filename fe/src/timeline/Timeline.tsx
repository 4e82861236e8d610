/** The timeline: minimap, ruler, names and canvas, with their controls. The moving part is the scene (`scene.ts`). */

import type { TargetedMouseEvent, TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { messageOf } from "../base/errors";
import { useId } from "../base/id";
import { formatExactTime, formatTime } from "../base/units";
import { Button, Splitter, useStoredSize } from "../widgets";
import { Corner } from "./corner";
import { figuresText } from "./crosshair";
import { STEP_BAND } from "./draw_ruler";
import { columnOf, wheelFactor, wheelPixels } from "./gestures";
import { HoverLayer } from "./hover_card";
import { spokenText } from "./hover_text";
import { centredAt, draggedTo, type Grip, gripAt, MINIMAP_HEIGHT } from "./minimap";
import type { TimelineProps } from "./props";
import { neighbourOf, sameLane, withAll, withMoved, withOpen, withPinned } from "./rows";
import { timeText } from "./ruler";
import { rulerHeight, type Scene } from "./scene";
import { type TrackActions, TrackList } from "./track_list";
import type { TimeRange } from "./types";
import { type SceneState, type Slot, useAnnouncement, useScene } from "./use_scene";
import { rangeOf } from "./viewport";

const NAMES_WIDTH = 236;
const INSTRUCTIONS =
  "W and S zoom, A and D pan, the arrow keys move from the selected slice to its neighbours, F zooms to the selection, R lists the events in view, " +
  "slash searches, question mark lists all keys.";

export function Timeline(given: TimelineProps) {
  const [settled, setSettled] = useState<TimeRange | null>(null);
  const props: TimelineProps = {
    ...given,
    onViewSettled: (view) => {
      setSettled(view);
      given.onViewSettled(view);
    },
  };
  const [areaTool, setAreaTool] = useState(false);
  const [width, setWidth] = useStoredSize("pytorch_profiler.timeline_names", NAMES_WIDTH);
  const state = useScene(props, areaTool);
  const { refs, scene, layout, rows } = state;
  const head = MINIMAP_HEIGHT + rulerHeight(props);
  return (
    <div
      ref={refs.root}
      class="timeline"
      style={{ "--names": `${width}px`, "--head": `${head}px` }}
    >
      <Corner
        filter={props.rows.filter}
        onFilter={(filter) => props.onRows({ ...props.rows, filter })}
        filterResult={layout.rows.length === 0 ? "none" : String(layout.rows.length)}
        areaTool={areaTool}
        onAreaTool={setAreaTool}
        measureTool={state.measured.on}
        onMeasureTool={state.measure}
        onZoom={(factor) => scene.current?.camera.zoom(0.5, factor)}
        onWhole={() => scene.current?.camera.whole(true)}
        onFold={(open) => props.onRows(withAll(props.rows, props.tree, open))}
      />
      <Splitter
        class="timeline-handle"
        label="Width of the track names"
        orientation="vertical"
        size={width}
        leads
        least={140}
        most={520}
        first={NAMES_WIDTH}
        onSize={setWidth}
      />
      <div class="timeline-scales">
        <Minimap canvas={refs.minimap} scene={scene} span={props.span} />
        <RulerView canvas={refs.ruler} scene={scene} height={rulerHeight(props)} />
      </div>
      <TrackList
        layout={layout}
        rows={rows}
        pinned={props.rows.pinned}
        actions={useActions(props, state)}
        moving={refs.list}
        sticky={refs.sticky}
      />
      <Stage props={props} state={state} areaTool={areaTool} />
      <ScrollBar state={state} />
      <Spoken props={props} state={state} settled={settled} />
    </div>
  );
}

/** A native scroll bar whose content is as high as the rows: the canvas itself cannot scroll. */
function ScrollBar({ state: { refs, scene } }: { state: SceneState }) {
  const follow = (top: number): void => {
    const camera = scene.current?.camera;
    if (camera && Math.abs(top - camera.scroll) >= 1) camera.scrollTo(top, false);
  };
  return (
    <div
      ref={refs.bar}
      class="timeline-bar"
      tabIndex={-1}
      aria-hidden="true"
      onScroll={(event) => follow(event.currentTarget.scrollTop)}
    >
      <div />
    </div>
  );
}

function useActions(props: TimelineProps, { scene }: SceneState): TrackActions {
  const { rows, tree, onRows } = props;
  return useMemo(
    () => ({
      fold: (node, open) => onRows(withOpen(rows, node, open)),
      pin: (node, pinned) => onRows(withPinned(rows, node.key, pinned)),
      canStep: (node, by) => neighbourOf(rows, tree, node.key, by) !== null,
      step: (node, by) => {
        const to = neighbourOf(rows, tree, node.key, by);
        if (to !== null) onRows(withMoved(rows, tree, node.key, to, by === 1));
      },
      move: (key, to, behind) => onRows(withMoved(rows, tree, key, to, behind)),
      focus: (row) => scene.current?.showRow(row, false),
      scroll: (dy) => scene.current?.camera.scrollBy(dy) ?? false,
    }),
    [rows, tree, onRows, scene],
  );
}

interface StageProps {
  props: TimelineProps;
  state: SceneState;
  areaTool: boolean;
}

function Stage({ props, state, areaTool }: StageProps) {
  const { refs, scene, layout, hover, problem, busy, grabbed } = state;
  const id = useId("timeline");
  const look =
    areaTool || state.measured.on
      ? " timeline-stage-area"
      : grabbed
        ? " timeline-stage-grabbed"
        : "";
  return (
    <div ref={refs.stage} class={`timeline-stage${look}`}>
      <canvas
        ref={refs.canvas}
        class="timeline-canvas"
        role="application"
        tabIndex={0}
        aria-label="Timeline"
        aria-describedby={id}
      />
      <p id={id} class="visually-hidden">
        {INSTRUCTIONS}
      </p>
      <div ref={refs.frame} class="timeline-frame" hidden />
      <div ref={refs.measure} class="timeline-measure" aria-hidden="true" hidden>
        <span />
      </div>
      {busy ? <div class="timeline-busy" /> : null}
      {state.hint ? (
        <p class="timeline-hint">
          <kbd>Ctrl</kbd> + wheel zooms <span /> <kbd>W</kbd> <kbd>A</kbd> <kbd>S</kbd> <kbd>D</kbd>{" "}
          move
        </p>
      ) : null}
      {layout.rows.length === 0 && props.rows.filter ? (
        <p class="timeline-empty">No track matches “{props.rows.filter}”.</p>
      ) : null}
      {problem === null ? null : (
        <div class="timeline-problem" role="alert">
          <span>Part of the timeline could not be loaded: {messageOf(problem)}</span>
          <Button icon="reload" onClick={() => scene.current?.store.retry()}>
            Try again
          </Button>
        </div>
      )}
      <HoverLayer news={hover} props={props} layout={layout} />
    </div>
  );
}

interface SpokenProps {
  props: TimelineProps;
  state: SceneState;
  settled: TimeRange | null;
}

function Spoken({ props, state, settled }: SpokenProps) {
  const { selected, span, sources } = props;
  const { scene, layout, refs } = state;
  const selection = useAnnouncement(
    () => {
      if (!selected) return "";
      const row = layout.rows.find((one) => sameLane(one, selected));
      const name = (row && layout.notes.get(row.key)?.name) ?? "";
      const slice = scene.current?.sliceOf(selected) ?? null;
      if (slice) return `Selected: ${spokenText(slice, sources, span.t0, name)}`;
      return `Selected: ${formatTime(selected.end - selected.start)} at ${timeText(Math.round(selected.start - span.t0))}${name ? ` in ${name}` : ""}`;
    },
    [selected?.source, selected?.event],
    500,
  );
  const view = useAnnouncement(
    () => {
      if (!settled || document.activeElement !== refs.canvas.current) return "";
      return `In view: ${timeText(Math.round(settled.t0 - span.t0))} to ${timeText(Math.round(settled.t1 - span.t0))}`;
    },
    [settled],
    600,
  );
  const figures = useAnnouncement(
    () =>
      layout.rows
        .flatMap(({ key, label }) => {
          const [value, curve] = [props.figures.get(key), props.curves.get(key)];
          return value && curve ? `${label}: ${figuresText(value, curve)}` : [];
        })
        .join("; "),
    [props.figures],
    600,
  );
  return (
    <div class="visually-hidden" aria-live="polite">
      <p>{selection}</p>
      <p>{state.measured.ns === null ? "" : `Measured: ${formatExactTime(state.measured.ns)}`}</p>
      <p>{figures}</p>
      <p>{view}</p>
    </div>
  );
}

interface MinimapProps {
  canvas: Slot<HTMLCanvasElement>;
  scene: { readonly current: Scene | null };
  span: TimeRange;
}

interface Hold {
  grip: Grip;
  from: number;
  view: TimeRange;
  moved: boolean;
}

const CURSORS: Readonly<Record<Grip, string>> = {
  left: "ew-resize",
  right: "ew-resize",
  inside: "grab",
  outside: "crosshair",
};
const SLOP = 3;

function Minimap({ canvas, scene, span }: MinimapProps) {
  const hold = useRef<Hold | null>(null);
  const [cursor, setCursor] = useState("default");
  const down = (event: TargetedPointerEvent<HTMLCanvasElement>): void => {
    const now = scene.current;
    if (!now || event.button !== 0) return;
    const from = columnOf(event);
    const { view } = now.camera;
    hold.current = { grip: gripAt(from, view, span, now.width), from, view, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event: TargetedPointerEvent<HTMLCanvasElement>): void => {
    const now = scene.current;
    if (!now) return;
    const x = columnOf(event);
    const held = hold.current;
    if (!held) {
      setCursor(CURSORS[gripAt(x, now.camera.view, span, now.width)]);
      return;
    }
    held.moved ||= Math.abs(x - held.from) >= SLOP;
    if (held.moved)
      now.camera.go(draggedTo(held.grip, held.view, span, now.width, held.from, x), false);
  };
  const up = (event: TargetedPointerEvent<HTMLCanvasElement>): void => {
    const now = scene.current;
    const held = hold.current;
    hold.current = null;
    if (now && held && !held.moved && held.grip === "outside")
      now.camera.go(centredAt(columnOf(event), held.view, span, now.width), true);
  };
  return (
    <canvas
      ref={canvas}
      class="timeline-minimap"
      aria-hidden="true"
      style={{ height: `${MINIMAP_HEIGHT}px`, cursor }}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => (hold.current = null)}
    />
  );
}

interface RulerProps {
  canvas: Slot<HTMLCanvasElement>;
  scene: { readonly current: Scene | null };
  height: number;
}

/** Px that a press on the ruler moves before it selects a time. */
const RULER_SLOP = 4;

function RulerView({ canvas, scene, height }: RulerProps) {
  const from = useRef<number | null>(null);
  const stroke = (x: number, done: boolean): void => {
    const now = scene.current;
    if (!now || from.current === null || Math.abs(x - from.current) < RULER_SLOP) return;
    now.drawArea({ x: from.current, y: 0 }, { x, y: now.height }, done);
  };
  const end = (): void => {
    from.current = null;
  };
  const zoom = (event: TargetedWheelEvent<HTMLCanvasElement>): void => {
    const now = scene.current;
    if (!now) return;
    event.preventDefault();
    const { x, y } = wheelPixels(event, height);
    if (Math.abs(x) > Math.abs(y) || event.shiftKey) now.camera.pan(now.shareAt(x || y));
    else now.camera.zoom(now.shareAt(columnOf(event)), wheelFactor(y));
  };
  const step = (event: TargetedMouseEvent<HTMLCanvasElement>): void => {
    const now = scene.current;
    if (!now || event.offsetY > STEP_BAND) return;
    const boundary = now.boundaryUnder(columnOf(event));
    if (boundary) now.showRange(rangeOf(boundary), 0.03, true);
  };
  /** The canvas goes on above its begin, so that one pointer serves both. */
  const hover = (event: TargetedPointerEvent<HTMLCanvasElement> | null): void => {
    const now = scene.current;
    if (!now) return;
    now.pointer = event && { x: columnOf(event), y: event.offsetY - height };
    now.invalidate();
  };
  return (
    <canvas
      ref={canvas}
      class="timeline-ruler"
      aria-hidden="true"
      style={{ height: `${height}px` }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        from.current = columnOf(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        hover(event);
        stroke(columnOf(event), false);
      }}
      onPointerLeave={() => hover(null)}
      onPointerUp={(event) => {
        stroke(columnOf(event), true);
        end();
      }}
      onPointerCancel={end}
      onDblClick={step}
      onWheel={zoom}
    />
  );
}
