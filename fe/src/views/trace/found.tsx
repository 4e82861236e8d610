/** What Ask marked in the trace: how many of which kind, the next and the last one, and how it is looked for. */

import { formatCount } from "../../base/units";
import { Button, Select } from "../../widgets";
import { kindOptions } from "./kinds";
import type { Found } from "./search";
import type { TraceState } from "./trace_state";

export function FoundBar({ state }: { state: TraceState }) {
  const { wish, setWish, found, finder, view, set } = state;
  if (!wish.text) return null;
  const none = found.idle || found.total === 0;
  const names = `${formatCount(found.namesTotal)} ${found.namesTotal === 1 ? "name" : "names"}`;
  const { kinds, kind } = found;
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  const problem = found.error ?? finder.problem;
  return (
    <div class="found-bar" role="search" aria-label="Marked events">
      <code title={wish.text}>{wish.text}</code>
      <span class="number" role="status">
        {resultText(found, finder.index)}
      </span>
      <Button kind="quiet" icon="close" label="Clear the marks" onClick={() => set({ q: null })} />
      <Button
        kind="quiet"
        icon="up"
        label="Previous match (P)"
        disabled={none}
        onClick={() => finder.next("previous")}
      />
      <Button
        kind="quiet"
        icon="down"
        label="Next match (N)"
        disabled={none}
        onClick={() => finder.next("next")}
      />
      <Select
        label="Kind of event"
        showLabel={false}
        value={kind}
        onChange={(next) => set({ kind: next })}
        options={[{ value: "all", label: `All ${formatCount(all)}` }, ...kindOptions(kinds, kind)]}
      />
      <Button
        kind="quiet"
        label="Regular expression"
        pressed={wish.regex}
        onClick={() => setWish({ ...wish, regex: !wish.regex })}
      >
        .*
      </Button>
      <Button
        kind="quiet"
        label="args: look through the arguments too"
        pressed={wish.args}
        onClick={() => setWish({ ...wish, args: !wish.args })}
      >
        args
      </Button>
      <Button
        kind="quiet"
        label="Dim other events"
        pressed={view.params.dim === "1"}
        onClick={() => set({ dim: view.params.dim !== "1" })}
      >
        dim
      </Button>
      {none ? null : (
        <Button
          kind="quiet"
          icon="table"
          label={`${names}: list the matches by name`}
          pressed={view.params.table === "hits"}
          onClick={() => set({ table: view.params.table === "hits" ? null : "hits" })}
        >
          {names}
        </Button>
      )}
      {problem ? <span role="alert">{problem}</span> : null}
    </div>
  );
}

export function resultText(
  found: Pick<Found, "idle" | "busy" | "error" | "total">,
  index: number | null,
): string {
  if (found.idle || found.error) return "";
  if (found.busy) return "…";
  if (index !== null && found.total > 0)
    return `${formatCount(index + 1)} of ${formatCount(found.total)}`;
  return found.total === 0 ? "no match" : formatCount(found.total);
}
