import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type {
  AreaOverlap,
  AreaPayload,
  ChosenKind,
  Kind,
  TimelineGroup,
} from "../../api/types.gen";
import { formatCount, formatExactTime, formatShare, formatTime } from "../../base/units";
import { Bars, Button, Grid, Term, type Column, type Sort } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { colourMark, timeCell } from "./fact";
import { KindChoice } from "./kinds";
import { shortLabel, trackLabel } from "./labels";
import { lookCells } from "./looks";

/** How the events of an area are shown. */
export type AreaLook = "table" | "flame";

interface AreaTableProps {
  label: string;
  payload: AreaPayload;
  groups: readonly TimelineGroup[];
  height: number;
  onEvent: (event: number) => void;
  hrefOfEvent: (event: number) => string;
  look: AreaLook;
  onLook: (look: AreaLook) => void;
  onKind: (kind: ChosenKind) => void;
  /** The flame graph of a kind. */
  flame: (kind: Kind) => ComponentChildren;
}

/** Of the height: the choice of kind. */
const HEAD = 34;

export function AreaTable(props: AreaTableProps) {
  const { payload, groups, height, look, flame } = props;
  const { kind } = payload;
  const inFlame = look === "flame" && kind !== "all" && kind !== "first";
  return (
    <div class="area">
      <div
        class="area-side"
        style={{ maxHeight: `${height + HEAD}px` }}
        tabIndex={0}
        role="group"
        aria-label="Busy shares"
      >
        {payload.overlap ? <Overlap overlap={payload.overlap} /> : null}
        <BusyShares payload={payload} groups={groups} />
      </div>
      <div class="area-table">
        <AreaHead {...props} />
        {inFlame ? (
          <div class="area-scroll" style={{ height: `${height - HEAD}px` }}>
            {flame(kind)}
          </div>
        ) : (
          <AreaGrid {...props} height={height - HEAD} />
        )}
      </div>
    </div>
  );
}

function AreaHead({ payload, look, onLook, onKind }: AreaTableProps) {
  const { kinds, kind } = payload;
  const own = kinds.find((each) => each.kind === kind)?.self_ns;
  return (
    <div class="wrap">
      <KindChoice
        kind={kind}
        kinds={kinds.map((each) => ({ kind: each.kind, count: each.events }))}
        onKind={onKind}
      />
      <Button
        kind="quiet"
        icon="columns"
        pressed={look === "flame"}
        onClick={() => onLook(look === "flame" ? "table" : "flame")}
      >
        Flame graph
      </Button>
      {own === undefined ? null : (
        <span class="muted number" title={formatExactTime(own)}>
          <Term id="area_self">Self</Term> {formatTime(own)}
        </span>
      )}
    </div>
  );
}

function AreaGrid({ label, payload, height, hrefOfEvent, onEvent }: AreaTableProps) {
  const { rows, pooled } = payload;
  const [sort, setSort] = useState<Sort | null>({ key: "self_ns", descending: true });
  const columns = useColumns(() => areaColumns(payload, hrefOfEvent, onEvent), [payload]);
  return (
    <>
      <Grid
        label={label}
        columns={columns}
        rowKey={(row) => `${rows.look[row] ?? ""} ${rows.name[row] ?? ""}`}
        height={height}
        sort={sort}
        onSort={setSort}
        storage="trace-area"
        empty="No events in this range."
        fileName={label.toLowerCase().replace(/ /g, "_")}
      />
      {pooled > 0 ? (
        <p class="trace-note">
          The {formatCount(rows.name.length)} names with the longest total time, of{" "}
          {formatCount(rows.name.length + pooled)}.
        </p>
      ) : null}
    </>
  );
}

export function areaColumns(
  { rows }: AreaPayload,
  hrefOfEvent: (event: number) => string,
  onEvent: (event: number) => void,
): Column[] {
  const event = (row: number): number => rows.longest_event[row] ?? -1;
  return declaredColumns("area", rows, {
    name: {
      href: (row) => (event(row) >= 0 ? hrefOfEvent(event(row)) : null),
      onFollow: (row) => onEvent(event(row)),
    },
    look: lookCells(rows.look),
  });
}

const OVERLAP_PARTS: readonly { key: keyof AreaOverlap; label: string; colour: string }[] = [
  { key: "computation_ns", label: "Computation only", colour: "var(--category-kernel)" },
  { key: "overlap_ns", label: "Overlapped", colour: "var(--series-8)" },
  { key: "communication_ns", label: "Communication only", colour: "var(--category-communication)" },
  { key: "idle_ns", label: "Idle", colour: "var(--category-other)" },
];

export function Overlap({ overlap }: { overlap: AreaOverlap }) {
  const whole = OVERLAP_PARTS.reduce((sum, part) => sum + overlap[part.key], 0);
  if (whole <= 0) return null;
  const share = (key: keyof AreaOverlap): number => overlap[key] / whole;
  return (
    <div class="overlap">
      <h3>
        <Term id="overlap">Device time</Term>
      </h3>
      <div class="overlap-bar" aria-hidden="true">
        {OVERLAP_PARTS.map(({ key, colour }) =>
          overlap[key] > 0 ? (
            <span key={key} style={{ flexGrow: share(key), background: colour }} />
          ) : null,
        )}
      </div>
      <ul>
        {OVERLAP_PARTS.map(({ key, label, colour }) => (
          <li key={key}>
            {colourMark(colour)}
            <span>{label}</span>
            {timeCell(overlap[key])}
            <span class="number">{formatShare(share(key))}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function BusyShares({ payload, groups }: Pick<AreaTableProps, "payload" | "groups">) {
  const length = payload.t1_ns - payload.t0_ns;
  const items = payload.groups
    .flatMap((item) => {
      const group = groups.find((known) => known.key === item.key);
      return group && item.events > 0
        ? [{ ...item, label: shortLabel(group) + KIND_NOTES[group.kind], title: trackLabel(group) }]
        : [];
    })
    .sort((a, b) => b.busy_ns - a.busy_ns);
  if (!items.length || length <= 0) return null;
  return (
    <div class="busy">
      <h3>
        <Term id="busy_share">Busy</Term>
      </h3>
      <Bars
        label="Busy shares of tracks"
        bars={items.map(({ label, title, busy_ns, events }) => ({
          name: label,
          title,
          share: busy_ns / length,
          text: formatShare(busy_ns / length),
          exact: `${formatExactTime(busy_ns)}, ${formatCount(events)} events`,
        }))}
      />
    </div>
  );
}

const KIND_NOTES: Readonly<Record<TimelineGroup["kind"], string>> = {
  python: ", Python",
  calls: "",
  device_annotation: ", annotations",
  work: "",
  sync: ", synchronisation",
  instant: ", instants",
};
