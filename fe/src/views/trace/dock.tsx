/** Where the details stand: below the timeline or at its right. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useMedia } from "../../base/media";
import { readStored, writeStored } from "../../base/stored";
import { Button, Splitter, useStoredSize } from "../../widgets";

export type Dock = "bottom" | "right";

const KEY = "pytorch_profiler.trace_dock";
/** Beside the details of a narrower page the timeline would have too little room. */
const NARROW = "(max-width: 1299px)";
const SIDE_WIDTH = 360;

/** What was chosen last, else what the width of the page suggests. */
export function useDock(): [Dock, (dock: Dock) => void] {
  const [chosen, setChosen] = useState(() => readStored(KEY));
  const narrow = useMedia(NARROW);
  const change = (dock: Dock): void => {
    setChosen(dock);
    writeStored(KEY, dock);
  };
  if (chosen === "bottom" || chosen === "right") return [chosen, change];
  return [narrow ? "bottom" : "right", change];
}

interface PanelProps {
  dock: Dock;
  onDock: (dock: Dock) => void;
  onClose: () => void;
  children: ComponentChildren;
}

export function DetailsPanel({ dock, onDock, onClose, children }: PanelProps) {
  const [width, setWidth] = useStoredSize("pytorch_profiler.size.trace_side", SIDE_WIDTH);
  const other = dock === "right" ? "bottom" : "right";
  return (
    <>
      {dock === "right" ? (
        <Splitter
          label="Width of the details"
          orientation="vertical"
          size={width}
          least={240}
          most={900}
          onSize={setWidth}
        />
      ) : null}
      <aside
        class={`trace-side trace-side-${dock}`}
        style={dock === "right" ? { width: `${width}px` } : {}}
        aria-label="Selected event"
      >
        <h2 class="visually-hidden">Selected event</h2>
        <div class="trace-side-tools">
          <Button
            kind="quiet"
            icon={other === "right" ? "right" : "bottom"}
            label={other === "right" ? "Details at the right" : "Details at the bottom"}
            onClick={() => onDock(other)}
          />
          <Button kind="quiet" icon="close" label="Close the details" onClick={onClose} />
        </div>
        <div class="trace-side-content">{children}</div>
      </aside>
    </>
  );
}
