import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Point } from "./gestures";
import { hoverText, rowText, type HoverText } from "./hover_text";
import type { TimelineProps } from "./props";
import type { RowLayout } from "./rows";
import type { Under } from "./scene";

const AWAY = 14;
const MARGIN = 6;

export interface Hovered {
  under: Under;
  at: Point;
  room: { width: number; height: number };
}

/** What is under the pointer; only the card listens, because the pointer moves more often than anything else is to be drawn. */
export class HoverNews {
  value: Hovered | null = null;
  onChange: (value: Hovered | null) => void = () => undefined;

  set(value: Hovered | null): void {
    if (value === null && this.value === null) return;
    this.value = value;
    this.onChange(value);
  }
}

interface HoverLayerProps {
  news: HoverNews;
  props: TimelineProps;
  layout: RowLayout;
}

export function HoverLayer({ news, props, layout }: HoverLayerProps) {
  const [hovered, setHovered] = useState(news.value);
  useEffect(() => {
    news.onChange = setHovered;
    return () => {
      news.onChange = () => undefined;
    };
  }, [news]);
  if (!hovered) return null;
  const { under, at, room } = hovered;
  return <HoverCard text={textOf(under, props, layout)} {...{ at, room }} />;
}

function textOf(under: Under, props: TimelineProps, layout: RowLayout): HoverText {
  if (under.kind === "boundary") return { title: under.boundary.name, lines: under.boundary.about };
  if (under.kind === "gap") {
    const [title, ...lines] = under.gap.about;
    return { title, lines };
  }
  if (under.kind === "slice") {
    const { slice, row } = under;
    const more = [...(props.describe?.(slice) ?? []), ...(row?.overlap ? [row.note] : [])];
    return hoverText(slice, props.sources, props.span.t0, more);
  }
  const { row, time } = under;
  const about = layout.notes.get(row.key)?.node?.about;
  return rowText(row, props.curves.get(row.key), time, props.span.t0, about);
}

interface HoverCardProps extends Pick<Hovered, "at" | "room"> {
  text: HoverText;
}

/** Beside the pointer, on the side where there is room. Screen readers are told by the live region instead. */
function HoverCard({ text, at, room }: HoverCardProps) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const { offsetWidth, offsetHeight } = element;
    const right = at.x + AWAY + offsetWidth + MARGIN <= room.width;
    const left = right ? at.x + AWAY : Math.max(MARGIN, at.x - AWAY - offsetWidth);
    const below = at.y + AWAY + offsetHeight + MARGIN <= room.height;
    const top = below
      ? Math.max(MARGIN, at.y + AWAY)
      : Math.max(MARGIN, at.y - AWAY - offsetHeight);
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
