import { clamp } from "../base/clamp";
import type { GestureTarget, Point } from "./gestures";
import { actionOf, takesKeys, type Action } from "./keyboard";
import type { TimelineProps } from "./props";
import { pathTo, withPinned } from "./rows";
import type { Scene } from "./scene";
import { areaInSight } from "./visible_range";
import type { TimeRange } from "./types";
import { middleOf, rangeOf, xAt } from "./viewport";

export interface Controlled {
  scene: Scene;
  props: () => TimelineProps;
  areaTool: () => boolean;
  /** Measuring began or ended. */
  onMeasure: () => void;
  onGrabbed: (grabbed: boolean) => void;
  /** Somebody wants to zoom, but does not know how. */
  onHint: () => void;
}

/** How much of the view stays free on each side of what is zoomed to. */
const AROUND_SLICE = 0.3;
const AROUND_AREA = 0.05;

export function gestureTarget({
  scene,
  props,
  areaTool,
  onGrabbed,
  onMeasure,
  onHint,
}: Controlled): GestureTarget {
  const { camera } = scene;
  return {
    areaTool,
    grabbed: onGrabbed,
    enter: () => scene.takeKeys(),
    idleWheel: onHint,
    pan: (dx) => camera.pan(scene.shareAt(dx)),
    scroll: (dy) => camera.scrollBy(dy),
    zoom: (x, factor) => camera.zoom(scene.shareAt(x), factor),
    hover: (at) => {
      scene.pointer = at;
      if (at) scene.measure.follow(() => scene.edgeNear(at));
      // A held key goes on zooming where the pointer goes.
      if (at && camera.keys.moving) camera.keyCentre = clamp(scene.shareAt(at.x), 0, 1);
      scene.invalidate();
    },
    select: (at) => {
      if (!scene.measure.on) select(scene, props(), at);
      else {
        scene.measure.put(scene.edgeNear(at), at.y);
        onMeasure();
      }
    },
    zoomTo: (at) => zoomToPoint(scene, at),
    area: (from, to, done) => scene.drawArea(from, to, done),
  };
}

/** A click on the ground lets go of everything. */
function select(scene: Scene, props: TimelineProps, at: Point): void {
  const slice = scene.sliceUnder(at);
  props.onSelect(slice);
  if (slice || !props.area) return;
  const time = scene.timeUnder(at.x);
  if (time < props.area.t0 || time > props.area.t1) props.onArea(null);
}

function zoomToPoint(scene: Scene, at: Point): void {
  const slice = scene.sliceUnder(at);
  if (slice) scene.showRange(rangeOf(slice), AROUND_SLICE, true);
  else scene.camera.zoom(scene.shareAt(at.x), 0.5);
}

export function onKeyDown(controlled: Controlled, event: KeyboardEvent): boolean {
  if (event.defaultPrevented || takesKeys(event.target)) return false;
  const { scene, props } = controlled;
  const { selected } = props();
  const action = actionOf(event, selected !== null);
  if (action) return act(action, controlled, props());
  const held = scene.camera.keys.press(event);
  if (held) {
    scene.camera.keyCentre = keyCentre(scene, selected);
    scene.invalidate();
  }
  return held;
}

/** About what keys zoom: the pointer; without one the selection when it is in sight, else the middle. */
function keyCentre(scene: Scene, selected: TimelineProps["selected"]): number {
  const share = scene.shareAt(
    scene.pointer?.x ?? (selected ? xAt(scene, middleOf(selected)) : scene.width / 2),
  );
  return share >= 0 && share <= 1 ? share : 0.5;
}

/** Whether there was anything to do. */
function act(action: Action, controlled: Controlled, props: TimelineProps): boolean {
  const { scene, onMeasure } = controlled;
  const { camera, measure } = scene;
  const turnMeasure = (on: boolean): void => {
    measure.turn(on);
    onMeasure();
  };
  switch (action.kind) {
    case "command":
      if (action.command === "clear") camera.rest();
      if (action.command === "clear" && (measure.on || measure.range)) turnMeasure(false);
      else props.onCommand(action.command);
      break;
    case "measure":
      turnMeasure(!measure.on);
      break;
    case "measure_at":
      if (!measure.on) return false;
      measure.put(
        props.selected?.[action.edge] ?? scene.timeUnder(scene.width / 2),
        scene.height / 2,
      );
      onMeasure();
      break;
    case "pin":
      pinSelected(props);
      break;
    case "whole":
      camera.whole(true);
      break;
    case "zoom_to_selection":
      zoomToChosen(scene, props);
      break;
    case "mark":
      props.onMark(markRange(scene, props));
      break;
    case "area":
      props.onArea(areaInSight(scene, props.span));
      break;
    case "page": {
      const room = scene.height - scene.layout.pinnedHeight;
      camera.scrollTo(camera.scroll + action.pages * room, true);
      break;
    }
    case "rows":
      camera.scrollBy(action.px);
      break;
  }
  return true;
}

/** The row that has a name: lanes and what is bare have none. */
function pinSelected({ selected, tree, rows, onRows }: TimelineProps): void {
  const path = selected ? pathTo(tree, selected.source, selected.lane) : [];
  const row = path.filter(({ bare }) => !bare).at(-1);
  if (row) onRows(withPinned(rows, row.key, !rows.pinned.includes(row.key)));
}

function zoomToChosen(scene: Scene, { selected, area }: TimelineProps): void {
  if (selected) scene.showRange(rangeOf(selected), AROUND_SLICE, true);
  else if (area) scene.showRange(area, AROUND_AREA, true);
}

/** What a mark is set on: the measured stretch, else the area, else the selection, else the time under the pointer, else the middle. */
function markRange(scene: Scene, { area, selected }: TimelineProps): TimeRange {
  const chosen = scene.measure.range ?? area ?? (selected && rangeOf(selected));
  if (chosen) return { t0: chosen.t0, t1: chosen.t1 };
  const time = Math.round(scene.timeUnder(scene.pointer?.x ?? scene.width / 2));
  return { t0: time, t1: time };
}
