import type { GestureTarget, Point } from "./gestures";
import { actionOf, takesKeys, type Action } from "./keyboard";
import type { TimelineProps } from "./props";
import { pathTo, withPinned } from "./rows";
import type { Scene } from "./scene";
import { areaInSight } from "./sight";
import type { TimeRange } from "./types";
import { middleOf, rangeOf, xAt } from "./viewport";

export interface Controlled {
  scene: Scene;
  props: () => TimelineProps;
  areaTool: () => boolean;
  /** Measuring began or ended. */
  onMeasure: () => void;
  onGrabbed: (grabbed: boolean) => void;
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
}: Controlled): GestureTarget {
  const { camera } = scene;
  return {
    areaTool,
    grabbed: onGrabbed,
    pan: (dx) => camera.pan(dx / Math.max(1, scene.width)),
    scroll: (dy) => camera.scrollBy(dy),
    zoom: (x, factor) => camera.zoom(x / Math.max(1, scene.width), factor),
    hover: (at) => {
      scene.pointer = at;
      if (at) scene.measure.follow(() => scene.edgeNear(at));
      // A held key goes on zooming where the pointer goes.
      if (at && camera.keys.moving)
        camera.keyCentre = Math.max(0, Math.min(1, at.x / Math.max(1, scene.width)));
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
  if (slice) scene.showRange(rangeOf(slice), AROUND_SLICE, true);
  else scene.camera.zoom(at.x / Math.max(1, scene.width), 0.5);
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
  const width = Math.max(1, scene.width);
  const at = scene.pointer?.x ?? (selected ? xAt(scene, middleOf(selected)) : width / 2);
  return at >= 0 && at <= width ? at / width : 0.5;
}

/** Whether there was anything to do. */
function act(action: Action, controlled: Controlled, props: TimelineProps): boolean {
  const { scene, onMeasure } = controlled;
  const { camera, measure } = scene;
  switch (action.kind) {
    case "command":
      if (action.command === "clear") camera.rest();
      if (action.command === "clear" && (measure.on || measure.range))
        turnMeasure(controlled, false);
      else props.onCommand(action.command);
      break;
    case "measure":
      turnMeasure(controlled, !measure.on);
      break;
    case "measure_at":
      if (!measure.on) return false;
      measure.put(chosenTime(scene, props, action.edge), scene.height / 2);
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

function turnMeasure({ scene, onMeasure }: Controlled, on: boolean): void {
  scene.measure.turn(on);
  onMeasure();
}

function chosenTime(scene: Scene, { selected }: TimelineProps, edge: "start" | "end"): number {
  return selected?.[edge] ?? scene.timeUnder(scene.width / 2);
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
  if (scene.measure.range) return scene.measure.range;
  if (area) return { t0: area.t0, t1: area.t1 };
  if (selected) return rangeOf(selected);
  const time = Math.round(scene.timeUnder(scene.pointer?.x ?? scene.width / 2));
  return { t0: time, t1: time };
}
