import { AREA } from "../../api/tables.gen";
import type { AreaOverlap, AreaPayload, TimelineGroup } from "../../api/types.gen";
import { formatCount, formatExactTime, formatShare, formatTime } from "../../base/units";
import { Grid, Term, type Column } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { threadLabel, trackLabel } from "./labels";
import { lookCells } from "./looks";

interface AreaTableProps {
  label: string;
  payload: AreaPayload;
  groups: readonly TimelineGroup[];
  height: number;
  onEvent: (event: number) => void;
  hrefOfEvent: (event: number) => string;
}

export function AreaTable({ label, payload, groups, height, ...links }: AreaTableProps) {
  const { rows, pooled } = payload;
  const columns = useColumns(
    () => areaColumns(payload, links.hrefOfEvent, links.onEvent),
    [payload],
  );
  return (
    <div class="area">
      <div class="area-side" tabIndex={0} role="group" aria-label="Busy shares">
        {payload.overlap ? <Overlap overlap={payload.overlap} /> : null}
        <BusyShares payload={payload} groups={groups} />
      </div>
      <div class="area-table">
        <Grid
          label={label}
          columns={columns}
          rowCount={rows.name.length}
          rowKey={(row) => `${rows.look[row] ?? ""} ${rows.name[row] ?? ""}`}
          height={height}
          storage="trace-area"
          empty="No events in this range."
          fileName={label.toLowerCase().replace(/ /g, "_")}
        />
        {pooled > 0 ? (
          <p class="drawer-note">
            The {formatCount(rows.name.length)} names with the longest total time, of{" "}
            {formatCount(rows.name.length + pooled)}.
          </p>
        ) : null}
      </div>
    </div>
  );
}

export function areaColumns(
  { rows }: AreaPayload,
  hrefOfEvent: (event: number) => string,
  onEvent: (event: number) => void,
): Column[] {
  const event = (row: number): number => rows.longest_event[row] ?? -1;
  return declaredColumns(AREA, rows, {
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
            <span class="look" style={{ background: colour }} />
            <span>{label}</span>
            <span class="number" title={formatExactTime(overlap[key])}>
              {formatTime(overlap[key])}
            </span>
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
        ? [{ ...item, label: groupText(group), title: trackLabel(group) }]
        : [];
    })
    .sort((a, b) => b.busy_ns - a.busy_ns);
  if (!items.length || length <= 0) return null;
  return (
    <div class="busy">
      <h3>
        <Term id="busy_share">Busy</Term>
      </h3>
      <ul>
        {items.map(({ key, label, title, busy_ns, events }) => (
          <li key={key}>
            <span class="busy-label" title={title}>
              {label}
            </span>
            <span class="busy-track" aria-hidden="true">
              <span style={{ width: `${(busy_ns / length) * 100}%` }} />
            </span>
            <span
              class="number"
              title={`${formatExactTime(busy_ns)}, ${formatCount(events)} events`}
            >
              {formatShare(busy_ns / length)}
            </span>
          </li>
        ))}
      </ul>
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

/** The process of a thread is left to the hover text: there is mostly one, and its number is long. */
const groupText = (group: TimelineGroup): string =>
  `${group.device ? trackLabel(group) : threadLabel(group)}${KIND_NOTES[group.kind]}`;
