/** What the end of a step waited for: the path as a strip of seven groups, and their sums as its legend. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CriticalPathPayload, FirstParts, PathStrip } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { Button, fillOf, Hatches, Ribbon, Swatch } from "../../widgets";
import { groupLooks, groupTimes } from "./groups";
import {
  labelOf,
  partsOf,
  seriesFor,
  spoken,
  stretchesOf,
  stripLabel,
  told,
  type Range,
} from "./model";

interface Parts {
  parts: FirstParts;
}

interface PathStripsProps {
  payload: Pick<CriticalPathPayload, "parts" | "strips">;
  /** What computes: `GPU`, or `CPU` where there is no accelerator. */
  device: string;
  range: Range | null;
  onRange: (range: Range | null) => void;
  /** Links to what shows more of the range. */
  links: ComponentChildren;
  /** How many steps the parts are of: the legend has their mean. */
  steps: number;
  /** What the legend sums up, where it is not the whole. */
  within?: Parts | undefined;
  /** The rank of a stretch, where there are several. */
  placeOf?: (strip: PathStrip, row: number) => string;
}

const HERE = () => "";

export function PathStrips(props: PathStripsProps) {
  const { payload, device, steps, range, onRange, links, within, placeOf = HERE } = props;
  const { strips } = payload;
  const [at, setAt] = useState<{ strip: PathStrip; row: number } | null>(null);
  const scale = Math.max(...strips.map(({ start_ns, end_ns }) => end_ns - start_ns));
  return (
    <div class="path">
      {strips.map((strip) => (
        <OneStrip
          key={strip.step}
          {...{ strip, payload, device, steps, scale, range, onRange, placeOf }}
          titled={strips.length > 1}
          onPoint={(row) => setAt(row === null ? null : { strip, row })}
        />
      ))}
      <PathParts parts={(within ?? payload).parts} device={device} steps={within ? 1 : steps} />
      <div class="path-reading">
        {at ? <Reading {...at} place={placeOf(at.strip, at.row)} /> : null}
        {!at && range ? (
          <>
            Chosen: {formatTime(range.t1 - range.t0)}
            <Button kind="quiet" icon="close" onClick={() => onRange(null)}>
              Whole path
            </Button>
          </>
        ) : null}
        {links}
      </div>
    </div>
  );
}

interface OneStripProps extends Required<Omit<PathStripsProps, "links" | "within">> {
  strip: PathStrip;
  scale: number;
  titled: boolean;
  onPoint: (row: number | null) => void;
}

function OneStrip(props: OneStripProps) {
  const { strip, payload, device, steps, titled, onRange, range, placeOf, ...rest } = props;
  const groups = useMemo(() => groupLooks(device), [device]);
  const stretches = useMemo(
    () => stretchesOf(strip, groups, device === "CPU"),
    [strip, groups, device],
  );
  return (
    <>
      {titled ? (
        <h3 class="path-step">
          {strip.name} <span class="muted">{formatTime(strip.end_ns - strip.start_ns)}</span>
        </h3>
      ) : null}
      <Ribbon
        label={stripLabel(strip, groupTimes(steps > 1 ? partsOf(strip) : payload, device))}
        series={groups}
        stretches={stretches}
        describe={(row) => [placeOf(strip, row), spoken(strip, row)].filter(Boolean).join(", ")}
        chosen={range}
        onChoose={onRange}
        {...rest}
      />
    </>
  );
}

function Reading({ strip, row, place }: { strip: PathStrip; row: number; place: string }) {
  const { kind, event, line, time } = told(strip, row);
  return (
    <p>
      <Swatch item={seriesFor(kind)} /> <strong>{labelOf(kind)}</strong>
      {place ? <strong>{place}</strong> : null}
      {event ? <code>{event}</code> : null}
      {line ? <code class="muted">{line}</code> : null}
      <span class="number">{time}</span>
    </p>
  );
}

/** A step by what was running: as high as the strip that takes its place. */
export function FirstStrip({ parts, device }: Parts & { device: string }) {
  const times = groupTimes({ parts }, device);
  const id = useId("first-look");
  let begin = 0;
  return (
    <div class="path path-first">
      <svg width="100%" height="44" aria-hidden="true">
        <Hatches id={id} series={times} />
        {times.map(({ key, share }, place) => {
          const x = begin;
          begin += 100 * (share ?? 0);
          return (
            <rect
              key={key}
              x={`${x}%`}
              width={`${100 * (share ?? 0)}%`}
              height="44"
              fill={fillOf(id, times, place)}
            />
          );
        })}
      </svg>
      <p>By what was running, until the cause is known</p>
      <PathParts parts={parts} device={device} />
    </div>
  );
}

/** What the path of a step is made of: the strip's legend, with figures. `steps`: of how many the parts are the sum. */
export function PathParts({
  parts,
  device,
  steps = 1,
}: Parts & { device: string; steps?: number }) {
  return (
    <dl class="path-parts">
      {groupTimes({ parts }, device).map((item) => (
        <div key={item.key}>
          <dt>
            <Swatch item={item} /> {item.label}
          </dt>
          <dd title={formatExactTime(Math.round(item.ns / steps))}>
            <strong>{formatTime(item.ns / steps)}</strong> {formatShare(item.share)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
