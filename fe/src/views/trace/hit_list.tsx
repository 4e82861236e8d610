/** The hits of a search below its box: by kind, in order of time. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ChosenKind } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { timeText } from "../../timeline/ruler";
import { Checkbox, Segmented } from "../../widgets";
import { shortened } from "../../widgets/labels";
import { MiddleCut } from "../../widgets/middle_cut";
import { colourMark } from "./fact";
import { KINDS } from "./kinds";
import { trackAt } from "./labels";
import { lookOf } from "./looks";
import { spanOf, type Recording } from "./recordings";
import type { Found, Hit } from "./search";

/** Of begins, ns. */
const EXACT = 100;

interface HitListProps {
  id: string;
  found: Found;
  recordings: readonly Recording[];
  /** Place in the list; −1: none. */
  chosen: number;
  dims: boolean;
  onDims: (dims: boolean) => void;
  onHit: (hit: Hit) => void;
  onKind: (kind: ChosenKind) => void;
}

export function HitList({ id, found, chosen, dims, onDims, onKind, ...row }: HitListProps) {
  const { kinds, kind, list, total } = found;
  const { t0 } = useMemo(() => spanOf(row.recordings), [row.recordings]);
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  const options = KINDS.flatMap((item) => {
    const count = kinds.find((each) => each.kind === item.kind)?.count;
    return count || item.kind === kind
      ? [{ value: item.kind, label: `${item.label} ${formatCount(count ?? 0)}` }]
      : [];
  });
  return (
    <div class="hit-list">
      {options.length > 1 || kind === "all" ? (
        <Segmented<ChosenKind>
          label="Kind of event"
          showLabel={false}
          value={kind}
          onChange={onKind}
          options={[...options, { value: "all", label: `All ${formatCount(all)}` }]}
        />
      ) : null}
      <ul id={id} role="listbox" aria-label="Search results">
        {list.map((hit, place) => (
          <HitRow
            key={`${hit.source} ${hit.ref.event}`}
            id={`${id}-${place}`}
            hit={hit}
            chosen={place === chosen}
            t0={t0}
            {...row}
          />
        ))}
      </ul>
      {list.length ? (
        <div class="hit-foot">
          <Checkbox label="Dim other events" checked={dims} onChange={onDims} />
          {total > list.length ? (
            <span class="muted">
              First {formatCount(list.length)} of {formatCount(total)}
            </span>
          ) : null}
        </div>
      ) : (
        <p class="muted">{found.busy ? "…" : "No matches."}</p>
      )}
    </div>
  );
}

interface HitRowProps extends Pick<HitListProps, "id" | "recordings" | "onHit"> {
  hit: Hit;
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
  const begin = ref.start_ns + (recording?.offset ?? 0) - t0;
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
      <span class="hit-name" title={ref.name}>
        <MiddleCut text={shortened(ref.name)} />
      </span>
      <span class="hit-track">{recording ? trackAt(recording, ref.lane) : ""}</span>
      <span class="number">{timeText(begin, EXACT)}</span>
      <span class="number">{formatTime(ref.dur_ns)}</span>
    </li>
  );
}
