/** Pure parts of the Diagnosis page. */

import type { ComponentChildren } from "preact";
import type { ClusterItem, DiagnosisPayload, FilesTable, FileState } from "../../api/types.gen";
import { recordInto } from "../../base/record";
import { formatBytes, formatCount } from "../../base/units";
import { CodeBlock, type Column, CopyButton, EmptyState, Icon, Term } from "../../widgets";
import { declaredColumns } from "../columns";
import { fact } from "../fact";
import { Notes } from "../loaded";
import type { RowOf } from "../rows";
import { countStates, isTrace, STATES } from "./model";

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
      <Notes notes={payload.notes} />
    </div>
  );
}

/** All traces, or the files of one state, as buttons with their numbers. */
export function StateFilter({
  files,
  state,
  onState,
}: {
  files: FilesTable;
  state: FileState | null;
  onState: (s: FileState | null) => void;
}) {
  const traces = [...files.path.keys()].filter((row) => isTrace(files, row)).length;
  const entry = (value: FileState | null, word: string, count: number, meaning: string) => (
    <button
      key={word}
      type="button"
      class={`state-chip${value ? ` state-${value}` : ""}`}
      aria-pressed={state === value}
      title={meaning}
      onClick={() => onState(value)}
    >
      {value ? <Icon name={STATES[value].icon} size={14} /> : null}
      {word} <span class="number">{formatCount(count)}</span>
    </button>
  );
  return (
    <div class="wrap" role="group" aria-label="Show files by state">
      {entry(null, "Traces", traces, "All files found but those that are no traces.")}
      {countStates(files).map(({ state: value, count }) =>
        entry(value, STATES[value].word, count, STATES[value].meaning),
      )}
    </div>
  );
}

/** The table's columns for the chosen files. */
export function fileColumns(files: FilesTable): Column[] {
  const states = files.state.map((state) => STATES[state as FileState]);
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
      <p>{file.reason || STATES[file.state as FileState].meaning}</p>
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

/** Only what is certain to be a page: the scheduler could send anything. */
function pageOf(url: string | null): string | null {
  return url !== null && /^https?:\/\//.test(url) ? url : null;
}

const row = (id: string, label: string, value: ComponentChildren) =>
  fact(<Term id={id}>{label}</Term>, value);

/** The Dask cluster that imports and analyses, as the server sees it. */
export function Cluster({ cluster }: { cluster: ClusterItem }) {
  const page = pageOf(cluster.dashboard);
  const failed = cluster.failed ? `, ${formatCount(cluster.failed)} failed` : "";
  const others = cluster.others ? ` (${formatCount(cluster.others)} with another version)` : "";
  return (
    <dl class="facts">
      {row(
        "cluster_scheduler",
        "Scheduler",
        <>
          <code class="path">{cluster.address}</code>
          {cluster.connected ? null : " (not reachable)"}
          {page ? (
            <>
              {" "}
              <a href={page} target="_blank" rel="noopener noreferrer">
                Dask dashboard
              </a>
            </>
          ) : null}
        </>,
      )}
      {row("cluster_workers", "Workers", `${formatCount(cluster.workers)}${others}`)}
      {row("cluster_threads", "Threads", formatCount(cluster.threads))}
      {row("cluster_memory", "Memory", formatBytes(cluster.memory))}
      {row(
        "cluster_tasks",
        "Tasks",
        `${formatCount(cluster.waiting)} waiting, ${formatCount(cluster.running)} running, ${formatCount(cluster.done)} done${failed}`,
      )}
    </dl>
  );
}
