/** What was recorded, on what, and how far it can be trusted: one line that opens. */

import type { DefectItem, OverviewPayload } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { type ViewProps, viewQuery } from "../../state/view";
import { Badge, unbroken } from "../../widgets";
import { fact } from "../fact";
import { MissingList, Notes } from "../loaded";

export type OfOverview = ViewProps & { payload: OverviewPayload };

export function Foot({ payload, ...props }: OfOverview) {
  const { recording, configuration, missing, health, notes, devices, vocabulary } = payload;
  const efficiency = useResource(devices.length ? "efficiency" : null, viewQuery(props));
  const mfu = efficiency.data?.mfu ?? null;
  const lacking = missing.map(({ what }) => what.toLowerCase()).join(", ");
  return (
    <details class="foot">
      <summary>
        {recording.map(({ label, value, hint }) => (
          <span key={label} title={hint}>
            {label} {value}
          </span>
        ))}
        {mfu === null ? null : (
          <span>
            {formatShare(mfu)} of the {vocabulary.device}’s peak (MFU)
          </span>
        )}
        {lacking ? <span>Not recorded: {lacking}</span> : null}
        <span>Trace health: {healthText(health)}</span>
        <span class="foot-more">
          {notes.length
            ? `${formatCount(notes.length)} ${notes.length > 1 ? "notes" : "note"}, `
            : ""}
          configuration
        </span>
      </summary>
      <Notes notes={notes} />
      <Health items={health} />
      <MissingList missing={missing} />
      <dl class="facts">
        {configuration.map(({ label, value, hint }) => fact(label, value, hint))}
      </dl>
    </details>
  );
}

const SEVERITIES: Readonly<
  Record<string, { word: string; words: string; tone: "bad" | "warn" | "info" | "neutral" }>
> = {
  error: { word: "error", words: "errors", tone: "bad" },
  data_loss: { word: "data loss", words: "data losses", tone: "warn" },
  notice: { word: "notice", words: "notices", tone: "info" },
  info: { word: "info", words: "info", tone: "neutral" },
};

/** How many of which severity. */
export function healthText(items: readonly DefectItem[]): string {
  const counts = Object.entries(SEVERITIES).map(([severity, { word, words }]) => {
    const count = items.filter((item) => item.severity === severity).length;
    return count ? `${count} ${count === 1 ? word : words}` : "";
  });
  return counts.filter(Boolean).join(", ") || "sound";
}

/** What was wrong with the trace, how much step time it touches, which figures to doubt. */
export function Health({ items }: { items: readonly DefectItem[] }) {
  if (!items.length) return null;
  return (
    <ul class="defects">
      {items.map((item) => {
        const { word, tone } = SEVERITIES[item.severity] ?? {
          word: item.severity,
          tone: "neutral" as const,
        };
        return (
          <li key={item.name}>
            <p>
              <Badge tone={tone}>{word}</Badge> {unbroken(item.sentence)}{" "}
              <span class="number muted">{formatCount(item.count)}×</span>
            </p>
            <p class="defect-more">
              {touched(item)}
              {item.doubtful.length ? ` Doubtful: ${item.doubtful.join(", ")}.` : ""}
            </p>
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
