/** The critical path where it stands on Overview. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CriticalPathPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { Term } from "../../widgets";
import { timelineParams, type Range } from "./model";
import { PathStrips } from "./strip";

interface PathOfStepsProps {
  payload: CriticalPathPayload;
  note: ComponentChildren;
  hrefOf: ViewProps["hrefOf"];
}

export function PathOfSteps({ payload, note, hrefOf }: PathOfStepsProps) {
  const [range, setRange] = useState<Range | null>(null);
  const params: Record<string, string> = range
    ? { t0: String(range.t0), t1: String(range.t1) }
    : {};
  return (
    <figure class="figure">
      <figcaption class="figure-head">
        <h3>
          <Term id="critical_path">Critical path</Term>
        </h3>
        <span class="panel-note">what the end of the step waited for, from left to right</span>
        {note}
      </figcaption>
      <PathStrips
        payload={payload}
        range={range}
        onRange={setRange}
        links={
          <>
            <a class="button button-plain" href={hrefOf("critical_path", params)}>
              What is on it
            </a>
            <a
              class="button button-plain"
              href={hrefOf("trace", timelineParams(range, payload.strips))}
            >
              Show on the timeline
            </a>
          </>
        }
      />
    </figure>
  );
}
