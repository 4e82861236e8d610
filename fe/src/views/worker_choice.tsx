/** The worker of the page: a plain list of few, a dialog with search and coordinates for many. */

import { useState } from "preact/hooks";
import type { WorkerItem } from "../api/types.gen";
import { useId } from "../base/id";
import type { Selection } from "../state/view";
import { Dialog, Icon, Select } from "../widgets";
import { workerLabel, workerOptions } from "./run_options";
import { Picker } from "./ranks/picker";

/** So many can be looked through in a list. */
const FEW = 8;

interface WorkerChoiceProps {
  label: string;
  workers: readonly WorkerItem[];
  selection: Selection;
  onChoose: (worker: string) => void;
}

export function WorkerChoice({ label, workers, selection, onChoose }: WorkerChoiceProps) {
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
