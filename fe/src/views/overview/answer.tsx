import type { FindingsPayload, OverviewPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { Icon } from "../../widgets";
import { FirstLook } from "../loaded";
import { lacks } from "../missing";

type Told = Pick<FindingsPayload, "headline" | "detail" | "about" | "line" | "progress">;

interface AnswerProps extends Pick<ViewProps, "hrefOf"> {
  payload: Pick<OverviewPayload, "headline" | "first_look" | "missing">;
  /** The answer of the findings; empty where there is none, null while they are looked for. */
  told: Told | "" | null;
}

/** Sentences that a reader must know before any figure. */
const FIRST = ["loss"];

/** What the run is, the answer in one sentence, and where and what then. */
export function Answer({ payload, told, hrefOf }: AnswerProps) {
  const first = told === null ? payload.first_look : null;
  const warnings = payload.headline.filter(({ key }) => FIRST.includes(key));
  const early = told !== null && told !== "" && told.progress < 1;
  return (
    <section class="answer" aria-label="In short">
      <p class="answer-about">
        {told ? told.about : ""}
        {early ? <FirstLook /> : null}
      </p>
      {told === "" ? null : (
        <h1 class={`headline-first${told === null || early ? " muted" : ""}`}>
          {told?.headline ?? first?.headline ?? "Looking for findings …"}
        </h1>
      )}
      <p class="headline-detail">
        {told ? <Detail {...told} /> : null}
        {first ? (
          <>
            <FirstLook /> Where the time went is known; why, and what to change, is being worked
            out. Ready: <a href={hrefOf("operator")}>Operators</a>
            {lacks(payload.missing, "device") ? null : (
              <>
                , <a href={hrefOf("kernel")}>Kernels</a>
              </>
            )}
          </>
        ) : null}
      </p>
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
