import { useState } from "preact/hooks";
import type { RunItem, RunsPayload, WorkerItem } from "../api/types.gen";
import { useId } from "../base/id";
import { formatCount } from "../base/units";
import { differing } from "../base/words";
import { find } from "../state/runs";
import type { Selection } from "../state/view";
import { Button, Dialog, Icon, Menu, Select, TextInput } from "../widgets";
import { runNote, spanOptions, workerLabel, workerOptions } from "./run_options";
import { Picker } from "./ranks/picker";

interface TraceSelectsProps {
  payload: RunsPayload | null;
  selection: Selection;
  /** Only the chosen name and those above it are filled in. */
  onSelect: (selection: Selection) => void;
  /** Stands behind each label where a page has two traces. */
  suffix?: string;
  /** The run of the other trace: what tells this one from it is in sight. */
  beside?: string | undefined;
  showLabels?: boolean;
  /** The choice of all ranks of the job, where there is one. */
  all?: AllRanksChoice | null;
}

export interface AllRanksChoice {
  count: number;
  chosen: boolean;
  onChoose: () => void;
}

export const allRanksLabel = (count: number): string => `All ${formatCount(count)} ranks`;

const NO_RUNS: readonly RunItem[] = [];

/** A select each. Workers and spans that leave no choice are not asked for. */
export function TraceSelects(props: TraceSelectsProps) {
  const {
    payload,
    selection,
    onSelect,
    suffix = "",
    beside,
    showLabels = true,
    all = null,
  } = props;
  const { run, worker } = find(payload, selection);
  const workers = run?.workers ?? [];
  const spans = worker?.spans ?? [];
  return (
    <>
      <RunChoice
        label={`Run${suffix}`}
        showLabel={showLabels}
        runs={payload?.runs ?? NO_RUNS}
        run={selection.run}
        beside={beside}
        onChoose={(name) =>
          onSelect({ run: name, worker: sameWorker(payload, name, selection.worker), span: "" })
        }
      />
      {workers.length > 1 || (run && !worker) ? (
        <WorkerChoice
          label={`Worker${suffix}`}
          showLabel={showLabels}
          workers={workers}
          selection={selection}
          all={all}
          onChoose={(name) => onSelect({ ...selection, worker: name, span: "" })}
        />
      ) : null}
      {spans.length > 1 ? (
        <Select
          label={`Span${suffix}`}
          showLabel={showLabels}
          value={selection.span}
          options={spanOptions(spans)}
          onChange={(name) => onSelect({ ...selection, span: name })}
        />
      ) : null}
    </>
  );
}

interface RunChoiceProps {
  label: string;
  showLabel: boolean;
  runs: readonly RunItem[];
  run: string;
  beside?: string | undefined;
  onChoose: (run: string) => void;
}

/** The run, and of each what it is. */
function RunChoice({ label, showLabel, run, beside, ...props }: RunChoiceProps) {
  const { runs, onChoose } = props;
  const found = runs.some(({ name }) => name === run);
  return (
    <div class="field">
      {showLabel ? <span class="field-label">{label}</span> : null}
      <Menu
        label={label}
        text={
          found
            ? differing(run, beside ?? run)
            : run
              ? `${run} (not found)`
              : runs.length
                ? "choose …"
                : "none found"
        }
        class="pick"
      >
        {(close) => (
          <RunList
            {...{ runs, run }}
            onChoose={(name) => {
              close();
              onChoose(name);
            }}
          />
        )}
      </Menu>
    </div>
  );
}

/** More are searched. */
const LISTED = 10;

function RunList({ runs, run, onChoose }: Pick<RunChoiceProps, "runs" | "run" | "onChoose">) {
  const [text, setText] = useState("");
  const many = runs.length > LISTED;
  const found = runs.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <>
      {many ? (
        <TextInput
          type="search"
          focused
          value={text}
          placeholder="Find a run"
          aria-label="Find a run"
          onInput={setText}
        />
      ) : null}
      {found.map((one) => (
        <button
          key={one.name}
          type="button"
          class="menu-item"
          aria-pressed={one.name === run}
          onClick={() => onChoose(one.name)}
        >
          {one.name} <small>{runNote(one)}</small>
        </button>
      ))}
      {found.length ? null : <p class="menu-note">No run is called so.</p>}
    </>
  );
}

/** The worker of the same name in another run, so that comparing the same rank takes one choice. */
function sameWorker(payload: RunsPayload | null, run: string, worker: string): string {
  return payload?.runs
    .find((item) => item.name === run)
    ?.workers.some((item) => item.name === worker)
    ? worker
    : "";
}

/** So many can be looked through in a list. */
const FEW = 8;

interface WorkerChoiceProps {
  label: string;
  showLabel: boolean;
  workers: readonly WorkerItem[];
  selection: Selection;
  all: AllRanksChoice | null;
  onChoose: (worker: string) => void;
}

/** The worker of the page: a plain list of few, a dialog with search and coordinates for many. */
function WorkerChoice(props: WorkerChoiceProps) {
  const { label, showLabel, workers, selection, all, onChoose } = props;
  const [open, setOpen] = useState(false);
  const id = useId("worker");
  const allLabel = all ? allRanksLabel(all.count) : "";
  if (workers.length <= FEW)
    return (
      <Select
        label={label}
        showLabel={showLabel}
        value={all?.chosen ? "" : selection.worker}
        options={[...(all ? [{ value: "", label: allLabel }] : []), ...workerOptions(workers)]}
        onChange={(name) => (name ? onChoose(name) : all?.onChoose())}
      />
    );
  const chosen = workers.find(({ name }) => name === selection.worker);
  const text = chosen ? workerLabel(chosen) : `${selection.worker} (not found)`;
  return (
    <div class="field">
      <span class={showLabel ? "field-label" : "visually-hidden"} id={id}>
        {label}
      </span>
      <button
        type="button"
        class="button worker-choice"
        id={`${id}-button`}
        aria-labelledby={`${id} ${id}-button`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {all?.chosen ? allLabel : text}
        <Icon name="down" size={12} />
      </button>
      {open ? (
        <Dialog title="Choose a worker" onClose={() => setOpen(false)}>
          {all ? (
            <Button
              pressed={all.chosen}
              onClick={() => {
                setOpen(false);
                all.onChoose();
              }}
            >
              {allLabel}
            </Button>
          ) : null}
          <Picker
            workers={workers}
            selection={selection}
            onChoose={(name) => {
              setOpen(false);
              onChoose(name);
            }}
          />
        </Dialog>
      ) : null}
    </div>
  );
}
