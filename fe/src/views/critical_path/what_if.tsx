/** What a step would take if something in it were different: changes to choose, and what they do together. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { WhatIfPayload } from "../../api/types.gen";
import { type ViewProps } from "../../state/view";
import { Button, CopyButton, Panel } from "../../widgets";
import { viewOf } from "../loaded";
import { changesText, commandOf, readChanges, stepText, type Change } from "./what_if_model";
import { AddChange, ChangeRow, type Usual } from "./what_if_changes";
import { Outcome } from "./what_if_outcome";

type PanelProps = ViewProps & { payload: WhatIfPayload };

export const WhatIf = viewOf("what_if", [280], (props: PanelProps) =>
  props.payload.steps ? <WhatIfPanel {...props} /> : null,
);

function WhatIfPanel(props: PanelProps) {
  const { payload, params, setParam, steps } = props;
  const { catalogue, presets } = payload;
  const text = params.what_if ?? "";
  const changes = useMemo(() => readChanges(text, catalogue), [text, catalogue]);
  const { root, write } = useOwnText(text, (next) => setParam("what_if", next || null));
  const update = (next: readonly Change[]): void => write(changesText(next));
  const usual = presets.change.flatMap((preset, row): Usual[] =>
    readChanges(preset, catalogue).map((change) => ({
      change,
      words: presets.words[row] ?? "",
      time: presets.saved_ns[row] ?? 0,
      share: presets.saved[row] ?? 0,
    })),
  );
  const placeOf = (name: string): number => changes.findIndex((change) => change.name === name);
  const others = [...changes.keys()].filter(
    (place) => !usual.some(({ change }) => placeOf(change.name) === place),
  );
  /** A row of a usual change, or of the one at a place among the chosen ones. */
  const row = (place: number, item?: Usual) => {
    const change = changes[place];
    const name = (item?.change ?? change)?.name;
    return (
      <ChangeRow
        key={item ? name : place}
        change={change}
        declared={catalogue.find((declared) => declared.name === name)}
        usual={item}
        onChange={(next) =>
          update(changes.toSpliced(place < 0 ? changes.length : place, 1, ...(next ? [next] : [])))
        }
      />
    );
  };
  return (
    <div ref={root}>
      <Panel
        title="What if"
        term="what_if"
        note={stepText(payload.measured_ns, payload.steps)}
        actions={
          changes.length ? (
            <>
              <CopyButton
                text={() => commandOf(payload.path, changes, steps)}
                label="Copy as command"
              >
                Copy as command
              </CopyButton>
              <Button kind="quiet" icon="close" onClick={() => update([])}>
                Clear
              </Button>
            </>
          ) : null
        }
      >
        <div class="what-if">
          <div>
            {presets.change.length ? (
              <p class="what-if-head" aria-hidden="true">
                <span>Change</span>
                <span>Saves alone, per step</span>
              </p>
            ) : null}
            <ul class="what-if-list" aria-label="Changes">
              {usual.map((item) => row(placeOf(item.change.name), item))}
              {others.map((place) => row(place))}
            </ul>
            {presets.change.length ? null : (
              <p class="muted">None of the usual changes would shorten a step here.</p>
            )}
            <AddChange
              catalogue={catalogue.filter(({ name, selects }) => selects || placeOf(name) < 0)}
              view={props}
              onAdd={(change) => update([...changes, change])}
            />
          </div>
          <Outcome {...props} changes={changes} text={text} />
        </div>
      </Panel>
    </div>
  );
}

/** The text of the changes in the address bar; where a link has changed it, the panel comes into sight. */
function useOwnText(text: string, set: (text: string) => void) {
  const root = useRef<HTMLDivElement>(null);
  const last = useRef("");
  useLayoutEffect(() => {
    if (text && text !== last.current) root.current?.scrollIntoView({ block: "nearest" });
    last.current = text;
  }, [text]);
  const write = (next: string): void => {
    last.current = next;
    set(next);
  };
  return { root, write };
}
