/** The hits of a search below its box: by kind, in order of time or the longest first. */

import { onAxis } from "../../timeline/clock";
import { useEffect, useRef } from "preact/hooks";
import { formatCount, formatTime } from "../../base/units";
import { timeText } from "../../timeline/ruler";
import { Checkbox, Segmented } from "../../widgets";
import { shortened } from "../../widgets/labels";
import { MiddleCut } from "../../widgets/middle_cut";
import { colourMark } from "./fact";
import { KindChoice } from "./kinds";
import { shortLabel, trackAt } from "./labels";
import { lookOf } from "./looks";
import type { Recording } from "./recordings";
import type { Hit } from "./search";
import type { TraceState } from "./trace_state";

const ORDERS = [
  { value: "time", label: "By time" },
  { value: "duration", label: "By duration" },
] as const;

/** Of begins, ns. */
const EXACT = 100;

interface HitListProps {
  id: string;
  state: TraceState;
  /** Place in the list; −1: none. */
  chosen: number;
  onHit: (hit: Hit) => void;
}

export function HitList({ id, state, chosen, onHit }: HitListProps) {
  const { found, recordings, span, wish, setWish, view, set } = state;
  const { kinds, kind, list, total } = found;
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="hit-list">
      {kind === "all" || kinds.some((each) => each.kind !== kind) ? (
        <KindChoice
          kind={kind}
          kinds={kinds}
          more={[{ value: "all", label: `All ${formatCount(all)}` }]}
          onKind={(next) => setWish({ ...wish, kind: next })}
        />
      ) : null}
      <ul id={id} role="listbox" aria-label="Search results">
        {list.map((hit, place) => (
          <HitRow
            key={`${hit.source} ${hit.ref.event}`}
            id={`${id}-${place}`}
            hit={hit}
            chosen={place === chosen}
            t0={span.t0}
            {...{ recordings, onHit }}
          />
        ))}
      </ul>
      {list.length ? (
        <div class="hit-foot">
          <Segmented
            label="Order"
            showLabel={false}
            options={ORDERS}
            value={wish.order}
            onChange={(order) => setWish({ ...wish, order })}
          />
          <Checkbox
            label="Dim other events"
            checked={view.params.dim === "1"}
            onChange={(dim) => set({ dim })}
          />
          {total > list.length ? (
            <span class="muted">
              {wish.order === "time" ? "First" : "Longest"} {formatCount(list.length)} of{" "}
              {formatCount(total)}
            </span>
          ) : null}
        </div>
      ) : (
        <p class="muted">{found.busy ? "…" : "No matches."}</p>
      )}
    </div>
  );
}

interface HitRowProps extends Pick<HitListProps, "id" | "onHit"> {
  hit: Hit;
  recordings: readonly Recording[];
  chosen: boolean;
  t0: number;
}

function HitRow({ id, hit, chosen, t0, recordings, onHit }: HitRowProps) {
  const { ref, source } = hit;
  const recording = recordings[source];
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const begin = onAxis(recording ?? { offset: 0 }, ref.start_ns) - t0;
  return (
    <li
      ref={row}
      id={id}
      role="option"
      aria-selected={chosen}
      // The box keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => onHit(hit)}
    >
      {colourMark(lookOf(ref.look).colour)}
      <span class="mid" title={ref.name}>
        <MiddleCut text={shortened(ref.name)} />
      </span>
      <span class="hit-track">{recording ? trackAt(recording, ref.lane, shortLabel) : ""}</span>
      <span class="number">{timeText(begin, EXACT)}</span>
      <span class="number">{formatTime(ref.dur_ns)}</span>
    </li>
  );
}
