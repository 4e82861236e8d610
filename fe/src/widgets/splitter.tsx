import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { clamp } from "../base/clamp";
import { readStored, writeStored } from "../base/stored";

interface SplitterProps {
  label: string;
  /** `vertical`: stands between left and right. */
  orientation: "vertical" | "horizontal";
  /** Size in px of the part that lies behind it (right or below); with `leads`, of the part before it. */
  size: number;
  leads?: boolean;
  class?: string;
  /** Size after a double click. */
  first?: number;
  least: number;
  most: number;
  onSize: (size: number) => void;
}

const KEY_STEP = 24;

/** Follows the pointer that pressed a handle, in px from there, until it is let go. */
export function drag(
  event: TargetedPointerEvent<HTMLElement>,
  onMove: (x: number, y: number) => void,
): void {
  const { currentTarget: handle, clientX, clientY } = event;
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  const move = (now: PointerEvent): void => onMove(now.clientX - clientX, now.clientY - clientY);
  const over = new AbortController();
  const { signal } = over;
  handle.addEventListener("pointermove", move, { signal });
  for (const end of ["pointerup", "pointercancel"])
    handle.addEventListener(end, () => over.abort(), { signal });
}

export function Splitter(props: SplitterProps) {
  const { label, orientation, size, leads, least, most, first, onSize } = props;
  const sign = leads ? -1 : 1;
  const upright = orientation === "vertical";
  const set = (next: number): void => onSize(Math.round(clamp(next, least, most)));
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>): void => {
    if (event.button === 0) drag(event, (x, y) => set(size - sign * (upright ? x : y)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step =
      {
        ArrowLeft: upright ? 1 : 0,
        ArrowRight: upright ? -1 : 0,
        ArrowUp: upright ? 0 : 1,
        ArrowDown: upright ? 0 : -1,
      }[event.key] ?? 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(size + sign * step * KEY_STEP);
  };
  return (
    <div
      class={props.class ?? `splitter splitter-${orientation}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={size}
      aria-valuemin={least}
      aria-valuemax={most}
      onPointerDown={onPointerDown}
      onDblClick={() => first && onSize(first)}
      onKeyDown={onKeyDown}
    />
  );
}

/** A size in px that the browser keeps: how somebody likes the page is no part of what a link shows. */
export function useStoredSize(key: string, first: number): [number, (size: number) => void] {
  const [size, setSize] = useState(() => {
    const stored = Number(readStored(key));
    return Number.isFinite(stored) && stored > 0 ? stored : first;
  });
  const change = (next: number): void => {
    setSize(next);
    writeStored(key, String(next));
  };
  return [size, change];
}
