/** Draws children at the end of the body, so that no scroll box cuts them off. */

import { type ComponentChildren, render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Preact's own `createPortal` lives in `preact/compat`, which would add 1.2 KiB for this alone. */
export function Portal({ children }: { children: ComponentChildren }): null {
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
