/** What has which part of a figure, beside a table: of its found rows. */

import type { Unit } from "../base/units";
import { Donut, Figure, type Part } from "../widgets";

interface PieProps {
  title: string;
  term: string;
  /** What the parts are, and what is summed of them. */
  of: string;
  figure?: string;
  parts: readonly Part[];
  unit: Unit;
  caption: string;
  /** Parts that stand by themselves. */
  top?: number;
  onSelect?: (key: string) => void;
}

export function Pie({ title, term, of, figure = title, parts, unit, ...donut }: PieProps) {
  return (
    <Figure
      title={title}
      term={term}
      table={{
        columns: [{ label: of }, { label: figure, unit }],
        rows: parts.map((part) => [part.title ?? part.label, part.value]),
      }}
    >
      <Donut label={title} {...{ parts, unit }} {...donut} />
    </Figure>
  );
}
