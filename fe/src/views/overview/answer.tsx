import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FindingsPayload, OverviewPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { Icon, unbroken } from "../../widgets";
import { FirstLook } from "../loaded";
import { lacks } from "../missing";

type Told = Pick<FindingsPayload, "headline" | "detail" | "about" | "line" | "progress">;

interface AnswerProps extends Pick<ViewProps, "hrefOf"> {
  children?: ComponentChildren;
  /** Whose step it is, where a job has several ranks. */
  whose?: string;
  payload: Pick<OverviewPayload, "headline" | "first_look" | "missing">;
  /** The answer of the findings; empty where there is none, null while they are looked for. */
  told: Told | "" | null;
  /** Of several ranks the one that a first look is of; else empty. */
  rank?: string;
}

/** Sentences that a reader must know before any figure. */
const FIRST = ["loss"];

/** What the run is, the answer in one sentence, and where and what then. Before every rank is read there is no cause to take back. */
export function Answer(props: AnswerProps) {
  const { payload, told: found, whose = "", rank = "", hrefOf, children } = props;
  const told = found && found.progress < 1 ? null : found;
  const first = told === null ? payload.first_look : "";
  const long = useLong(!!rank && !!first);
  const warnings = payload.headline.filter(({ key }) => FIRST.includes(key));
  const look = rank ? first.replace(/\.$/, ` on ${rank}.`) : first;
  return (
    <section class="answer" aria-label="In short">
      <p class="answer-about">
        <span>{found ? [found.about, whose].filter(Boolean).join(" · ") : ""}</span>
        {children}
      </p>
      {told === "" ? null : (
        <h1 class={`headline-first${told === null ? " muted" : ""}`}>
          {unbroken(told?.headline ?? (look || "Looking for findings …"))}
        </h1>
      )}
      <p class="headline-detail">
        {told ? <Detail {...told} /> : null}
        {first ? (
          <>
            <FirstLook /> Why, and what to change, is known when all of it is read. Ready:{" "}
            {long ? (
              <>
                <a href={hrefOf("overview", { ranks: "own", all: "" })}>{rank} alone</a>,{" "}
              </>
            ) : null}
            <a href={hrefOf("operator")}>Operators</a>
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
          <Icon name="warn" size={14} /> {unbroken(text)}
        </p>
      ))}
    </section>
  );
}

/** Whether something has been so for so long that what is there is offered, ms. */
const LONG = 30_000;

function useLong(is: boolean): boolean {
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    const timer = is ? setTimeout(() => setLong(true), LONG) : undefined;
    return () => clearTimeout(timer);
  }, [is]);
  return long;
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
          unbroken(part)
        ),
      )}
    </>
  );
}
