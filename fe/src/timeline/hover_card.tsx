/** The text at the pointer. */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Point } from "./gestures";
import type { HoverText } from "./hover_text";

const AWAY = 14;
const MARGIN = 6;

interface HoverCardProps {
  text: HoverText;
  /** On the stage, px. */
  at: Point;
  room: { width: number; height: number };
}

/** Beside the pointer, on the side where there is room. Screen readers are told by the live region instead. */
export function HoverCard({ text, at, room }: HoverCardProps): JSX.Element {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const { offsetWidth, offsetHeight } = element;
    const right = at.x + AWAY + offsetWidth + MARGIN <= room.width;
    const left = right ? at.x + AWAY : Math.max(MARGIN, at.x - AWAY - offsetWidth);
    const below = at.y + AWAY + offsetHeight + MARGIN <= room.height;
    const top = below ? at.y + AWAY : Math.max(MARGIN, at.y - AWAY - offsetHeight);
    element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  });
  return (
    <div ref={card} class="timeline-card" aria-hidden="true">
      <strong>{text.title}</strong>
      {text.lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
