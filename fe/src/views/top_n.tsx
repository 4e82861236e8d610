/** How many parts of the charts stand by themselves; the rest is pooled as "other". */

import type { ViewProps } from "../state/view";
import { Segmented } from "../widgets";
import { TOP } from "./parts_by_name";

const CHOICES = [5, 10, 20, 50];

interface TopNProps {
  what: string;
  value: number;
  setParam: ViewProps["setParam"];
}

export function TopN({ what, value, setParam }: TopNProps) {
  const choices = CHOICES.includes(value) ? CHOICES : [...CHOICES, value].sort((a, b) => a - b);
  return (
    <Segmented
      label={`Top ${what}`}
      value={String(value)}
      options={choices.map((n) => ({ value: String(n), label: String(n) }))}
      onChange={(text) => setParam("top", text === String(TOP) ? null : text)}
    />
  );
}
