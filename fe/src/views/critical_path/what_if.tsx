/** What a step would take if something in it were different: changes to choose, and what they do together. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { DeclaredChange, WhatIfPayload } from "../../api/types.gen";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Button, CopyButton, Panel } from "../../widgets";
import { Loaded } from "../loaded";
import css from "./what_if.css?inline";
import { changesText, commandOf, readChanges, stepText, type Change } from "./what_if_model";
import { AddChange, ChangeRow } from "./what_if_changes";
import { Outcome } from "./what_if_outcome";

adoptStyles(css);

export function WhatIf(props: ViewProps) {
  const resource = useResource("what_if", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[280]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) => (payload.steps ? <WhatIfPanel {...props} payload={payload} /> : null)}
    </Loaded>
  );
}

function WhatIfPanel(props: ViewProps & { payload: WhatIfPayload }) {
  const { payload, params, setParam, steps } = props;
  const { catalogue, presets } = payload;
  const text = params.what_if ?? "";
  const changes = useMemo(() => readChanges(text, catalogue), [text, catalogue]);
  const { root, write } = useOwnText(text, (next) => setParam("what_if", next || null));
  const update = (next: readonly Change[]): void => write(changesText(next));
  const replace = (place: number, change: Change | null): void =>
    update(changes.flatMap((own, i) => (i === place ? (change ? [change] : []) : [own])));
  const usual = presets.change.map((preset) => readChanges(preset, catalogue)[0]);
  const placeOf = (name: string): number => changes.findIndex((change) => change.name === name);
  const isUsual = (change: Change): boolean => usual.some((preset) => preset?.name === change.name);
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
              {usual.map((preset, row) => {
                if (!preset) return null;
                const place = placeOf(preset.name);
                return (
                  <ChangeRow
                    key={preset.name}
                    change={changes[place] ?? null}
                    declared={declaredOf(catalogue, preset.name)}
                    words={presets.words[row] ?? ""}
                    saved={{ time: presets.saved_ns[row] ?? 0, share: presets.saved[row] ?? 0 }}
                    usual={preset}
                    onChange={(next) =>
                      place < 0 ? next && update([...changes, next]) : replace(place, next)
                    }
                  />
                );
              })}
              {changes.map((change, place) =>
                isUsual(change) && placeOf(change.name) === place ? null : (
                  <ChangeRow
                    key={place}
                    change={change}
                    declared={declaredOf(catalogue, change.name)}
                    words=""
                    saved={null}
                    usual={null}
                    onChange={(next) => replace(place, next)}
                  />
                ),
              )}
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

const declaredOf = (catalogue: readonly DeclaredChange[], name: string): DeclaredChange | null =>
  catalogue.find((change) => change.name === name) ?? null;

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
