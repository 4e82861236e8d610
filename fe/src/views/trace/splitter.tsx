/** The line between two parts of the page; dragging it, or the arrow keys, make one of them larger. */

import { useState } from "preact/hooks";

interface SplitterProps {
  label: string;
  /** `vertical`: stands between left and right. */
  orientation: "vertical" | "horizontal";
  /** Size in px of the part that lies behind it (right or below). */
  size: number;
  least: number;
  most: number;
  onSize: (size: number) => void;
}

const KEY_STEP = 24;

export function Splitter({ label, orientation, size, least, most, onSize }: SplitterProps) {
  const upright = orientation === "vertical";
  const set = (next: number): void => onSize(Math.round(Math.max(least, Math.min(most, next))));
  const drag = (event: PointerEvent): void => {
    if (event.button !== 0 || !(event.currentTarget instanceof HTMLElement)) return;
    event.preventDefault();
    const handle = event.currentTarget;
    const start = upright ? event.clientX : event.clientY;
    handle.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void =>
      set(size + start - (upright ? moved.clientX : moved.clientY));
    const end = (): void => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
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
    set(size + step * KEY_STEP);
  };
  return (
    <div
      class={`splitter splitter-${orientation}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={size}
      aria-valuemin={least}
      aria-valuemax={most}
      onPointerDown={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** A size that is kept in the browser: how somebody likes the page is no part of what a link shows. */
export function useKeptSize(name: string, first: number): [number, (size: number) => void] {
  const key = `pytorch_profiler.size.${name}`;
  const [size, setSize] = useState(() => readSize(key) ?? first);
  const keep = (next: number): void => {
    setSize(next);
    try {
      localStorage.setItem(key, String(next));
    } catch {
      // A browser without storage forgets it.
    }
  };
  return [size, keep];
}

function readSize(key: string): number | null {
  try {
    const size = Number(localStorage.getItem(key));
    return Number.isFinite(size) && size > 0 ? size : null;
  } catch {
    return null;
  }
}
