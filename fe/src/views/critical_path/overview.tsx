/** The account of one step's time where it stands on Overview. */

import { useState } from "preact/hooks";
import type { CriticalPathPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { rangeParams, timelineParams, type Range } from "./model";
import { PathStrips } from "./strip";

interface PathOfStepProps {
  payload: CriticalPathPayload;
  /** What it is made of on average, where it stands for several steps. */
  mean?: Pick<CriticalPathPayload, "parts"> | undefined;
  /** Which step it is. */
  caption: string;
  hrefOf: ViewProps["hrefOf"];
}

/** Parts smaller than this are counted together. */
const LEAST = 0.01;

export function PathOfStep({ payload, mean, caption, hrefOf }: PathOfStepProps) {
  const [range, setRange] = useState<Range | null>(null);
  return (
    <div class="path-brief">
      <PathStrips
        payload={payload}
        within={mean}
        range={range}
        onRange={setRange}
        least={LEAST}
        caption={caption}
        links={
          <>
            <a href={hrefOf("critical_path", rangeParams(range))}>What is on it</a>
            <a href={hrefOf("trace", timelineParams(range, payload.strips))}>
              Show on the timeline
            </a>
          </>
        }
      />
    </div>
  );
}
