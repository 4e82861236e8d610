/** The choice of a worker among many: by its number, name or host, and by its coordinates. */

import { clamp } from "../../base/clamp";
import { useMemo, useState } from "preact/hooks";
import type { WorkerItem } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useId } from "../../base/id";
import { useResource, useUntilComplete } from "../../state/resource";
import type { Selection } from "../../state/view";
import { Button, ErrorState, Icon } from "../../widgets";
import { groupNote, workerLabel } from "../run_options";
import { coordinatesText, foundWorkers } from "./model";

export interface PickerProps {
  workers: readonly WorkerItem[];
  selection: Selection;
  onChoose: (worker: string) => void;
}

/** Matches that are listed. */
const LISTED = 50;

export function Picker(props: PickerProps) {
  const { selection } = props;
  const [asked, setAsked] = useState(false);
  const known = useResource(asked ? null : "overview/ranks/known", selection);
  const made = useResource(asked ? "overview/ranks" : null, selection);
  useUntilComplete(made);
  const payload = asked ? made.data : known.data?.known ? known.data : null;
  const about = useMemo(() => {
    const { workers: all = [], dimensions = [] } = payload ?? {};
    const places = new Map(all.map(({ worker }, place) => [worker, place]));
    return (name: string): About => {
      const place = places.get(name) ?? -1;
      return {
        node: all[place]?.node ?? "",
        coordinates: coordinatesText(dimensions, place),
      };
    };
  }, [payload]);
  return (
    <div class="picker">
      <Search {...props} about={about} />
      {payload || known.state === "loading" ? null : made.error ? (
        <ErrorState error={made.error} retry={made.reload} />
      ) : asked ? (
        <p class="muted" role="status">
          Reading the ranks …
        </p>
      ) : (
        <p>
          <Button onClick={() => setAsked(true)}>Find them by host and coordinates</Button>{" "}
          <span class="muted">This reads every trace of the run.</span>
        </p>
      )}
    </div>
  );
}

/** What is known of a worker when all of them are read; empty until then. */
interface About {
  node: string;
  coordinates: string;
}

interface SearchProps extends PickerProps {
  about: (worker: string) => About;
}

function Search({ workers, selection, onChoose, about }: SearchProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const id = useId("workers");
  const found = useMemo(
    () =>
      foundWorkers(
        workers.map(({ name, rank }) => ({ worker: name, rank, ...about(name) })),
        text,
      ),
    [workers, text, about],
  );
  const shown = found.slice(0, LISTED).flatMap((place) => workers[place] ?? []);
  const current = Math.min(at, shown.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step) {
      const next = clamp(current + step, 0, shown.length - 1);
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && shown[current]) onChoose(shown[current].name);
    else return;
    event.preventDefault();
  };
  return (
    <div class="picker-search">
      <div class="search">
        <Icon name="search" size={14} />
        <input
          type="text"
          // The dialog gives it the focus when it opens.
          autofocus
          role="combobox"
          aria-label="Rank, host or name"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={shown.length ? `${id}-${current}` : undefined}
          aria-autocomplete="list"
          placeholder="Rank, host or name"
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <span class="search-result" role="status">
          {`${formatCount(found.length)} of ${formatCount(workers.length)}`}
        </span>
      </div>
      <ul class="picker-list" role="listbox" id={id} aria-label="Workers">
        {shown.map((worker, i) => (
          <li
            key={worker.name}
            id={`${id}-${i}`}
            role="option"
            class={i === current ? "picker-at" : ""}
            aria-selected={worker.name === selection.worker}
            onClick={() => onChoose(worker.name)}
          >
            <span>{workerLabel(worker)}</span>
            <span class="muted">
              {[about(worker.name).coordinates, groupNote(worker.spans)]
                .filter(Boolean)
                .join(" · ")}
            </span>
          </li>
        ))}
      </ul>
      {found.length > LISTED ? (
        <p class="muted">{`${formatCount(found.length - LISTED)} more: type to narrow them down.`}</p>
      ) : null}
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
};
