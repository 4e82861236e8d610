import type { DefectItem } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { Badge, Icon } from "../../widgets";

const SEVERITIES: Readonly<
  Record<string, { word: string; words: string; tone: "bad" | "warn" | "info" | "neutral" }>
> = {
  error: { word: "error", words: "errors", tone: "bad" },
  data_loss: { word: "data loss", words: "data losses", tone: "warn" },
  notice: { word: "notice", words: "notices", tone: "info" },
  info: { word: "info", words: "info", tone: "neutral" },
};

/** How many of which severity, for the panel's title line. */
export function HealthNote({ items }: { items: readonly DefectItem[] }) {
  const counts = Object.entries(SEVERITIES)
    .map(([severity, names]) => ({
      ...names,
      count: items.filter((item) => item.severity === severity).length,
    }))
    .filter(({ count }) => count);
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
export function Health({ items }: { items: readonly DefectItem[] }) {
  if (!items.length)
    return (
      <p class="all-good">
        <Icon name="check" /> No defects found: every event was read and fits the others.
      </p>
    );
  return (
    <ul class="defects">
      {items.map((item) => {
        const severity = SEVERITIES[item.severity] ?? {
          word: item.severity,
          tone: "neutral" as const,
        };
        return (
          <li key={item.name}>
            <Badge tone={severity.tone}>{severity.word}</Badge>
            <div>
              <p>
                {item.sentence} <span class="number muted">{formatCount(item.count)}×</span>
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
