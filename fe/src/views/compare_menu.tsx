/** What the chosen recording can be compared with: each choice compares in the place that is shown. */

import type { RunsPayload } from "../api/types.gen";
import { changePage, pageOfHref } from "../state/location";
import { useResource, useAgain } from "../state/resource";
import { besideOf, complete, runsStore } from "../state/runs";
import { useStore } from "../state/store";
import {
  onlyOne,
  onlyRow,
  type Selection,
  sideParams,
  type ViewId,
  type ViewProps,
} from "../state/view";
import { Select } from "../widgets";
import { counterpart, halves } from "./diff/model";
import { countOfSteps, rowsOf } from "./rows";
import { runOptions, workerOptions } from "./run_options";

/** `view`: where the comparison is shown. */
type MenuProps = ViewProps & { view: ViewId };

export function CompareMenu(props: MenuProps) {
  const { selection, hrefOf, view } = props;
  const payload = useStore(runsStore, (runs) => runs.payload);
  const open = (other: Selection): void => {
    const page = pageOfHref(hrefOf(view, sideParams(other)));
    if (page) changePage(() => page, "push");
  };
  return (
    <>
      <Before {...props} />
      <OwnSteps {...props} />
      <OtherRank payload={payload} selection={selection} onChoose={open} />
      <OtherRun payload={payload} selection={selection} onChoose={open} />
      <p class="menu-note">Before is always the earlier recording.</p>
    </>
  );
}

/** The recording of the same work that was made before this one. */
function Before({ selection, hrefOf, view }: MenuProps) {
  const resource = useResource("experiments", { ...selection, ranks: "own" });
  useAgain(resource);
  const { data } = resource;
  const row = data?.suggestion?.row ?? -1;
  if (!data || row < 0)
    return (
      <p class="menu-note" role="status">
        {!data || data.progress < 1
          ? "Looking for an earlier recording of this work …"
          : "No earlier recording of this work is here."}
      </p>
    );
  const { rows } = data;
  const other = {
    run: rows.run[row] ?? "",
    worker: rows.worker[row] ?? "",
    span: rows.span[row] ?? "",
  };
  return (
    <a class="menu-item" href={hrefOf(view, sideParams(other))} title={data.suggestion?.reason}>
      The recording before it{" "}
      <small>{other.run === selection.run ? other.worker : other.run}</small>
    </a>
  );
}

/** The median step beside the chosen one, or beside the longest; and the halves of the recording. */
function OwnSteps({ selection, steps, hrefOf, view }: MenuProps) {
  const { data } = useResource("steps", selection);
  const rows = data ? rowsOf(data.steps) : [];
  const [first] = rows;
  if (!first || rows.length < 2) return null;
  const longest = rows.reduce((most, row) => (row.wall_ns > most.wall_ns ? row : most), first);
  const chosen = onlyRow(rows, steps);
  const step = chosen ?? longest.step;
  const median = data?.median ?? -1;
  const [earlier, later] = halves(data ? countOfSteps(data.steps) : 0);
  return (
    <>
      {median < 0 || median === step ? null : (
        <a
          class="menu-item"
          href={hrefOf(view, sideParams(selection, onlyOne(step)), selection, onlyOne(median))}
        >
          The median step <small>beside the {chosen === null ? "longest" : "chosen"} one</small>
        </a>
      )}
      <a class="menu-item" href={hrefOf(view, sideParams(selection, later), selection, earlier)}>
        The last steps <small>beside the first ones</small>
      </a>
    </>
  );
}

interface OtherProps {
  payload: RunsPayload | null;
  selection: Selection;
  onChoose: (other: Selection) => void;
}

function OtherRank({ payload, selection, onChoose }: OtherProps) {
  const workers = besideOf(payload, selection);
  if (workers.length < 2) return null;
  return (
    <Select
      label="Another rank"
      showLabel={false}
      value=""
      options={[
        { value: "", label: "Another rank" },
        ...workerOptions(workers).filter(({ value }) => value !== selection.worker),
      ]}
      onChange={(worker) => onChoose(complete(payload, { run: selection.run, worker, span: "" }))}
    />
  );
}

function OtherRun({ payload, selection, onChoose }: OtherProps) {
  const runs = payload?.runs.filter(({ name }) => name !== selection.run) ?? [];
  if (!runs.length) return null;
  return (
    <Select
      label="Any other run"
      showLabel={false}
      value=""
      options={[{ value: "", label: "Any other run" }, ...runOptions(runs)]}
      onChange={(run) => onChoose(counterpart(payload, run, selection))}
    />
  );
}
