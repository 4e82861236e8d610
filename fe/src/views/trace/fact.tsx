/** The small parts that the details of an event, the tables and the dialogs are made of. */

import type { ComponentChildren } from "preact";
import { formatExactTime, formatTime } from "../../base/units";
import { Term } from "../../widgets";

/** A line of a list of facts, where there is a value; `title` says it exactly. */
export const fact = (label: ComponentChildren, value: ComponentChildren, title?: string) =>
  value === null || value === "" ? null : (
    <div class="fact">
      <dt>{label}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );

export const timeFact = (label: ComponentChildren, ns: number | null) =>
  fact(label, ns === null ? null : formatTime(ns), formatExactTime(ns));

/** A time in a column of its own. */
export const timeCell = (ns: number) => (
  <span class="number" title={formatExactTime(ns)}>
    {formatTime(ns)}
  </span>
);

/** What events of a kind are drawn with. */
export const colourMark = (colour: string) => <span class="look" style={{ background: colour }} />;

interface SectionProps {
  title: string;
  term: string;
  note?: string;
  children: ComponentChildren;
}

export function Section({ title, term, note, children }: SectionProps) {
  return (
    <section class="details-section">
      <h3>
        <Term id={term}>{title}</Term>
        {note ? <span class="muted">{note}</span> : null}
      </h3>
      {children}
    </section>
  );
}
