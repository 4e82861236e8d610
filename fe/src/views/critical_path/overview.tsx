/** What the end of the median step waited for, where it stands on Overview: of one rank, or through all of them. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { goTo } from "../../state/location";
import { useResource, useUntilComplete } from "../../state/resource";
import { type ViewProps, viewQuery } from "../../state/view";
import { traceOf } from "../distributed/model";
import { rangeParams, timelineParams, type Range } from "./model";
import { onTimeline, rankOf } from "./on_rank";
import { PathGlyphs } from "./glyphs";

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
    <PathGlyphs
      payload={data}
      steps={1}
      device={props.device}
      range={range}
      onRange={setRange}
      onOpen={(part) => goTo(props.hrefOf("trace", timelineParams(part, data.strips)))}
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
  const nameOf = useMemo(() => rankOf({ workers: data?.workers ?? [] }), [data]);
  const [strip] = data?.strips ?? [];
  if (error || (data && data.progress >= 1 && !strip)) return null;
  if (!data || !strip) return props.children;
  const shown = onTimeline(data, range);
  return (
    <PathGlyphs
      payload={data}
      steps={1}
      device={props.device}
      range={range}
      onRange={setRange}
      onOpen={(part) => {
        const there = onTimeline(data, part);
        if (there)
          goTo(props.hrefOf("trace", there.params, traceOf(props.selection, there.worker)));
      }}
      rankOf={nameOf}
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
  );
}
