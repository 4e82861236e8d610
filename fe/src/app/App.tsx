/** The page around the views: what is chosen, and what is said when there is nothing to choose from. */

import { Component, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ApiError, served } from "../api/client";
import type { RunsPayload, SpanItem } from "../api/types.gen";
import { nameFilesAfter } from "../base/csv";
import { messageOf } from "../base/errors";
import { recordInto } from "../base/record";
import { readStored, writeStored } from "../base/stored";
import {
  changePage,
  diagnosisHref,
  EMPTY_PAGE,
  fromEntries,
  hrefOfPage,
  pageOfHref,
  type PageState,
  pageStore,
} from "../state/location";
import { useResource } from "../state/resource";
import { besideOf, complete, find, pollRuns, runsStore } from "../state/runs";
import { useStore } from "../state/store";
import {
  ALL_STEPS,
  type Params,
  type Selection,
  type StepRange,
  type ViewId,
  type ViewProps,
} from "../state/view";
import { Button, CopyButton, EmptyState, ErrorState, Icon, Skeleton } from "../widgets";
import { Header, Sections } from "./Header";
import { type Place, placeOf, type Section } from "./registry";

export function App() {
  const page = useStore(pageStore);
  const { payload, error } = useStore(runsStore);
  useEffect(pollRuns, []);
  useCompletedSelection(payload, page);
  const { place, section } = placeOf(page.view);
  const main = useRef<HTMLElement>(null);
  const remembered = useRemembered(page, place);
  useTitle(section.label, page.selection.run);
  const props = useViewProps(page);
  // Of a trace that could not be imported there is nothing to ask.
  const { span } = find(payload, page.selection);
  const asks = span !== null && span.state !== "failed";
  const { data } = useResource(asks ? "steps" : null, page.selection);
  const places = { ...props, payload, data, place, section, ...remembered(props.hrefOf) };
  return (
    <div class="app" onClick={followLink}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header {...places} onSelect={selectTrace} onAllRanks={selectAllRanks} />
      <main ref={main} id="main" tabIndex={-1} aria-label={section.label}>
        <h1 class="visually-hidden">{section.label}</h1>
        {error ? <ConnectionLost error={error} /> : null}
        {section.id === "overview" ? <Tour /> : null}
        <Sections {...places} />
        <Content view={section} props={props} payload={payload} />
      </main>
    </div>
  );
}

interface ContentProps {
  view: Section;
  props: ViewProps;
  payload: RunsPayload | null;
}

function Content({ view, props, payload }: ContentProps) {
  const { selection } = props;
  const entries = find(payload, selection);
  if (view.needsTrace && !entries.span) return <NoTrace payload={payload} selection={selection} />;
  // The catalogue knows the reason already; asking for the figures would only fail again.
  if (view.needsTrace && entries.span?.state === "failed")
    return <FailedTrace span={entries.span} worker={selection.worker} />;
  const { first, last } = props.steps;
  const { run, worker } = selection;
  const steps = first === null && last === null ? "" : `steps_${first ?? 0}-${last ?? "end"}`;
  nameFilesAfter(run, worker, view.id, steps);
  const Component = view.component;
  return (
    <Boundary reset={[view.id, selection.run, selection.worker, selection.span].join("\n")}>
      <div class={`page page-${view.id}`}>
        <Component key={view.id} {...props} />
      </div>
    </Boundary>
  );
}

/** Chooses a run when there is none, and completes a link, which otherwise is taken as it stands. */
function useCompletedSelection(payload: RunsPayload | null, page: PageState): void {
  useEffect(() => {
    const { selection } = page;
    const full = complete(payload, selection);
    if (sameTrace(full, selection)) return;
    const named = selection.run || selection.worker || page.steps.first !== null;
    changePage((state) => (named ? { ...state, selection: full } : opened(state, full)), "replace");
  }, [payload, page]);
}

/** What was looked at last: of each section its own choices, of each place the section. */
function useRemembered(page: PageState, place: Place) {
  const params = useRef(new Map<ViewId, Params>());
  const sections = useRef(new Map<Place, ViewId>());
  const trace = useRef(page.selection);
  if (!sameTrace(trace.current, page.selection)) {
    // A rank that is chosen elsewhere is what Overview is of, too; a run begins with all of its ranks.
    const { params: first } =
      trace.current.run === page.selection.run
        ? { params: {} }
        : opened(EMPTY_PAGE, page.selection);
    params.current.set("overview", first);
    trace.current = page.selection;
  }
  params.current.set(page.view, page.params);
  sections.current.set(place, page.view);
  return (hrefOf: ViewProps["hrefOf"]) => ({
    lastOf: (place: Place) => sections.current.get(place),
    sectionHref: (view: ViewId) => hrefOf(view, params.current.get(view) ?? {}),
  });
}

function useTitle(view: string, run: string): void {
  useEffect(() => {
    document.title = [view, run, "PyTorch Profiler"].filter(Boolean).join(" · ");
  }, [view, run]);
}

function useViewProps(page: PageState): ViewProps {
  return useMemo(() => {
    const at = (
      view: ViewId,
      params: Params = {},
      selection?: Selection,
      steps = page.steps,
    ): PageState =>
      selection && !sameTrace(selection, page.selection)
        ? { view, params, selection, steps: allStepsOf(page) }
        : { ...page, view, params, steps };
    return {
      selection: page.selection,
      steps: page.steps,
      params: page.params,
      setSteps: (steps) => changePage((state) => ({ ...state, steps }), "push"),
      setParam,
      hrefOf: (...to) => hrefOfPage(at(...to)),
    };
  }, [page]);
}

function setParam(key: string, value: string | null): void {
  changePage((state) => {
    const { [key]: _, ...others } = state.params;
    return { ...state, params: value ? { ...others, [key]: value } : others };
  }, "replace");
}

const sameTrace = (a: Selection, b: Selection): boolean =>
  a.run === b.run && a.worker === b.worker && a.span === b.span;

/** Steps are those of one trace, so another trace starts with all of its own. */
const allStepsOf = (page: PageState): StepRange => ({
  ...ALL_STEPS,
  skipCold: page.steps.skipCold,
});

/** A run that the page chose, or a person did in the line: all ranks where it has several, without the cold steps. A report holds neither for every view. */
function opened(state: PageState, selection: Selection): PageState {
  const several = served && besideOf(runsStore.get().payload, selection).length > 1;
  const { of: _, ...params } = state.params;
  return {
    ...state,
    selection,
    steps: { ...ALL_STEPS, skipCold: served },
    params:
      state.view !== "overview" ? state.params : several ? { ...params, of: "ranks" } : params,
  };
}

function selectTrace(selection: Selection): void {
  const full = complete(runsStore.get().payload, selection);
  changePage((state) => {
    if (full.run !== state.selection.run) return opened(state, full);
    const { of, ...params } = state.params;
    return {
      ...state,
      selection: full,
      steps: sameTrace(full, state.selection) ? state.steps : allStepsOf(state),
      params: state.view === "overview" || of === undefined ? params : { ...params, of },
    };
  }, "push");
}

function selectAllRanks(): void {
  changePage((state) => ({ ...state, params: { ...state.params, of: "ranks" } }), "push");
}

/** Plain clicks on links to this page change its state; in TensorBoard's frame they would load TensorBoard into itself. */
function followLink(event: MouseEvent): void {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.ctrlKey ||
    event.metaKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  const page = link instanceof HTMLAnchorElement && !link.target ? pageOfHref(link.href) : null;
  if (!page) return;
  event.preventDefault();
  changePage(() => page, "push");
  scrollTo({ top: 0 });
}

interface BoundaryProps {
  reset: string;
  children: ComponentChildren;
}

interface BoundaryState {
  thrown: unknown;
  reset: string;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { thrown: null, reset: this.props.reset };

  static override getDerivedStateFromError(thrown: unknown): Partial<BoundaryState> {
    return { thrown: thrown ?? new Error("nothing was thrown") };
  }

  static override getDerivedStateFromProps(
    props: BoundaryProps,
    state: BoundaryState,
  ): Partial<BoundaryState> | null {
    return props.reset === state.reset ? null : { thrown: null, reset: props.reset };
  }

  override render(): ComponentChildren {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
    return (
      <div class="panel boundary">
        <ErrorState
          title="This view stopped with an error"
          error={{
            message: messageOf(thrown),
            hint: "The other views still work. Please report this with the details below.",
          }}
          retry={() => this.setState({ thrown: null })}
        />
        <details>
          <summary>Details</summary>
          <pre tabIndex={0}>{stack}</pre>
          <CopyButton text={stack} label="Copy the details" />
        </details>
      </div>
    );
  }
}

interface NoTraceProps {
  payload: RunsPayload | null;
  selection: Selection;
}

function NoTrace({ payload, selection }: NoTraceProps) {
  if (!payload) return <Skeleton height={320} label="Loading the list of runs" />;
  return <EmptyState {...reasonOf(payload, selection)} diagnosisHref={diagnosisHref()} />;
}

function reasonOf(payload: RunsPayload, selection: Selection) {
  const { scanning, logdirs, runs } = payload;
  const { run, worker } = find(payload, selection);
  const where = logdirs.join(", ");
  if (selection.run) {
    const what = !run
      ? `The run ${selection.run}`
      : !worker
        ? `The worker ${selection.worker} of ${run.name}`
        : `The span ${selection.span} of ${worker.name}`;
    return {
      title: `${what} is not there`,
      text: scanning
        ? "It may not have been found yet: the log directory is still being searched."
        : "It was removed or renamed, or the link refers to another log directory. The page shows it if it comes back." +
          (runs.length ? " Choose another one above." : ""),
    };
  }
  if (scanning)
    return {
      title: "Searching for traces",
      text: `The page updates by itself as soon as one is found in ${where}.`,
    };
  return {
    title: "No traces yet",
    text: `No torch.profiler trace was found in ${where || "the log directory"}. The page updates by itself when one appears. To record one:`,
    code: recordInto(logdirs[0] ?? "./log"),
  };
}

interface FailedTraceProps {
  span: SpanItem;
  worker: string;
}

function FailedTrace({ span, worker }: FailedTraceProps) {
  return (
    <ErrorState
      title={`The trace of ${worker} could not be imported`}
      error={{ message: span.message, hint: "It is imported again when the file changes." }}
      diagnosisHref={diagnosisHref()}
    />
  );
}

function ConnectionLost({ error }: { error: ApiError }) {
  return (
    <div class="banner" role="status">
      <Icon name="warn" />
      <span>
        {error.message} {error.hint}
      </span>
    </div>
  );
}

const KEY = "pytorch_profiler.tour";

/** The places that a logdir brings along to be looked at, until they are dismissed. */
export function Tour() {
  const [done, setDone] = useState(() => readStored(KEY) !== null);
  const { data } = useResource(done ? null : "tour", {});
  if (done || !data?.places.length) return null;
  const dismiss = (): void => {
    writeStored(KEY, "done");
    setDone(true);
  };
  return (
    <section class="panel tour" aria-label="Tour">
      <ol>
        {data.places.map(({ text, link }) => (
          <li key={link}>
            <a href={hrefOfPage(fromEntries(new Map(new URLSearchParams(link))))}>{text}</a>
          </li>
        ))}
      </ol>
      <Button kind="quiet" icon="close" label="Do not show the tour again" onClick={dismiss} />
    </section>
  );
}
