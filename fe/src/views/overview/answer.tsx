import type { FindingsPayload, OverviewPayload } from "../../api/types.gen";
import { Badge, Icon } from "../../widgets";

type Told = Pick<FindingsPayload, "headline" | "detail" | "about" | "line" | "progress">;

interface AnswerProps {
  payload: Pick<OverviewPayload, "headline">;
  /** The answer of the findings; empty where there is none, null while they are looked for. */
  told: Told | "" | null;
}

/** Sentences that a reader must know before any figure. */
const FIRST = ["loss"];

/** What the run is, the answer in one sentence, and where and what then. */
export function Answer({ payload, told }: AnswerProps) {
  const warnings = payload.headline.filter(({ key }) => FIRST.includes(key));
  const early = told !== null && told !== "" && told.progress < 1;
  return (
    <section class="answer" aria-label="In short">
      <p class="answer-about">
        {told ? told.about : ""}
        {early ? (
          <Badge tone="warn" title="Other ranks of the run are still being read.">
            first look
          </Badge>
        ) : null}
      </p>
      {told === "" ? null : (
        <h1 class={`headline-first${told === null || early ? " muted" : ""}`}>
          {told?.headline ?? "Looking for findings …"}
        </h1>
      )}
      <p class="headline-detail">{told ? <Detail {...told} /> : null}</p>
      {warnings.map(({ key, text }) => (
        <p key={key} class="tone-attention">
          <Icon name="warn" size={14} /> {text}
        </p>
      ))}
    </section>
  );
}

const PLACE = /(\S+\.py:\d+)/;

/** Lines are code, and the folders of the one that was found are in its tooltip. */
function Detail({ detail, line }: Told) {
  return (
    <>
      {detail.split(PLACE).map((part, place) =>
        place % 2 ? (
          <code key={place} title={line ?? undefined}>
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </>
  );
}
