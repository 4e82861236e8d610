import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** Calls back with the element as soon as it is there, and whenever its size is another. */
export function useSize<E extends HTMLElement>(
  element: RefObject<E | null>,
  onSize: (element: E) => void,
): void {
  const newest = useRef(onSize);
  newest.current = onSize;
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    const measure = (): void => newest.current(target);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
}

/** The content width of the element in px; `first` until it is measured. */
export function useWidth(element: RefObject<HTMLElement | null>, first = 640): number {
  const [width, setWidth] = useState(first);
  useSize(element, ({ clientWidth }) => {
    if (clientWidth > 0) setWidth(clientWidth);
  });
  return width;
}
