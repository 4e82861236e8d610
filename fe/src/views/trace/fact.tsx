/** The small parts that the details of an event, the tables and the dialogs are made of. */

import type { ComponentChildren } from "preact";
import { formatExactTime, formatTime } from "../../base/units";
import { Term } from "../../widgets";

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
