import type { GestureTarget, Point } from "./gestures";
import { actionOf, takesKeys, type Action } from "./keyboard";
import type { TimelineProps } from "./props";
import type { Scene } from "./scene";
import { areaInSight } from "./sight";
import type { TimeRange } from "./types";
import { xAt } from "./viewport";

export interface Controlled {
  scene: Scene;
  props: () => TimelineProps;
  areaTool: () => boolean;
  onGrabbed: (grabbed: boolean) => void;
}

/** How much of the view stays free on each side of what is zoomed to. */
const AROUND_SLICE = 0.3;
const AROUND_AREA = 0.05;

export function gestureTarget({ scene, props, areaTool, onGrabbed }: Controlled): GestureTarget {
  const { camera } = scene;
  return {
    areaTool,
    grabbed: onGrabbed,
    pan: (dx) => camera.pan(dx / Math.max(1, scene.width)),
    scroll: (dy) => camera.scrollBy(dy),
    zoom: (x, factor) => camera.zoom(x / Math.max(1, scene.width), factor),
    hover: (at) => {
      scene.pointer = at;
      // A held key goes on zooming where the pointer goes.
      if (at && camera.keys.moving)
        camera.keyCentre = Math.max(0, Math.min(1, at.x / Math.max(1, scene.width)));
      scene.invalidate();
    },
    select: (at) => select(scene, props(), at),
    zoomTo: (at) => zoomToPoint(scene, at),
    area: (from, to, done) => {
      const area = scene.draftArea(from, to);
      if (!done) return;
      scene.draftArea(from, null);
      if (area) props().onArea(area);
    },
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
  if (slice) scene.showRange({ t0: slice.start, t1: slice.end }, AROUND_SLICE, true);
  else scene.camera.zoom(at.x / Math.max(1, scene.width), 0.5);
}

export function onKeyDown({ scene, props }: Controlled, event: KeyboardEvent): boolean {
  if (event.defaultPrevented || takesKeys(event.target)) return false;
  const { selected } = props();
  const action = actionOf(event, selected !== null);
  if (action) {
    act(action, scene, props());
    return true;
  }
  const held = scene.camera.keys.press(event);
  if (held) {
    scene.camera.keyCentre = keyCentre(scene, selected);
    scene.invalidate();
  }
  return held;
}

/** About what keys zoom: the pointer; without one the selection when it is in sight, else the middle. */
function keyCentre(scene: Scene, selected: TimelineProps["selected"]): number {
  const width = Math.max(1, scene.width);
  const at =
    scene.pointer?.x ??
    (selected ? xAt(scene.camera.view, width, (selected.start + selected.end) / 2) : width / 2);
  return at >= 0 && at <= width ? at / width : 0.5;
}

function act(action: Action, scene: Scene, props: TimelineProps): void {
  const { camera } = scene;
  switch (action.kind) {
    case "command":
      if (action.command === "clear") camera.rest();
      props.onCommand(action.command);
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
      props.onArea(areaInSight(camera.view, props.span, scene.layout, scene.rows));
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
}

function zoomToChosen(scene: Scene, { selected, area }: TimelineProps): void {
  if (selected) scene.showRange({ t0: selected.start, t1: selected.end }, AROUND_SLICE, true);
  else if (area) scene.showRange(area, AROUND_AREA, true);
}

/** What a mark is set on: the area, else the selection, else the time under the pointer, else the middle. */
function markRange(scene: Scene, { area, selected }: TimelineProps): TimeRange {
  if (area) return { t0: area.t0, t1: area.t1 };
  if (selected) return { t0: selected.start, t1: selected.end };
  const time = Math.round(scene.timeUnder(scene.pointer?.x ?? scene.width / 2));
  return { t0: time, t1: time };
}
