/** What the end of the median step waited for, where it stands on Overview: of one rank, or through all of them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { stepName } from "../../base/words";
import { useResource, useUntilComplete } from "../../state/resource";
import { type ViewProps, viewQuery } from "../../state/view";
import { traceOf } from "../distributed/model";
import { rangeParams, timelineParams, type Range } from "./model";
import { onTimeline, ranksOf } from "./on_rank";
import { PathStrips } from "./strip";

interface PathOfStepProps extends ViewProps {
  /** The row of the step. */
  step: number;
  device: string;
  /** What is shown until it is known. */
  children: ComponentChildren;
}

const ofStep = ({ step, ...props }: PathOfStepProps) =>
  viewQuery({ ...props, steps: { first: step, last: step, skipCold: false } });

export function PathOfStep(props: PathOfStepProps) {
  const { data, error } = useResource("critical_path", ofStep(props));
  const [range, setRange] = useState<Range | null>(null);
  if (error || (data && !data.strips.length)) return null;
  if (!data) return props.children;
  return (
    <PathStrips
      payload={data}
      steps={1}
      device={props.device}
      range={range}
      onRange={setRange}
      links={
        <>
          <a href={props.hrefOf("critical_path", rangeParams(range))}>What is on it</a>
          <a href={props.hrefOf("trace", timelineParams(range, data.strips))}>On the timeline</a>
        </>
      }
    />
  );
}

/** Through all ranks of the run. */
export function PathOfRanks(props: PathOfStepProps) {
  const resource = useResource("critical_path/ranks", ofStep(props));
  useUntilComplete(resource);
  const { data, error } = resource;
  const [range, setRange] = useState<Range | null>(null);
  const [strip] = data?.strips ?? [];
  if (error || (data && data.progress >= 1 && !strip)) return null;
  if (!data || !strip) return props.children;
  const placeOf = ranksOf(data);
  const on = new Set(strip.stretches.worker.map((_, row) => placeOf(strip, row)));
  const shown = onTimeline(data, range);
  return (
    <>
      <p class="path-caption">
        Step {stepName(strip.name)}, through all ranks: what its end waited for.
        {on.size === 1 ? ` All of it is on ${[...on].join("")}.` : ""}
      </p>
      <PathStrips
        payload={data}
        steps={1}
        device={props.device}
        range={range}
        onRange={setRange}
        placeOf={placeOf}
        links={
          <>
            <a href={props.hrefOf("critical_path", { ranks: "all", ...rangeParams(range) })}>
              What is on it
            </a>
            {shown ? (
              <a href={props.hrefOf("trace", shown.params, traceOf(props.selection, shown.worker))}>
                On the timeline
              </a>
            ) : null}
          </>
        }
      />
    </>
  );
}
