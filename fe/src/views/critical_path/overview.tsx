/** What the end of a step waited for, where it stands on Overview: of one rank, or through all of them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useResource, useUntilComplete } from "../../state/resource";
import { type ViewProps, viewQuery } from "../../state/view";
import type { Range } from "./model";
import { PathGlyphs } from "./glyphs";

interface PathOfStepProps extends ViewProps {
  /** Whether it leads through all ranks of the run. */
  all: boolean;
  /** The row of the step. */
  step: number;
  device: string;
  /** What is shown until it is known. */
  children: ComponentChildren;
}

export function PathOfStep({ all, step, children, ...props }: PathOfStepProps) {
  const resource = useResource(
    all ? "critical_path/ranks" : "critical_path",
    viewQuery({ ...props, steps: { first: step, last: step, skipCold: false } }),
  );
  const { data, error } = resource;
  const ranks = data && "progress" in data ? data : null;
  useUntilComplete({ ...resource, data: ranks });
  const [range, setRange] = useState<Range | null>(null);
  const whole = (ranks?.progress ?? 1) >= 1;
  if (error || (data && whole && !data.strips.length)) return null;
  if (!data?.strips.length) return children;
  return <PathGlyphs {...props} payload={data} range={range} onRange={setRange} elsewhere />;
}
