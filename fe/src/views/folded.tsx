/** What is not needed at first: made when it is opened. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../widgets";

interface FoldedProps {
  title: string;
  open?: boolean;
  children: () => ComponentChildren;
}

export function Folded({ title, open = false, children }: FoldedProps) {
  const [opened, setOpened] = useState(open);
  return (
    <details
      class="folded"
      open={opened}
      onToggle={({ currentTarget }) => setOpened(currentTarget.open)}
    >
      <summary>
        <Icon name="chevron" size={12} /> {title}
      </summary>
      {opened ? <div class="folded-body">{children()}</div> : null}
    </details>
  );
}
