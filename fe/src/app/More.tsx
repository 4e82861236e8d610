/** What stands behind ⋯: what is seldom needed, and what concerns the page itself. */

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { RunsPayload } from "../api/types.gen";
import { followTheme, storedChoice, type ThemeChoice } from "../base/theme";
import type { Selection, ViewId } from "../state/view";
import { Menu, Segmented } from "../widgets";
import { isTyping } from "./AskField";
import type { DialogId } from "./dialogs";
import { later } from "./lazy_component";
import { MORE } from "./registry";

interface MoreProps {
  payload: RunsPayload | null;
  selection: Selection;
  hrefOf: (view: ViewId) => string;
  /** Whether one of its sections is shown. */
  lit: boolean;
  /** Whether what is shown tells its keys itself. */
  ownKeys: boolean;
}

const DIALOGS: Record<DialogId, string> = {
  report: "Save a report",
  record: "Record a trace",
  keys: "Keys and definitions",
};

const PageDialog = later("PageDialog");

export function More({ payload, selection, hrefOf, lit, ownKeys }: MoreProps) {
  const [theme, setTheme] = useState<ThemeChoice>(storedChoice);
  const [dialog, setDialog] = useState<DialogId | null>(null);
  useLayoutEffect(() => followTheme(theme), [theme]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "?" && !ownKeys && !isTyping(event)) setDialog("keys");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [ownKeys]);
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
        <PageDialog
          {...{ dialog, payload, selection }}
          title={DIALOGS[dialog]}
          onClose={() => setDialog(null)}
        />
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
