/** What stands behind ⋯: what is seldom needed, and what concerns the page itself. */

import { useLayoutEffect, useState } from "preact/hooks";
import type { RunsPayload } from "../api/types.gen";
import { recordInto } from "../base/record";
import { followTheme, storedChoice, type ThemeChoice } from "../base/theme";
import type { Selection, ViewId } from "../state/view";
import { CodeBlock, Dialog, Menu, Segmented } from "../widgets";
import { MORE } from "./registry";

interface MoreProps {
  payload: RunsPayload | null;
  selection: Selection;
  hrefOf: (view: ViewId) => string;
  /** Whether one of its sections is shown. */
  lit: boolean;
}

const DIALOGS = { report: "Save a report", record: "Record a trace", keys: "Keys and definitions" };
type DialogId = keyof typeof DIALOGS;

export function More({ payload, selection, hrefOf, lit }: MoreProps) {
  const [theme, setTheme] = useState<ThemeChoice>(storedChoice);
  const [dialog, setDialog] = useState<DialogId | null>(null);
  useLayoutEffect(() => followTheme(theme), [theme]);
  return (
    <>
      <Menu label="More" icon="more" text="" class={lit ? "button-quiet more-lit" : "button-quiet"}>
        {(close) => (
          <>
            {MORE.sections.map(({ id, label }) => (
              <a key={id} class="menu-item" href={hrefOf(id)} onClick={close}>
                {label} {id === "diagnosis" ? <small>{filesText(payload)}</small> : null}
              </a>
            ))}
            {(Object.keys(DIALOGS) as DialogId[]).map((id) => (
              <button
                key={id}
                type="button"
                class="menu-item"
                onClick={() => {
                  close();
                  setDialog(id);
                }}
              >
                {DIALOGS[id]}
              </button>
            ))}
            <Segmented<ThemeChoice>
              label="Theme"
              value={theme}
              options={[
                { value: "system", label: "As TensorBoard" },
                { value: "light", label: "Light" },
                { value: "dark", label: "Dark" },
              ]}
              onChange={setTheme}
            />
          </>
        )}
      </Menu>
      {dialog ? (
        <Dialog title={DIALOGS[dialog]} onClose={() => setDialog(null)}>
          {dialog === "keys" ? <Keys /> : <HowTo {...{ dialog, payload, selection }} />}
        </Dialog>
      ) : null}
    </>
  );
}

/** "8 read, 1 failed". */
function filesText(payload: RunsPayload | null): string {
  const states = payload?.runs.flatMap(({ workers }) =>
    workers.flatMap(({ spans }) => spans.map(({ state }) => state)),
  );
  const count = (state: string) => states?.filter((one) => one === state).length ?? 0;
  return `${count("ready")} read, ${count("failed")} failed`;
}

function HowTo(props: Pick<MoreProps, "payload" | "selection"> & { dialog: "report" | "record" }) {
  const { dialog, payload, selection } = props;
  const folder = payload?.logdirs[0] ?? "./log";
  const path = [folder.replace(/\/$/, ""), selection.run].filter(Boolean).join("/");
  return dialog === "record" ? (
    <>
      <p>Put this around the training loop; the page shows the trace as soon as it is written.</p>
      <CodeBlock code={recordInto(folder)} />
    </>
  ) : (
    <>
      <p>This writes the page with the figures of this run into one file that needs no server.</p>
      <CodeBlock code={`torch-tb-profiler report ${JSON.stringify(path)} -o report.html`} />
    </>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ["/ or Ctrl K", "ask: find any name, place or word of the recording, or filter this page by it"],
  ["Tab", "next control"],
  ["← ↑ → ↓", "move in a table or a chart"],
  ["Page Up, Page Down, Home, End", "move further; with Ctrl to the first or last row"],
  ["Enter", "open a row, follow a link, choose a step"],
  ["Shift ← →", "choose several steps"],
  ["Ctrl C", "copy the cell"],
  ["Esc", "close, clear"],
];

function Keys() {
  return (
    <div class="help">
      <p>
        Labels with a dotted underline show their definition on hover and focus. The address bar
        holds every choice on this page: copy it to share the view.
      </p>
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
