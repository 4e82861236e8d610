/** Pure parts of the Overview page: what to try, and how far the trace can be trusted. */

import type { JSX } from "preact";
import type { DefectItem, Number as Figure, Recommendation } from "../../api/types.gen";
import { format, formatCount, formatShare, formatTime, type Unit } from "../../base/units";
import { Badge, Icon } from "../../widgets";

const UNITS: Readonly<Record<string, Unit>> = { ns: "ns", bytes: "bytes", share: "share", count: "count" };

function figureText(figure: Figure): string {
  return format(figure.value, UNITS[figure.unit] ?? "number");
}

/** Only addresses of the web become links. */
function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** What to try, each with the numbers that it rests on and when it does not apply. */
export function Recommendations({ items }: { items: readonly Recommendation[] }): JSX.Element {
  if (!items.length)
    return (
      <p class="all-good">
        <Icon name="check" /> Nothing to recommend: none of the rules applies to the selected steps.
      </p>
    );
  return (
    <ol class="recommendations">
      {items.map((item) => (
        <li key={item.rule}>
          <h3>{item.title}</h3>
          <p>{item.text}</p>
          <ul class="evidence">
            {item.numbers.map((figure) => (
              <li key={figure.label}>
                {figure.label}: <strong class="number">{figureText(figure)}</strong>
              </li>
            ))}
          </ul>
          {item.caveat ? <p class="caveat">But: {item.caveat}</p> : null}
          {item.links.some((link) => isWeb(link.url)) ? (
            <p class="links">
              {item.links
                .filter((link) => isWeb(link.url))
                .map((link) => (
                  <a key={link.url} href={link.url} target="_blank" rel="noopener noreferrer">
                    {link.text} <Icon name="external" size={12} />
                  </a>
                ))}
            </p>
          ) : null}
        </li>
      ))}
    </ol>
  );
}

const SEVERITIES: Readonly<Record<string, { word: string; words: string; tone: "bad" | "warn" | "info" | "neutral" }>> = {
  error: { word: "error", words: "errors", tone: "bad" },
  data_loss: { word: "data loss", words: "data losses", tone: "warn" },
  notice: { word: "notice", words: "notices", tone: "info" },
  info: { word: "info", words: "info", tone: "neutral" },
};

/** How many of which severity, for the panel's title line. */
export function HealthNote({ items }: { items: readonly DefectItem[] }): JSX.Element {
  const counts = Object.entries(SEVERITIES)
    .map(([severity, { word, words, tone }]) => ({ word, words, tone, count: items.filter((item) => item.severity === severity).length }))
    .filter((x) => x.count > 0);
  if (!counts.length) return <Badge tone="good">sound</Badge>;
  return (
    <span class="health-counts">
      {counts.map((x) => (
        <Badge key={x.word} tone={x.tone}>
          {x.count} {x.count === 1 ? x.word : x.words}
        </Badge>
      ))}
    </span>
  );
}

/** What was wrong with the trace, how much step time it touches, which figures to doubt. */
export function Health({ items }: { items: readonly DefectItem[] }): JSX.Element {
  if (!items.length)
    return (
      <p class="all-good">
        <Icon name="check" /> No defects found: every event was read and fits the others.
      </p>
    );
  return (
    <ul class="defects">
      {items.map((item) => {
        const severity = SEVERITIES[item.severity] ?? { word: item.severity, tone: "neutral" as const };
        return (
          <li key={item.name}>
            <Badge tone={severity.tone}>{severity.word}</Badge>
            <div>
              <p>
                {item.sentence} <span class="defect-count number">{formatCount(item.count)}×</span>
              </p>
              <p class="defect-more">
                {touched(item)}
                {item.doubtful.length ? ` Doubtful: ${item.doubtful.join(", ")}.` : ""}
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function touched({ touched_ns, touched_share }: DefectItem): string {
  if (touched_ns === null) return "";
  if (touched_ns === 0) return "Touches no step time.";
  return `Touches ${formatTime(touched_ns)}${touched_share === null ? "" : ` (${formatShare(touched_share)})`} of step time.`;
}

/** What a reader must know before trusting the figures. */
export function Notes({ notes }: { notes: readonly string[] }): JSX.Element | null {
  if (!notes.length) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>
          <Icon name="info" /> {note}
        </li>
      ))}
    </ul>
  );
}
