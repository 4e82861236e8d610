/** Pure parts of the Diagnosis page. */

import type { DiagnosisPayload, FilesTable, FileState } from "../../api/types.gen";
import { recordInto } from "../../base/record";
import { formatCount } from "../../base/units";
import { CodeBlock, CopyButton, EmptyState, Icon, type Column, type IconName } from "../../widgets";
import { declaredColumns } from "../columns";
import type { RowOf } from "../rows";
import { countStates } from "./model";

/** What each state means, in a word and in a sentence. */
export const STATE_TEXT: Readonly<Record<FileState, { word: string; meaning: string }>> = {
  failed: { word: "Failed", meaning: "A trace that could not be imported." },
  rejected: { word: "Rejected", meaning: "Not a readable trace." },
  growing: { word: "Still being written", meaning: "Imported once it stops growing." },
  waiting: {
    word: "Waiting",
    meaning: "Imported in its turn, or when opened.",
  },
  importing: { word: "Importing", meaning: "Being read now." },
  ready: { word: "Ready", meaning: "OK" },
};

const STATE_ICONS: Readonly<Record<FileState, IconName>> = {
  failed: "error",
  rejected: "close",
  growing: "reload",
  waiting: "info",
  importing: "reload",
  ready: "check",
};

export function Places({ payload }: { payload: DiagnosisPayload }) {
  return (
    <div class="places">
      {payload.logdirs.length ? (
        <ul>
          {payload.logdirs.map((dir) => (
            <li key={dir}>
              <code class="path">{dir}</code>
            </li>
          ))}
        </ul>
      ) : (
        <p>No log directory was given to TensorBoard.</p>
      )}
      {payload.notes.length ? (
        <ul class="notes">
          {payload.notes.map((note) => (
            <li key={note}>
              <Icon name="info" /> {note}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

/** All files, or those of one state, as buttons with their numbers. */
export function StateFilter({
  files,
  state,
  onState,
}: {
  files: FilesTable;
  state: FileState | null;
  onState: (s: FileState | null) => void;
}) {
  const entry = (value: FileState | null, word: string, count: number, meaning: string) => (
    <button
      key={word}
      type="button"
      class={`state-chip${value ? ` state-${value}` : ""}`}
      aria-pressed={state === value}
      title={meaning}
      onClick={() => onState(value)}
    >
      {value ? <Icon name={STATE_ICONS[value]} size={14} /> : null}
      {word} <span class="number">{formatCount(count)}</span>
    </button>
  );
  return (
    <div class="state-filter" role="group" aria-label="Show files by state">
      {entry(null, "All", files.path.length, "All files found.")}
      {countStates(files).map((x) =>
        entry(x.state, STATE_TEXT[x.state].word, x.count, STATE_TEXT[x.state].meaning),
      )}
    </div>
  );
}

/** The table's columns for the chosen files. */
export function fileColumns(files: FilesTable): Column[] {
  const states = files.state.map((state) => STATE_TEXT[state as FileState]);
  return declaredColumns("files", files, {
    state: { values: states.map(({ word }) => word) },
    reason: {
      values: files.reason.map((why, row) => why || (states[row]?.meaning ?? "")),
      grow: true,
    },
  });
}

/** A reason at full length, below the row of its file. */
export function FileDetail({ file }: { file: RowOf<FilesTable> }) {
  return (
    <div class="file-detail">
      <p>{file.reason || STATE_TEXT[file.state as FileState].meaning}</p>
      <CopyButton text={`${file.path}: ${file.reason}`} label="Copy the path and the reason" />
    </div>
  );
}

export function HowToRecord({ found }: { found: boolean }) {
  if (!found) {
    return (
      <EmptyState
        title="No file was found"
        text="Every directory below the log directory is searched for traces, memory snapshots and profiler databases. To record one (start TensorBoard with --logdir=./log):"
        code={recordInto("./log")}
      />
    );
  }
  return (
    <details class="missing">
      <summary>
        <strong>Your trace is not listed?</strong>{" "}
        <span class="missing-how">How to record one</span>
      </summary>
      <p>This records a trace that appears here (start TensorBoard with --logdir=./log):</p>
      <CodeBlock code={recordInto("./log")} label="Copy the example" />
    </details>
  );
}
