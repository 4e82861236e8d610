/** The page around the views: what is chosen, and what is said when there is nothing to choose from. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { RunsPayload } from "../api/types.gen";
import { nameFilesAfter } from "../base/csv";
import { changePage, hrefOfPage, pageOfHref, type PageState, pageStore } from "../state/location";
import { complete, find, pollRuns, runsStore } from "../state/runs";
import { useStore } from "../state/store";
import {
  ALL_STEPS,
  type Params,
  type Selection,
  type StepRange,
  type ViewId,
  type ViewProps,
} from "../state/view";
import { Boundary } from "./boundary";
import { Header } from "./Header";
import { ConnectionLost, FailedTrace, NoTrace } from "./notices";
import { VIEWS, type View } from "./registry";
import { Tour } from "./tour";

export function App() {
  const page = useStore(pageStore);
  const { payload, error } = useStore(runsStore);
  useEffect(pollRuns, []);
  useCompletedSelection(payload, page);
  const view = VIEWS.find((item) => item.id === page.view) ?? VIEWS[0];
  const main = useRef<HTMLElement>(null);
  const remembered = useRemembered(page);
  useTitle(view?.label ?? "", page.selection.run);
  const props = useViewProps(page);
  if (!view) return <main />;
  return (
    <div class="app" onClick={followLink}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header
        payload={payload}
        selection={page.selection}
        view={view}
        steps={page.steps}
        onSelect={selectTrace}
        onSteps={props.setSteps}
        hrefOf={props.hrefOf}
        tabHref={(id) => props.hrefOf(id, remembered(id))}
      />
      <main ref={main} id="main" tabIndex={-1} aria-label={view.label}>
        <h1 class="visually-hidden">{view.label}</h1>
        {error ? <ConnectionLost error={error} /> : null}
        <Tour brief={view.id !== "overview"} />
        <Content view={view} props={props} payload={payload} />
      </main>
    </div>
  );
}

interface ContentProps {
  view: View;
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

/** Chooses a run when there is none, and completes a link that names only a run. */
function useCompletedSelection(payload: RunsPayload | null, page: PageState): void {
  useEffect(() => {
    const { selection } = page;
    const full = complete(payload, selection);
    if (sameTrace(full, selection)) return;
    changePage((state) => ({ ...state, selection: full }), "replace");
  }, [payload, page]);
}

function useRemembered(page: PageState): (view: ViewId) => Params {
  const last = useRef(new Map<ViewId, Params>());
  last.current.set(page.view, page.params);
  return (view) => last.current.get(view) ?? {};
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
      setSteps: (steps) => changePage((state) => ({ ...state, steps }), "replace"),
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

function selectTrace(selection: Selection): void {
  const full = complete(runsStore.get().payload, selection);
  changePage((state) => ({ ...state, selection: full, steps: allStepsOf(state) }), "push");
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
