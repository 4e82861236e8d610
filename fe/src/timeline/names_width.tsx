/** The width of the column of names, and the handle that changes it. It is kept for the next visit. */

import { useRef, useState } from "preact/hooks";

const STORAGE_KEY = "pytorch_profiler.timeline_names";
const DEFAULT = 236;
const NARROWEST = 140;
const WIDEST = 520;
const STEP = 16;

function limited(width: number): number {
  return Math.round(Math.max(NARROWEST, Math.min(WIDEST, width)));
}

function stored(): number {
  try {
    const width = Number(localStorage.getItem(STORAGE_KEY));
    return width > 0 ? limited(width) : DEFAULT;
  } catch {
    return DEFAULT;
  }
}

export function useNamesWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(stored);
  const change = (next: number): void => {
    setWidth(limited(next));
    try {
      localStorage.setItem(STORAGE_KEY, String(limited(next)));
    } catch {
      // Without storage the width lasts as long as the page.
    }
  };
  return [width, change];
}

export function NamesHandle({
  width,
  onWidth,
}: {
  width: number;
  onWidth: (width: number) => void;
}) {
  const from = useRef<{ x: number; width: number } | null>(null);
  return (
    <div
      class="timeline-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onPointerDown={(event) => {
        from.current = { x: event.clientX, width };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current) onWidth(from.current.width + event.clientX - from.current.x);
      }}
      onPointerUp={() => (from.current = null)}
      onPointerCancel={() => (from.current = null)}
      onDblClick={() => onWidth(DEFAULT)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowLeft" ? -STEP : event.key === "ArrowRight" ? STEP : 0;
        if (by === 0) return;
        event.preventDefault();
        onWidth(width + by);
      }}
    />
  );
}
