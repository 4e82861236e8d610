import { createPortal } from "./portal";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { definitionOf } from "../base/definitions";
import { useId } from "../base/id";

const DELAY = 250;
const MARGIN = 8;

interface TooltipProps {
  content: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  /** Whether the anchor takes part in the tab order; off when it holds a control of its own. */
  focusable?: boolean;
}

export function Tooltip({ content, children, class: name = "", focusable = true }: TooltipProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [open, setOpen] = useState(false);
  const id = useId("tip");
  const show = (delay: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(true), delay);
  };
  const hide = (): void => {
    clearTimeout(timer.current);
    setOpen(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    if (!open) return undefined;
    const close = (event: KeyboardEvent): void => {
      if (event.key === "Escape") setOpen(false);
    };
    document.addEventListener("keydown", close, true);
    return () => document.removeEventListener("keydown", close, true);
  }, [open]);
  if (!content) return <span class={name}>{children}</span>;
  return (
    <span
      ref={anchor}
      class={`tooltip-anchor ${name}`}
      {...(focusable ? { tabIndex: 0 } : {})}
      aria-describedby={open ? id : undefined}
      onPointerEnter={() => show(DELAY)}
      onPointerLeave={hide}
      onFocusIn={() => show(0)}
      onFocusOut={hide}
    >
      {children}
      {open && anchor.current ? <Bubble id={id} anchor={anchor.current} content={content} /> : null}
    </span>
  );
}

function Bubble({
  id,
  anchor,
  content,
}: {
  id: string;
  anchor: Element;
  content: ComponentChildren;
}) {
  const bubble = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (bubble.current) place(bubble.current, anchor.getBoundingClientRect());
  });
  return createPortal(
    <div ref={bubble} id={id} role="tooltip" class="tooltip">
      {content}
    </div>,
  );
}

export function place(
  element: HTMLElement,
  box: { left: number; top: number; bottom: number; width: number },
): void {
  const { offsetWidth: width, offsetHeight: height } = element;
  const room = {
    width: document.documentElement.clientWidth,
    height: document.documentElement.clientHeight,
  };
  const left = Math.max(
    MARGIN,
    Math.min(box.left + box.width / 2 - width / 2, room.width - width - MARGIN),
  );
  const below = box.bottom + MARGIN;
  const top =
    below + height > room.height - MARGIN && box.top > height + MARGIN
      ? box.top - height - MARGIN
      : below;
  element.style.left = `${Math.round(left)}px`;
  element.style.top = `${Math.round(top)}px`;
}

interface FloatingProps {
  anchor: () => Element | null | undefined;
  class?: string;
  children: ComponentChildren;
}

/** The box at the pointer of a chart. Screen readers are told by the chart itself. */
export function Floating({ anchor, class: name = "", children }: FloatingProps) {
  const put = (element: HTMLDivElement | null): void => {
    const beside = anchor();
    if (element && beside) place(element, beside.getBoundingClientRect());
  };
  return createPortal(
    <div class={`tooltip ${name}`} ref={put} aria-hidden="true">
      {children}
    </div>,
  );
}

interface TermProps {
  id: string;
  children?: ComponentChildren;
  focusable?: boolean;
}

/** A label with a dotted underline that shows its definition. Without a definition it is plain text. */
export function Term({ id, children, focusable = true }: TermProps) {
  const definition = definitionOf(id);
  const label = children ?? definition?.label ?? id;
  if (!definition) return <span>{label}</span>;
  return (
    <Tooltip content={definition.text} class="term" focusable={focusable}>
      {label}
    </Tooltip>
  );
}
