/** What is not needed at first: made when it is opened. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface FoldedProps {
  title: ComponentChildren;
  note?: ComponentChildren;
  /** Unfolds it when it becomes true. */
  open?: boolean;
  children: () => ComponentChildren;
}

export function Folded({ title, note, open = false, children }: FoldedProps) {
  const [opened, setOpened] = useState(open);
  useEffect(() => {
    if (open) setOpened(true);
  }, [open]);
  return (
    <details
      class="fold"
      open={opened}
      onToggle={({ currentTarget }) => setOpened(currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
        {note ? <span class="muted">{note}</span> : null}
      </summary>
      {opened ? <div class="fold-body">{children()}</div> : null}
    </details>
  );
}
