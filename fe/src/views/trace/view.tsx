import type { JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { TracePayload, WorkerItem } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { diagnosisHref } from "../../state/location";
import { useResource } from "../../state/resource";
import { find, type Runs, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import type { ViewProps } from "../../state/view";
import { onAxis, ownAt } from "../../timeline/clock";
import { GESTURES, KEYS } from "../../timeline/keyboard";
import {
  Button,
  Dialog,
  EmptyState,
  ErrorState,
  Skeleton,
  Splitter,
  useStoredSize,
} from "../../widgets";
import { Canvas } from "./canvas";
import { type Comparison, pairText, useComparison, usePlaced } from "./compare";
import { CompareBar } from "./compare_bar";
import { DetailsPanel, useDock } from "./dock";
import { ExportDialog } from "./export";
import { seenWindow } from "./model";
import { readShown } from "./params";
import { TraceFacts } from "./parts";
import {
  isOfEarlierChoice,
  type Recording,
  type Recordings,
  type Shown,
  spanOf,
  useRecordings,
} from "./recordings";
import { FoundBar } from "./found";
import { Side } from "./side";
import {
  firstView,
  homeView,
  type TraceState,
  type TraceStateProps,
  togglePath,
  useTraceState,
  viewOfSteps,
} from "./trace_state";
import { readTable, Tables } from "./tables";
import { ArrowMenu, ColourMenu, MarkMenu, RowMenu, StepJump, WorkerChoice } from "./toolbar";

const NO_WORKERS: readonly WorkerItem[] = [];

export function TraceView(props: ViewProps) {
  const { selection, params } = props;
  const shown = readShown(params.workers);
  const { run, worker, span } = selection;
  const about = useResource("trace", { run, worker, span });
  const comparison = useComparison(props);
  const found = useRecordings(selection, shown, comparison?.wanted);
  const { parts, alignment } = found;
  const recordings = usePlaced(found.recordings, comparison);
  const pair = pairText(params);
  const modeOf = (wanted: Shown): string => [wanted, run, worker, span, pair].join("\n");
  useOtherClock(props, pair);
  const mode = modeOf(shown);
  const chosen = useRef("");
  const setShown = (next: Shown): void => {
    chosen.current = modeOf(next);
    chooseWorkers(props, next);
  };
  const listed = useStore(
    runsStore,
    useCallback(
      (runs: Runs) => find(runs.payload, selection).run?.workers ?? NO_WORKERS,
      [selection],
    ),
  );
  // A link may say "all" of a run that has lost its others since.
  const workers =
    !comparison && (listed.length > 1 || shown) ? (
      <WorkerChoice
        {...{ shown, parts }}
        alignment={alignment?.data ?? null}
        workers={listed}
        own={worker}
        focused={chosen.current === mode}
        onShown={setShown}
      />
    ) : null;
  const waiting =
    alignment?.data === null ||
    comparison?.resource.data === null ||
    (alignment !== null && isOfEarlierChoice(alignment)) ||
    parts.some(({ resource }) => resource.state === "loading" && resource.data === null);
  const main = Math.max(
    0,
    recordings.findIndex(
      ({ query }) => query.run === run && query.worker === worker && query.span === span,
    ),
  );
  const recording = recordings[main];
  if (!recording || waiting)
    return <Waiting {...{ found, comparison }} workers={shown ? workers : null} />;
  if (recordings.every(({ timeline }) => timeline.events === 0))
    return (
      <EmptyState
        title="This trace has no timeline"
        text="The file was read, but none of its events has a time. The profiler records only between start and stop and, with a schedule, only in active steps. Memory snapshots and memory timelines hold no events: see the Memory view."
        code={"with torch.profiler.profile() as profiler:\n    train_one_step()\n"}
        diagnosisHref={diagnosisHref()}
      />
    );
  return (
    <Page
      key={mode}
      view={props}
      about={about.data}
      {...{ recordings, recording, main, workers, comparison }}
      span={comparison ? spanOf(recordings) : found.span}
    />
  );
}

/** Times of one worker and of all are on different clocks, so what is chosen by time is let go of. */
function chooseWorkers(props: ViewProps, shown: Shown): void {
  letGoOfTimes(props);
  props.setParam("workers", shown);
}

function letGoOfTimes({ setParam }: ViewProps): void {
  const keys = "t sel area arealanes mark table pin open shut order";
  for (const key of keys.split(" ")) setParam(key, null);
}

/** With another recording beside it, or without, the times in the address are of another clock. */
function useOtherClock(props: ViewProps, pair: string): void {
  const before = useRef(pair);
  useEffect(() => {
    if (before.current !== pair) letGoOfTimes(props);
    before.current = pair;
  }, [pair]); // eslint-disable-line react-hooks/exhaustive-deps
}

interface WaitingProps {
  found: Recordings;
  comparison: Comparison | null;
  workers: JSX.Element | null;
}

function Waiting({ found: { parts, alignment }, comparison, workers }: WaitingProps) {
  const resources = [
    ...(comparison ? [comparison.resource] : []),
    ...(alignment ? [alignment] : []),
    ...parts.map(({ resource }) => resource),
  ];
  const failed = resources.find(({ error }) => error);
  const arranged = parts.every(({ resource }) => resource.data);
  return (
    <div class="trace-waiting" aria-busy={!failed}>
      {workers}
      {arranged ? <p class="muted">{comparison?.resource.progress}</p> : null}
      {failed?.error ? (
        <ErrorState error={failed.error} retry={failed.reload} diagnosisHref={diagnosisHref()} />
      ) : null}
      {failed ? null : <Skeleton height={420} />}
    </div>
  );
}

interface PageProps extends TraceStateProps {
  about: TracePayload | null;
  workers: JSX.Element | null;
}

const DRAWER_HEIGHT = 300;

/** Says so where a trace has more threads than the page draws. */
function NotDrawn({ recordings }: { recordings: readonly Recording[] }) {
  const left = recordings.reduce(
    (sum, { timeline }) => sum + timeline.groups_total - timeline.groups.length,
    0,
  );
  return left > 0 ? (
    <p class="source-note">
      Not drawn: {formatCount(left)} rows of threads, those with the fewest events.
    </p>
  ) : null;
}

function Page({ about, workers, ...props }: PageProps) {
  const { view, recordings, recording, span } = props;
  const state = useTraceState(props);
  const [dialog, setDialog] = useState<"help" | "about" | null>(null);
  const [first] = useState(
    () =>
      firstView(view.params.t, span) ??
      (view.params.q ? null : viewOfSteps(view.steps, recording)) ??
      homeView(recordings, span),
  );
  useFollowedSteps(state);
  useKeptView(state);
  const [dock, setDock] = useDock();
  const [height, setHeight] = useStoredSize("pytorch_profiler.size.trace_tables", DRAWER_HEIGHT);
  const { choice, set } = state;
  const details =
    view.params.details !== "0" && (choice.selected !== null || view.params.sel !== undefined);
  const table = readTable(view.params.table) !== null;
  const panel = details ? (
    <DetailsPanel dock={dock} onDock={setDock} onClose={() => set({ details: "0" })}>
      <Side state={state} />
    </DetailsPanel>
  ) : null;
  const below = dock === "bottom" ? panel : null;
  return (
    <div class="trace-page">
      <Tools
        state={state}
        about={about}
        workers={workers}
        onAbout={() => setDialog("about")}
        onHelp={() => setDialog("help")}
      />
      {props.comparison ? <CompareBar state={state} comparison={props.comparison} /> : null}
      <NotDrawn recordings={recordings} />
      <div class="trace-body">
        <div class="trace-left">
          <Canvas state={state} first={first} onHelp={() => setDialog("help")} />
          {table || below ? (
            <>
              <Splitter
                label={table ? "Height of the tables" : "Height of the details"}
                orientation="horizontal"
                size={height}
                least={160}
                most={900}
                onSize={setHeight}
              />
              <div class="trace-band" style={{ height: `${height}px` }}>
                <Tables state={state} height={height} />
                {below}
              </div>
            </>
          ) : null}
        </div>
        {below ? null : panel}
      </div>
      {dialog === "help" ? <HelpDialog onClose={() => setDialog(null)} /> : null}
      {dialog === "about" && about ? (
        <Dialog title="About this trace" onClose={() => setDialog(null)}>
          <TraceFacts payload={about} />
        </Dialog>
      ) : null}
      {view.params.part !== undefined && about ? (
        <ExportDialog
          view={view}
          payload={about}
          seen={seenWindow(state.visible?.view ?? span, recording, recording.timeline.span_ns)}
          onClose={() => set({ part: null, from: null, to: null })}
        />
      ) : null}
    </div>
  );
}

interface ToolsProps extends Pick<PageProps, "about" | "workers"> {
  state: TraceState;
  onAbout: () => void;
  onHelp: () => void;
}

function Tools({ state, about, workers, onAbout, onHelp }: ToolsProps) {
  return (
    <div class="trace-tools" role="group" aria-label="Timeline">
      <FoundBar state={state} />
      <StepJump state={state} />
      <div class="trace-tools-end">
        {workers}
        <RowMenu state={state} />
        <ColourMenu state={state} />
        <ArrowMenu state={state} />
        <PathToggle state={state} />
        <MarkMenu state={state} />
        <Panels state={state} />
        <Button
          kind="quiet"
          icon="download"
          disabled={about === null}
          onClick={() => state.set({ part: "seen" })}
        >
          Export
        </Button>
        <Button
          kind="quiet"
          icon="info"
          label="About this trace"
          disabled={about === null}
          onClick={onAbout}
        />
        <Button kind="quiet" icon="help" label="Keys and gestures (?)" onClick={onHelp} />
      </div>
    </div>
  );
}

function PathToggle({ state }: { state: TraceState }) {
  const on = state.view.params.path === "1";
  return (
    <>
      <Button
        kind="quiet"
        icon="path"
        label="Critical path (C)"
        pressed={on}
        onClick={() => togglePath(state)}
      >
        Path
      </Button>
      <span class="muted" role="status">
        {on ? state.path.message : ""}
      </span>
    </>
  );
}

function Panels({ state: { view, area, choice, set } }: { state: TraceState }) {
  const table = readTable(view.params.table) !== null;
  const details = view.params.details !== "0";
  return (
    <>
      <Button
        kind="quiet"
        icon="table"
        label="Events in view as a table"
        pressed={table}
        onClick={() => set({ table: table ? null : area ? "area" : "view" })}
      >
        Table
      </Button>
      {choice.selected ? (
        <Button
          kind="quiet"
          icon="columns"
          label="Details of the selected event"
          pressed={details}
          onClick={() => set({ details: details ? "0" : null })}
        />
      ) : null}
    </>
  );
}

/** Zooms to the steps when others are chosen; to everything when all are chosen again. */
function useFollowedSteps({ handle, view: { steps }, recording, span }: TraceState): void {
  const before = useRef(steps);
  useEffect(() => {
    const last = before.current;
    before.current = steps;
    if (last.first === steps.first && last.last === steps.last) return;
    const range = steps.first === null ? span : viewOfSteps(steps, recording);
    if (range) handle.current?.zoomTo(range);
  }, [steps]); // eslint-disable-line react-hooks/exhaustive-deps
}

/** What is in sight of the first recording stays so when the axis becomes another one. */
function useKeptView({ handle, recordings: [now] }: TraceState): void {
  const last = useRef(now);
  useEffect(() => {
    const before = last.current;
    last.current = now;
    if (!before || !now || !before.line === !now.line || !handle.current) return;
    const { t0, t1 } = handle.current.view();
    const moved = (time: number): number => onAxis(now, ownAt(before, time));
    handle.current.zoomTo({ t0: moved(t0), t1: moved(t1) }, { animate: false, margin: 0 });
  }, [now, handle]);
}

type Lines = readonly { keys: readonly string[]; text: string }[];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys and gestures" onClose={onClose}>
      <div class="keys">
        <Keys title="Keys" lines={KEYS} />
        <Keys title="Mouse, trackpad, fingers" lines={GESTURES} />
      </div>
      <p class="muted">
        Collapse, pin and move tracks by their names. The address bar holds the whole view: copy it
        to share what you see. “Table” lists the events in view with their figures.
      </p>
    </Dialog>
  );
}

function Keys({ title, lines }: { title: string; lines: Lines }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
