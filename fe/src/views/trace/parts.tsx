/** Pure parts of the Trace page. */

import type { TracePayload } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatBytes, formatCount, formatTime } from "../../base/units";
import type { TimeRange } from "../../timeline/types";
import { Button, Icon, Segmented, Term, TextInput } from "../../widgets";
import type { Progress as Received } from "./bytes";
import { fact, timeFact } from "../fact";
import { wallClock, type PartMode } from "./model";
import { perfettoOrigin, type HandoverState } from "./perfetto";
import { countOfSteps, type Step } from "../rows";

export function TraceFacts({ payload }: { payload: TracePayload }) {
  return (
    <dl class="facts">
      {fact("File", <code>{payload.file}</code>)}
      {fact("Size", formatBytes(payload.bytes), `${formatCount(payload.bytes)} bytes`)}
      {fact(<Term id="events">Events</Term>, formatCount(payload.events))}
      {timeFact(<Term id="span_time">Length</Term>, payload.span_ns)}
      {fact(<Term id="step">Steps</Term>, formatCount(countOfSteps(payload.steps)))}
      {fact("Begins", wallClock(payload.origin_ns))}
    </dl>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  placeholder: string;
  bad: boolean;
  onChange: (text: string) => void;
}

function TextField({ label, value, placeholder, bad, onChange }: TextFieldProps) {
  const id = useId("time");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <TextInput
        {...{ id, value, placeholder }}
        class="time-input"
        aria-invalid={bad ? true : undefined}
        onCommit={onChange}
      />
    </div>
  );
}

export interface PartPickerProps {
  mode: PartMode;
  onMode: (mode: PartMode) => void;
  steps: readonly Step[];
  from: string;
  to: string;
  onFrom: (text: string) => void;
  onTo: (text: string) => void;
  spanNs: number;
  /** The chosen part; `null`: see `problem`, or the whole when there is none. */
  window: TimeRange | null;
  problem: string;
}

export function PartPicker(props: PartPickerProps) {
  const { mode, steps, from, to, onFrom, onTo, spanNs, problem } = props;
  return (
    <div class="part-picker">
      <div class="wrap">
        <Segmented
          label="Part"
          value={mode}
          onChange={props.onMode}
          options={[
            { value: "seen", label: "Visible range" },
            { value: "whole", label: "Whole trace" },
            { value: "steps", label: "Chosen steps", disabled: steps.length === 0 },
            { value: "window", label: "Time range" },
          ]}
        />
        {mode === "window" ? (
          <>
            <TextField
              label="From"
              value={from}
              placeholder="0 ms"
              bad={problem !== ""}
              onChange={onFrom}
            />
            <TextField
              label="To"
              value={to}
              placeholder={formatTime(spanNs)}
              bad={problem !== ""}
              onChange={onTo}
            />
          </>
        ) : null}
      </div>
      <PartSummary {...props} />
    </div>
  );
}

function PartSummary({ mode, window, problem, spanNs }: PartPickerProps) {
  if (problem) {
    return (
      <p class="part-summary part-problem" role="alert">
        {problem}
      </p>
    );
  }
  if (mode === "whole" || !window)
    return (
      <p class="part-summary">All {formatTime(spanNs)} of the trace, exactly as it was recorded.</p>
    );
  return (
    <p class="part-summary">
      {formatTime(window.t1 - window.t0)}, from {formatTime(window.t0)} to {formatTime(window.t1)}{" "}
      after the first event.
    </p>
  );
}

export interface HandoverStatus {
  state: HandoverState | "idle";
  reason: string;
  progress: Received | null;
}

export const IDLE: HandoverStatus = { state: "idle", reason: "", progress: null };

const SAID: Readonly<Record<Exclude<HandoverState, "opening">, string>> = {
  handed: "The trace is open in Perfetto. Switch to its window.",
  blocked: "The browser blocked the new window. Allow pop-ups for this page and try again.",
  no_answer:
    "Perfetto did not answer. Is its address reachable from this computer? Download the file instead and drop it onto Perfetto.",
  closed: "The window was closed before Perfetto received the trace.",
  failed: "The trace could not be fetched.",
  cancelled: "Cancelled.",
};

export function Handover({ status, onCancel }: { status: HandoverStatus; onCancel: () => void }) {
  const { state, reason, progress } = status;
  if (state === "opening") {
    const detail = progress
      ? `${formatBytes(progress.received)}${progress.total ? ` of ${formatBytes(progress.total)}` : ""}`
      : "waiting for the first byte";
    return (
      <div class="handover" role="status">
        <p>Sending the trace to Perfetto: {detail}</p>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    );
  }
  const good = state === "handed";
  return (
    <div class={good ? "handover handover-good" : "handover"} role="status">
      {state === "idle" ? null : (
        <p>
          <Icon name={good ? "check" : "warn"} /> {SAID[state]} {reason}
        </p>
      )}
    </div>
  );
}

interface OpenPanelProps {
  perfettoUrl: string;
  fileHref: string | null;
  whole: boolean;
  status: HandoverStatus;
  onOpen: () => void;
  onCancel: () => void;
}

export function OpenPanel({
  perfettoUrl,
  fileHref,
  whole,
  status,
  onOpen,
  onCancel,
}: OpenPanelProps) {
  const host = hostOf(perfettoUrl);
  return (
    <div class="open-panel">
      <div class="wrap">
        <Button
          kind="primary"
          icon="external"
          disabled={fileHref === null || host === null || status.state === "opening"}
          onClick={onOpen}
        >
          Open in Perfetto
        </Button>
        {fileHref === null ? null : (
          <a class="button button-plain" href={fileHref} download>
            <Icon name="download" />
            {whole ? "Download the file" : "Download this part"}
          </a>
        )}
        <Handover status={status} onCancel={onCancel} />
      </div>
      <p class="open-note">
        {host === null ? (
          "The configured Perfetto address is not a web address."
        ) : (
          <>
            Perfetto is another site (<code>{host}</code>), opened in a new window. The trace goes
            from this page to that window inside your browser; it is not uploaded.
          </>
        )}
      </p>
    </div>
  );
}

function hostOf(url: string): string | null {
  try {
    return new URL(perfettoOrigin(url)).host;
  } catch {
    return null;
  }
}
