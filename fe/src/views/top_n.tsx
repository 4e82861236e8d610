/** How many parts of the charts stand by themselves; the rest is pooled as "other". */

import { Segmented } from "../widgets";

const CHOICES = [5, 10, 20, 50];

interface TopNProps {
  what: string;
  value: number;
  onChange: (value: number) => void;
}

export function TopN({ what, value, onChange }: TopNProps) {
  const choices = CHOICES.includes(value) ? CHOICES : [...CHOICES, value].sort((a, b) => a - b);
  return (
    <Segmented
      label={`Top ${what}`}
      value={String(value)}
      options={choices.map((n) => ({ value: String(n), label: String(n) }))}
      onChange={(text) => onChange(Number(text))}
    />
  );
}
