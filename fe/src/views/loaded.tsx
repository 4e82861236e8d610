/** What every view shows while its payload is not there, and what it shows where the recording lacks something. */

import type { ComponentChildren } from "preact";
import type { Parameters, Route, Routes } from "../api/client";
import type { Missing } from "../api/types.gen";
import { diagnosisHref } from "../state/location";
import { type Incomplete, type Resource, useResource, useUntilComplete } from "../state/resource";
import { type ViewProps, viewQuery } from "../state/view";
import { Badge, CodeBlock, EmptyState, ErrorState, Icon, Skeleton, unbroken } from "../widgets";

/** The payload of all steps, of which charts keep all in sight to be chosen; the given one until it is there, and where all are chosen anyway. */
export function useAllSteps<R extends "counters" | "iterations">(
  route: R,
  { selection, steps }: ViewProps,
  payload: Routes[R],
): Routes[R] {
  const whole = useResource(
    steps.first === null ? null : route,
    viewQuery({ selection, steps: { ...steps, first: null, last: null } }),
  );
  return whole.data ?? payload;
}

interface LoadedProps<T> {
  resource: Resource<T>;
  /** Heights in px of what is coming, so that nothing jumps. */
  shape: readonly number[];
  children: (data: T) => ComponentChildren;
}

/** The payload's drawing, or why there is none yet; how far it is, the page says in one place (`app/Waiting.tsx`). An earlier payload stays, dimmed, until the next one is there. */
export function Loaded<T>({ resource, shape, children }: LoadedProps<T>) {
  const { state, data, error, stale, reload } = resource;
  if (data === null && error)
    return <ErrorState error={error} retry={reload} diagnosisHref={diagnosisHref()} />;
  if (data === null) {
    return (
      <div class="view-waiting" aria-busy="true">
        {shape.map((height, i) => (
          <Skeleton key={i} height={height} />
        ))}
      </div>
    );
  }
  return (
    <div
      class={`view${stale ? " view-stale" : ""}`}
      aria-busy={state === "loading" || state === "importing"}
    >
      {error ? (
        <ErrorState
          error={error}
          title="These figures are out of date"
          retry={reload}
          diagnosisHref={diagnosisHref()}
        />
      ) : null}
      {state === "importing" ? (
        <p class="muted" role="status">
          The trace changed and is being imported again.
        </p>
      ) : null}
      {children(data)}
    </div>
  );
}

/** A view, or a part of one, that draws the payload of a route; `query`: of the chosen trace and steps where nothing else is said. */
export function viewOf<R extends Route>(
  route: R,
  shape: readonly number[],
  Page: (props: ViewProps & { payload: Routes[R] }) => ComponentChildren,
  query = (props: ViewProps) => viewQuery(props) as unknown as Parameters[R],
) {
  return function View(props: ViewProps) {
    const resource = useResource(route, query(props));
    useUntilComplete(resource as Incomplete);
    return (
      <Loaded resource={resource} shape={shape}>
        {(payload) => <Page {...props} payload={payload} />}
      </Loaded>
    );
  };
}

/** What was not recorded, one line each, with the call that records it on demand. */
export function MissingList({ missing }: { missing: readonly Missing[] }) {
  if (!missing.length) return null;
  return (
    <div class="missing-list">
      {missing.map((item) => (
        <details key={item.key} class="missing">
          <summary>
            <Icon name="chevron" size={12} /> Not recorded: <strong>{item.what}</strong>.{" "}
            <span class="missing-how">{item.call ? "How to record it" : "Why"}</span>
          </summary>
          <p>{item.why}</p>
          {item.call ? <CodeBlock code={item.call} label="Copy the call" /> : null}
        </details>
      ))}
    </div>
  );
}

/** Marks an answer that may change once all of the recording is read. */
export const FirstLook = () => (
  <Badge tone="warn" title="Not all of it is read yet, so it may change.">
    first look
  </Badge>
);

/** The answer in words, the first sentence large; empty ones are left out. */
export function InShort({ sentences }: { sentences: readonly string[] }) {
  const [first, ...rest] = sentences.filter(Boolean);
  return !first ? null : (
    <section class="headline" aria-label="In short">
      <h2 class="headline-first">{unbroken(first)}</h2>
      {rest.length ? <p class="headline-more">{unbroken(rest.join(" "))}</p> : null}
    </section>
  );
}

/** What a reader must know before trusting the figures. */
export function Notes({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>
          <Icon name="info" /> {unbroken(note)}
        </li>
      ))}
    </ul>
  );
}

/** What is missing and not among what is said elsewhere on the page. */
export const unsaid = (missing: readonly Missing[], known: readonly Missing[]): Missing[] =>
  missing.filter((item) => !known.some(({ key }) => key === item.key));

interface NothingProps {
  title: string;
  /** Why, where nothing in `missing` says it. */
  text: string;
  missing: readonly Missing[];
  actions?: ComponentChildren;
}

/** Instead of an empty chart or table: what is missing, why, and the call that records it. */
export function Nothing({ title, text, missing, actions }: NothingProps) {
  const [first] = missing;
  return (
    <EmptyState
      title={title}
      text={first ? first.why : text}
      actions={actions}
      code={first?.call}
      diagnosisHref={diagnosisHref()}
    />
  );
}
