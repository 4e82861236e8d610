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
  fromEntries,
  goTo,
  hrefOfPage,
  type PageState,
  pageStore,
} from "../state/location";
import { useResource } from "../state/resource";
import { besideOf, complete, find, otherSide, pollRuns, runsStore } from "../state/runs";
import { useStore } from "../state/store";
import {
  ALL_STEPS,
  modeOf,
  type Params,
  sameTrace,
  type Selection,
  sideParams,
  type StepRange,
  type ViewId,
  type ViewProps,
  withoutMode,
  withParams,
} from "../state/view";
import { Button, CopyButton, EmptyState, ErrorState, Icon, Skeleton } from "../widgets";
import { Shown, type ShownProps } from "./Compared";
import { Header, Sections, useRecorded } from "./Header";
import { type Place, placeOf } from "./registry";
import { Waiting } from "./Waiting";

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
  const chosen = useRecorded(payload, page.selection);
  const places = { place, section, ...chosen, ...remembered(props.hrefOf) };
  return (
    <div class="app" onClick={followLink}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header
        {...props}
        {...places}
        payload={payload}
        onSelect={selectTrace}
        onAllRanks={selectAllRanks}
      />
      <main ref={main} id="main" tabIndex={-1} aria-label={section.label}>
        <h1 class="visually-hidden">{section.label}</h1>
        {error ? <ConnectionLost error={error} /> : null}
        {section.id === "overview" ? <Tour /> : null}
        <div class="sections-line">
          {section.id === "overview" && !page.params.run2 ? null : <Sections {...places} />}
          <Waiting {...page} view={section.id} />
        </div>
        <Content view={section} props={props} payload={payload} />
      </main>
    </div>
  );
}

function Content({ view, props, payload }: ShownProps) {
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
  return (
    <Boundary reset={[view.id, selection.run, selection.worker, selection.span].join("\n")}>
      <div class={`page page-${view.id}`}>
        <Shown key={view.id} {...{ view, props, payload }} />
      </div>
    </Boundary>
  );
}

/** Chooses a run when there is none, and completes a link, which otherwise is taken as it stands: without a worker it means all ranks. */
function useCompletedSelection(payload: RunsPayload | null, page: PageState): void {
  useEffect(() => {
    const { selection, steps } = page;
    const full = complete(payload, selection);
    if (sameTrace(full, selection)) return;
    const named = selection.run || selection.worker || steps.first !== null;
    changePage((state) => {
      if (!named) return opened(state, full);
      const completed = { ...state, selection: full };
      return selection.worker ? completed : { ...completed, params: ofAllRanks(completed) };
    }, "replace");
  }, [payload, page]);
}

/** What was looked at last, apart while two recordings are compared: of each section its own choices, of each place the section. */
function useRemembered(page: PageState, place: Place) {
  const params = useRef(new Map<string, Params>());
  const sections = useRef(new Map<string, ViewId>());
  const { all, run2 } = page.params;
  const mode = run2 ? "compared " : "";
  params.current.set(mode + page.view, withoutMode(page.params));
  sections.current.set(mode + place.label, page.view);
  return (hrefOf: ViewProps["hrefOf"]) => ({
    lastOf: (place: Place) => sections.current.get(mode + place.label),
    sectionHref: (view: ViewId) =>
      hrefOf(
        view,
        params.current.get(mode + view) ??
          (all && placeOf(view).section.ranks === "ranks" ? { ranks: "all" } : {}),
      ),
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
      selection: Selection = page.selection,
      steps?: StepRange,
    ): PageState => {
      const to = withTrace(page, selection);
      return {
        ...to,
        view,
        params: { ...modeOf(to.params, params), ...params },
        steps: steps ?? to.steps,
      };
    };
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
  changePage(
    (state) => ({ ...state, params: withParams(state.params, { [key]: value ?? "" }) }),
    "replace",
  );
}

/** Steps are those of one trace, so another trace starts with all of its own. */
const allStepsOf = (page: PageState): StepRange => ({
  ...ALL_STEPS,
  skipCold: page.steps.skipCold,
});

/** The page with another trace: with all of its steps. Who goes over to the other side of a comparison finds its steps, and this side as the other one. */
function withTrace(page: PageState, selection: Selection): PageState {
  if (sameTrace(selection, page.selection)) return page;
  const other = otherSide(runsStore.get().payload, page.params);
  const over = other && sameTrace(selection, other.selection);
  return {
    ...page,
    selection,
    steps: over ? other.steps : allStepsOf(page),
    params: withParams(page.params, {
      ...(selection.run === page.selection.run ? {} : { all: "" }),
      ...(over ? { ...sideParams(page.selection, page.steps), given2: "" } : {}),
    }),
  };
}

/** A run that the page chose, or a person did in the line: all ranks where it has several, without the cold steps. A report holds neither for every view. */
function opened(state: PageState, selection: Selection): PageState {
  const page = withTrace(state, selection);
  return {
    ...page,
    steps: page.params.run2 ? page.steps : { ...ALL_STEPS, skipCold: served },
    params: ofAllRanks(page),
  };
}

/** All ranks are meant where there are several. */
function ofAllRanks({ params, selection }: PageState): Params {
  const several = served && besideOf(runsStore.get().payload, selection).length > 1;
  return withParams(params, { all: several ? "1" : "" });
}

function selectTrace(selection: Selection): void {
  const full = complete(runsStore.get().payload, selection);
  changePage((state) => {
    if (full.run !== state.selection.run) return opened(state, full);
    const page = withTrace(state, full);
    return { ...page, params: withParams(page.params, { all: "" }) };
  }, "push");
}

function selectAllRanks(): void {
  changePage((state) => ({ ...state, params: { ...state.params, all: "1" } }), "push");
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
  if (link instanceof HTMLAnchorElement && !link.target && goTo(link.href)) event.preventDefault();
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
