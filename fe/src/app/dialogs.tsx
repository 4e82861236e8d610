/** What the page says of itself: its keys, and how to record a trace and save a report. */

import type { RunsPayload } from "../api/types.gen";
import { recordInto } from "../base/record";
import { pathOfRun } from "../state/runs";
import type { Selection } from "../state/view";
import { CodeBlock, Dialog } from "../widgets";

export type DialogId = "keys" | "record" | "report";

interface DialogProps {
  dialog: DialogId;
  title: string;
  payload: RunsPayload | null;
  selection: Selection;
  onClose: () => void;
}

export function PageDialog({ title, onClose, ...props }: DialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {props.dialog === "keys" ? <Keys /> : <HowTo {...props} />}
    </Dialog>
  );
}

function HowTo({
  dialog,
  payload,
  selection,
}: Pick<DialogProps, "dialog" | "payload" | "selection">) {
  return dialog === "record" ? (
    <>
      <p>Put this around the training loop; the page shows the trace as soon as it is written.</p>
      <CodeBlock code={recordInto(payload?.logdirs[0] ?? "./log")} />
    </>
  ) : (
    <>
      <p>This writes the page with the figures of this run into one file that needs no server.</p>
      <CodeBlock
        code={`torch-tb-profiler report ${pathOfRun(payload, selection.run)} -o report.html`}
      />
    </>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ["/ or Ctrl K", "ask: find any name, place or word of the recording, or filter this page by it"],
  ["?", "show these keys"],
  ["Tab", "next control"],
  ["← ↑ → ↓", "move in a table or a chart"],
  ["Page Up, Page Down, Home, End", "move further"],
  ["Enter", "open a row, follow a link, choose a step"],
  ["Shift ← →", "choose several steps"],
  ["Ctrl C", "copy the cell"],
  ["Esc", "close"],
];

function Keys() {
  return (
    <div class="help">
      <p>Labels with a dotted underline show their definition on hover and focus.</p>
      <dl>
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
