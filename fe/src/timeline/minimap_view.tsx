import type { TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { columnOf } from "./gestures";
import { centredAt, draggedTo, gripAt, MINIMAP_HEIGHT, type Grip } from "./minimap";
import type { Scene } from "./scene";
import type { TimeRange } from "./types";
import type { Slot } from "./use_scene";

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

export function Minimap({ canvas, scene, span }: MinimapProps) {
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
