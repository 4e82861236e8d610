import { useState } from "preact/hooks";
import type { RunsPayload, WorkerItem } from "../api/types.gen";
import { useId } from "../base/id";
import { find } from "../state/runs";
import type { Selection } from "../state/view";
import { Dialog, Icon, type Option, Select } from "../widgets";
import { runOptions, spanOptions, workerLabel, workerOptions } from "./run_options";
import { Picker } from "./ranks/picker";

interface TraceSelectsProps {
  payload: RunsPayload | null;
  selection: Selection;
  /** Only the chosen name and those above it are filled in. */
  onSelect: (selection: Selection) => void;
  /** Stands behind each label where a page has two traces. */
  suffix?: string;
}

/** An empty box would not say why it is empty. */
const NO_RUN = { value: "", label: "none found" };

/** A select each. Workers and spans that leave no choice are not asked for. */
export function TraceSelects({ payload, selection, onSelect, suffix = "" }: TraceSelectsProps) {
  const { run, worker } = find(payload, selection);
  const workers = run?.workers ?? [];
  const spans = worker?.spans ?? [];
  return (
    <>
      <Select
        label={`Run${suffix}`}
        value={selection.run}
        options={runChoices(payload, selection.run)}
        disabled={!payload?.runs.length && !selection.run}
        onChange={(name) =>
          onSelect({ run: name, worker: sameWorker(payload, name, selection.worker), span: "" })
        }
      />
      {workers.length > 0 ? (
        <WorkerChoice
          label={`Worker${suffix}`}
          workers={workers}
          selection={selection}
          onChoose={(name) => onSelect({ ...selection, worker: name, span: "" })}
        />
      ) : null}
      {spans.length > 1 ? (
        <Select
          label={`Span${suffix}`}
          value={selection.span}
          options={spanOptions(spans)}
          onChange={(name) => onSelect({ ...selection, span: name })}
        />
      ) : null}
    </>
  );
}

function runChoices(payload: RunsPayload | null, run: string): readonly Option[] {
  if (!payload?.runs.length) return run ? [] : [NO_RUN];
  return [...(run ? [] : [{ value: "", label: "choose …" }]), ...runOptions(payload.runs)];
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
  workers: readonly WorkerItem[];
  selection: Selection;
  onChoose: (worker: string) => void;
}

/** The worker of the page: a plain list of few, a dialog with search and coordinates for many. */
function WorkerChoice({ label, workers, selection, onChoose }: WorkerChoiceProps) {
  const [open, setOpen] = useState(false);
  const id = useId("worker");
  if (workers.length <= FEW)
    return (
      <Select
        label={label}
        value={selection.worker}
        options={workerOptions(workers)}
        onChange={onChoose}
      />
    );
  const chosen = workers.find(({ name }) => name === selection.worker);
  return (
    <div class="field">
      <span class="field-label" id={id}>
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
        {chosen ? workerLabel(chosen) : `${selection.worker} (not found)`}
        <Icon name="down" size={12} />
      </button>
      {open ? (
        <Dialog title="Choose a worker" onClose={() => setOpen(false)}>
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
