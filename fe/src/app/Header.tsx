/** The two lines at the top: which trace and which of its steps, and which view. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunsPayload } from "../api/types.gen";
import { definitionOf } from "../base/definitions";
import { followTheme, storedChoice, type ThemeChoice } from "../base/theme";
import { useResource } from "../state/resource";
import { find, runsStore } from "../state/runs";
import { useStore } from "../state/store";
import type { Selection, StepRange, ViewId } from "../state/view";
import { Badge, Button, Menu, StepSelector, Tooltip } from "../widgets";
import { TraceSelects } from "../views/trace_selects";
import { VIEWS, type View } from "./registry";
import { rowsOf } from "../views/rows";

interface HeaderProps {
  payload: RunsPayload | null;
  selection: Selection;
  view: View;
  steps: StepRange;
  onSelect: (selection: Selection) => void;
  onSteps: (steps: StepRange) => void;
  hrefOf: (view: ViewId) => string;
}

export function Header({
  payload,
  selection,
  view,
  steps,
  onSelect,
  onSteps,
  hrefOf,
}: HeaderProps): JSX.Element {
  return (
    <header class="top">
      <div class="top-line">
        <TraceChoice payload={payload} selection={selection} onSelect={onSelect}>
          {view.usesSteps && find(payload, selection).span ? (
            <Steps selection={selection} steps={steps} onSteps={onSteps} />
          ) : null}
        </TraceChoice>
        <div class="top-end">
          <Help />
          <ThemeButton />
        </div>
      </div>
      <nav class="top-line" aria-label="Views">
        <ul class="tabs">
          {VIEWS.map(({ id, label, term }) => (
            <li key={id}>
              <Tooltip content={definitionOf(term)?.text} focusable={false}>
                <a class="tab" href={hrefOf(id)} aria-current={id === view.id ? "page" : undefined}>
                  {label}
                </a>
              </Tooltip>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

interface TraceChoiceProps {
  payload: RunsPayload | null;
  selection: Selection;
  onSelect: (selection: Selection) => void;
  children: ComponentChildren;
}

function TraceChoice({ payload, selection, onSelect, children }: TraceChoiceProps): JSX.Element {
  return (
    <div class="trace-choice">
      <TraceSelects payload={payload} selection={selection} onSelect={onSelect} />
      {find(payload, selection).run?.synthetic ? (
        <Tooltip content="A program made this trace up; it was not recorded on real hardware.">
          <Badge tone="info">synthetic</Badge>
        </Tooltip>
      ) : null}
      {children}
      {payload?.scanning ? <span class="scanning">looking for traces …</span> : null}
    </div>
  );
}

function Steps({
  selection,
  steps,
  onSteps,
}: {
  selection: Selection;
  steps: StepRange;
  onSteps: (steps: StepRange) => void;
}): JSX.Element | null {
  const failed = useStore(
    runsStore,
    (runs) => find(runs.payload, selection).span?.state === "failed",
  );
  const { data } = useResource(failed ? null : "steps", {
    run: selection.run,
    worker: selection.worker,
    span: selection.span,
  });
  // One step leaves nothing to choose, unless the link names steps that are not there.
  if (
    !data?.steps.step.length ||
    (data.steps.step.length === 1 && steps.first === null && !steps.skipCold)
  )
    return null;
  return <StepSelector steps={rowsOf(data.steps)} value={steps} onChange={onSteps} />;
}

const THEMES: Readonly<
  Record<ThemeChoice, { next: ThemeChoice; icon: "sun" | "moon" | "system"; label: string }>
> = {
  system: { next: "light", icon: "system", label: "Theme: like the surroundings. Press for light" },
  light: { next: "dark", icon: "sun", label: "Theme: light. Press for dark" },
  dark: { next: "system", icon: "moon", label: "Theme: dark. Press to follow the surroundings" },
};

function ThemeButton(): JSX.Element {
  const [choice, setChoice] = useState<ThemeChoice>(storedChoice);
  const control = useRef<ReturnType<typeof followTheme>>(undefined);
  useEffect(() => {
    const followed = followTheme((_, chosen) => setChoice(chosen));
    control.current = followed;
    return followed.end;
  }, []);
  const { next, icon, label } = THEMES[choice];
  return (
    <Button kind="quiet" icon={icon} label={label} onClick={() => control.current?.choose(next)} />
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Tab", "next control"],
  ["← ↑ → ↓", "move in a table or a chart"],
  ["Page Up, Page Down, Home, End", "move further; with Ctrl to the first or last row"],
  ["Enter", "open a row, follow a link, choose a step"],
  ["Ctrl C", "copy the cell"],
  ["Esc", "close, clear"],
];

function Help(): JSX.Element {
  return (
    <Menu label="Help" icon="help">
      <div class="help">
        <p>
          Every label with a dotted line says what it means when the pointer rests on it or when it
          has the focus. The address bar holds everything that is chosen here: copy it to show
          someone the same page.
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
    </Menu>
  );
}
