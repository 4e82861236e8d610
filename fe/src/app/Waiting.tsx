/** How far the answer is that the page waits for: the one bar from opening to answer. */

import { useRef } from "preact/hooks";
import { useAgain, useResource, waitingStore } from "../state/resource";
import { otherTrace } from "../state/runs";
import { useStore } from "../state/store";
import type { Params, Selection, ViewId } from "../state/view";
import { placeOf } from "./registry";

interface WaitingProps {
  selection: Selection;
  params: Params;
  view: ViewId;
}

/** The most that is drawn: at its end the answer takes the bar's place. */
const NEARLY = 0.99;

export function Waiting({ selection, params, view }: WaitingProps) {
  const waits = useStore(waitingStore, (count) => count > 0);
  const both = placeOf(view).section.compared;
  const other = both ? otherTrace({ params, selection }) : null;
  const query = {
    ...selection,
    what: view === "trace" ? ("timeline" as const) : ("answer" as const),
    ...(other?.span ? { run2: other.run, worker2: other.worker, span2: other.span } : {}),
  };
  // Of a run that was just chosen the trace is not known yet.
  const resource = useResource(waits && selection.span ? "waiting" : null, query);
  useAgain(resource);
  const { data, error } = resource;
  const of = waits ? Object.values(query).join("\n") : "";
  const shown = useRef({ of, share: 0 });
  if (shown.current.of !== of) shown.current = { of, share: 0 };
  // All may be there that the server knows of; what is shown stays until the page has its answer.
  if (!waits || !data || error || (data.progress >= 1 && !shown.current.share)) return null;
  const share = Math.min(NEARLY, Math.max(data.progress, shown.current.share, 0.001));
  shown.current.share = share;
  const { label, parts } = data;
  let begin = 0;
  return (
    <div class="waiting">
      <p>
        <strong>{label}</strong>
      </p>
      <div
        class="waiting-parts"
        role="progressbar"
        aria-label={label}
        aria-valuenow={Math.floor(share * 100)}
      >
        {(parts.length ? parts : [{ name: "", share: 1 }]).map((part) => {
          const filled = Math.min(1, Math.max(0, (share - begin) / part.share));
          begin += part.share;
          return (
            <div key={part.name} style={{ flexGrow: part.share }}>
              <div class="waiting-track">
                <div style={{ width: `${filled * 100}%` }} />
              </div>
              <small class={filled < NEARLY ? "" : "muted"}>{part.name}</small>
            </div>
          );
        })}
      </div>
    </div>
  );
}
