import { useState } from "preact/hooks";
import { formatCount, formatDelta, formatTime } from "../../base/units";
import { Button, Swatch, Term } from "../../widgets";
import { causesOf, type Comparison, seenOf } from "./compare";
import type { TraceState } from "./trace_state";

/** What was gained and lost in view, and by what; a cause lights its gaps. */
export function CompareBar({ state, comparison }: { state: TraceState; comparison: Comparison }) {
  const { visible, span, set, litGroup, light } = state;
  const { gaps, aligned, resource } = comparison;
  /** What a click chose stays lit when the pointer or the focus leaves. */
  const [kept, setKept] = useState<string | null>(null);
  const leave = (): void => light(kept);
  const { data } = resource;
  if (!data) return null;
  const view = visible?.view ?? span;
  const causes = causesOf(gaps, view, data.device);
  const sum = (sign: 1 | -1): string =>
    formatTime(gaps.reduce((total, gap) => total + Math.max(0, sign * seenOf(gap, view)), 0));
  return (
    <div class="trace-compare" role="group" aria-label="Comparison">
      <Button kind="quiet" pressed={aligned} onClick={() => set({ align: aligned ? "0" : null })}>
        Align
      </Button>
      {aligned ? (
        <>
          <span>
            <span class="swatch gap-swatch-gained" /> gained {sum(-1)}
          </span>
          <span>
            <span class="swatch gap-swatch-lost" /> lost {sum(1)} in view
          </span>
          <span class="trace-causes" onMouseLeave={leave}>
            {causes.map((cause) => (
              <button
                key={cause.key}
                type="button"
                class={`trace-cause${litGroup === cause.key ? " trace-cause-lit" : ""}`}
                aria-pressed={kept === cause.key}
                onMouseEnter={() => light(cause.key)}
                onFocus={() => light(cause.key)}
                onBlur={leave}
                onClick={() => {
                  const next = kept === cause.key ? null : cause.key;
                  setKept(next);
                  light(next);
                }}
              >
                <Swatch item={cause} /> {cause.label} <strong>{formatDelta(cause.ns)}</strong>
              </button>
            ))}
          </span>
          <span class="muted">
            {data.note || (
              <>
                <Term id="diff_aligned">Matched operations</Term>: {formatCount(data.matched)} of{" "}
                {formatCount(data.operations)} in {formatCount(data.steps)}{" "}
                {data.steps === 1 ? "step" : "steps"}
              </>
            )}
          </span>
        </>
      ) : (
        <span class="muted">The first steps that are compared start above each other.</span>
      )}
    </div>
  );
}
