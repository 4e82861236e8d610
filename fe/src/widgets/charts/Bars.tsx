/** Names below each other, each with a bar and its figure. */

import { MiddleCut } from "../middle_cut";

export interface Bar {
  name: string;
  /** Whether the recording has the name; else it is a word of ours. */
  code?: boolean;
  /** Where it is, after the name. */
  place?: string;
  /** The whole name, and the exact figure. */
  title?: string;
  exact?: string;
  /** Of the longest bar. */
  share: number;
  text: string;
  /** After the figure. */
  note?: string;
  /** Its colour, a class. */
  tone?: string;
}

/** A share as a bar; `size`, `tone`: classes. */
export const ShareBar = ({ share, size = "", tone = "" }: ShareBarProps) => (
  <span class={`bar-track ${size}`} aria-hidden="true">
    <span class={`bar-fill ${tone}`} style={{ width: `${100 * share}%` }} />
  </span>
);

interface ShareBarProps {
  share: number;
  size?: string;
  tone?: string;
}

export const Bars = ({ label, bars }: { label: string; bars: readonly Bar[] }) => (
  <ul class="bars" aria-label={label}>
    {bars.map(({ name, code, place, title = name, exact, share, text, note, tone = "" }, i) => {
      const Name = code ? "code" : "span";
      return (
        <li key={i} class="bar-row">
          <Name class="bar-name" title={title}>
            <MiddleCut text={name} />
            {place ? <code class="muted">{place}</code> : null}
          </Name>
          <ShareBar share={share} tone={tone} />
          <span class="number" title={exact}>
            {text}
          </span>
          {note ? <span class="muted">{note}</span> : null}
        </li>
      );
    })}
  </ul>
);
