import type { TargetedMouseEvent, TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useRef } from "preact/hooks";
import { STEP_BAND } from "./draw_ruler";
import { columnOf, wheelFactor, wheelPixels } from "./gestures";
import type { Scene } from "./scene";
import { rangeOf } from "./viewport";
import type { Slot } from "./use_scene";

interface RulerProps {
  canvas: Slot<HTMLCanvasElement>;
  scene: { readonly current: Scene | null };
  height: number;
}

const SLOP = 4;

export function RulerView({ canvas, scene, height }: RulerProps) {
  const from = useRef<number | null>(null);
  const stroke = (x: number, done: boolean): void => {
    const now = scene.current;
    if (!now || from.current === null || Math.abs(x - from.current) < SLOP) return;
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
