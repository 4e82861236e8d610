import { type ComponentChildren, render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { clamp } from "../base/clamp";
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
  // A control that is used has said enough. It hides before the click: drawn again in the midst of one, a radio button
  // gets its old state back, and the click is lost. For the same reason a press, which focuses it, too, shows nothing.
  const onFocusIn = ({ target }: FocusEvent): void => {
    if (focusable || (target as Element).matches(":focus-visible")) show(0);
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
      onFocusIn={onFocusIn}
      onFocusOut={hide}
      {...(focusable ? {} : { onPointerDown: hide, onKeyDown: hide })}
    >
      {children}
      {open ? (
        <Floating box={() => anchor.current?.getBoundingClientRect()} id={id} role="tooltip">
          {content}
        </Floating>
      ) : null}
    </span>
  );
}

type Box = Pick<DOMRect, "left" | "top" | "bottom" | "width">;

function place(element: HTMLElement, box: Box): void {
  const { offsetWidth: width, offsetHeight: height } = element;
  const { clientWidth, clientHeight } = document.documentElement;
  const middle = box.left + box.width / 2 - width / 2;
  const left = clamp(middle, MARGIN, clientWidth - width - MARGIN);
  const below = box.bottom + MARGIN;
  const above = box.top - height - MARGIN;
  const top = below + height > clientHeight - MARGIN && above > 0 ? above : below;
  element.style.left = `${Math.round(left)}px`;
  element.style.top = `${Math.round(top)}px`;
}

interface FloatingProps {
  /** What it stands below, or above where there is no room; given its own element, whose size is known then. */
  box: (floating: HTMLElement) => Box | undefined;
  class?: string;
  id?: string;
  /** Without one it is the box at the pointer of a chart: screen readers are told by the chart itself. */
  role?: "tooltip";
  children: ComponentChildren;
}

export function Floating({ box, class: name = "", id, role, children }: FloatingProps) {
  const put = (element: HTMLDivElement | null): void => {
    const beside = element && box(element);
    if (beside) place(element, beside);
  };
  return (
    <Portal>
      <div
        class={`tooltip ${name}`}
        ref={put}
        id={id}
        role={role}
        aria-hidden={role ? undefined : "true"}
      >
        {children}
      </div>
    </Portal>
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

/** Preact's own `createPortal` lives in `preact/compat`, which would add 1.2 KiB for this alone. */
function Portal({ children }: { children: ComponentChildren }): null {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = document.createElement("div");
    element.className = "portal";
    document.body.append(element);
    host.current = element;
    return () => {
      render(null, element);
      element.remove();
    };
  }, []);
  useLayoutEffect(() => {
    if (host.current) render(children, host.current);
  });
  return null;
}
