/** What was recorded, on what, and how far it can be trusted. */

import type { DefectItem, Fact, OverviewPayload } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { type ViewProps, viewQuery } from "../../state/view";
import { Badge, Term, Tooltip } from "../../widgets";
import { fact } from "../fact";
import { MissingList, Notes } from "../loaded";

export function Recording({ payload, ...props }: ViewProps & { payload: OverviewPayload }) {
  const { recording, configuration, missing, health, notes, devices, vocabulary } = payload;
  const efficiency = useResource(devices.length ? "efficiency" : null, viewQuery(props));
  const mfu = efficiency.data?.mfu ?? null;
  return (
    <section class="recording" aria-labelledby="this-recording">
      <header class="section-head">
        <h2 id="this-recording">This recording</h2>
      </header>
      <dl class="facts">
        {recording.map(factLine)}
        {fact(
          <Term id="mfu">Of the {vocabulary.device}’s peak (MFU)</Term>,
          mfu === null ? null : formatShare(mfu),
        )}
        {fact(<Term id="health">Trace health</Term>, <HealthNote items={health} />)}
      </dl>
      <MissingList missing={missing} />
      {health.length ? (
        <details class="fold">
          <summary>What is wrong with the trace</summary>
          <Health items={health} />
        </details>
      ) : null}
      {configuration.length ? (
        <details class="fold">
          <summary>Configuration and versions</summary>
          <dl class="facts">{configuration.map(factLine)}</dl>
        </details>
      ) : null}
      <Notes notes={notes} />
    </section>
  );
}

const factLine = ({ label, value, hint }: Fact) =>
  fact(
    hint ? (
      <Tooltip content={hint} class="term">
        {label}
      </Tooltip>
    ) : (
      label
    ),
    value,
  );

const SEVERITIES: Readonly<
  Record<string, { word: string; words: string; tone: "bad" | "warn" | "info" | "neutral" }>
> = {
  error: { word: "error", words: "errors", tone: "bad" },
  data_loss: { word: "data loss", words: "data losses", tone: "warn" },
  notice: { word: "notice", words: "notices", tone: "info" },
  info: { word: "info", words: "info", tone: "neutral" },
};

/** How many of which severity. */
export function HealthNote({ items }: { items: readonly DefectItem[] }) {
  const counts = Object.entries(SEVERITIES)
    .map(([severity, names]) => ({
      ...names,
      count: items.filter((item) => item.severity === severity).length,
    }))
    .filter(({ count }) => count);
  return (
    <>
      {counts.length
        ? counts
            .map(({ word, words, count }) => `${count} ${count === 1 ? word : words}`)
            .join(", ")
        : "sound"}
    </>
  );
}

/** What was wrong with the trace, how much step time it touches, which figures to doubt. */
export function Health({ items }: { items: readonly DefectItem[] }) {
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
              <Badge tone={tone}>{word}</Badge> {item.sentence}{" "}
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
