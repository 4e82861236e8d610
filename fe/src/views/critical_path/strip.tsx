/** The critical path of one to three steps from left to right, with what is under the pointer in words, and its legend. For this page and Overview. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CriticalPathPayload, PathStrip } from "../../api/types.gen";
import { formatShare, formatTime } from "../../base/units";
import { Button, Ribbon, Swatch, type Series } from "../../widgets";
import { rowsOf } from "../rows";
import {
  labelOf,
  seriesFor,
  seriesOf,
  spoken,
  stretchesOf,
  stripLabel,
  told,
  type Range,
} from "./model";

type Parts = Pick<CriticalPathPayload, "parts">;

interface PathStripsProps {
  payload: Pick<CriticalPathPayload, "parts" | "strips">;
  range: Range | null;
  onRange: (range: Range | null) => void;
  /** Links to what shows more of the range. */
  links: ComponentChildren;
  /** What the legend sums up, where it is not the whole. */
  within?: Parts | undefined;
  /** The rank of a stretch, where there are several. */
  placeOf?: (strip: PathStrip, row: number) => string;
  /** What stands below the strip until one points at it. */
  caption?: string;
  /** Parts of a smaller share are counted together. */
  least?: number;
}

const HERE = () => "";
const HOW = "Point at the strip to read it; drag over it to choose a part of the path.";

export function PathStrips(props: PathStripsProps) {
  const { payload, range, onRange, links, within, placeOf = HERE, caption = HOW, least } = props;
  const { strips } = payload;
  const series = useMemo(() => seriesOf(payload), [payload]);
  const [at, setAt] = useState<{ strip: PathStrip; row: number } | null>(null);
  const scale = Math.max(...strips.map(({ start_ns, end_ns }) => end_ns - start_ns));
  return (
    <>
      {strips.map((strip) => (
        <OneStrip
          key={strip.step}
          {...{ strip, payload, series, scale, range, onRange, placeOf }}
          titled={strips.length > 1}
          onPoint={(row) => setAt(row === null ? null : { strip, row })}
        />
      ))}
      <div class="path-reading">
        <p>
          {at ? (
            <Reading {...at} place={placeOf(at.strip, at.row)} />
          ) : range ? (
            `Chosen: ${formatTime(range.t1 - range.t0)} of the path.`
          ) : (
            <span class="muted">{caption}</span>
          )}
        </p>
        {range ? (
          <Button kind="quiet" icon="close" onClick={() => onRange(null)}>
            Whole path
          </Button>
        ) : null}
        {links}
      </div>
      <PathParts parts={(within ?? payload).parts} least={least} />
    </>
  );
}

interface OneStripProps extends Required<
  Omit<PathStripsProps, "links" | "within" | "caption" | "least">
> {
  strip: PathStrip;
  series: readonly Series[];
  scale: number;
  titled: boolean;
  onPoint: (row: number | null) => void;
}

function OneStrip(props: OneStripProps) {
  const { strip, payload, series, titled, onRange, range, placeOf, ...rest } = props;
  const stretches = useMemo(
    () => stretchesOf(strip, series, (row) => placeOf(strip, row)),
    [strip, series, placeOf],
  );
  return (
    <>
      {titled ? (
        <h3 class="path-step">
          {strip.name} <span class="muted">{formatTime(strip.end_ns - strip.start_ns)}</span>
        </h3>
      ) : null}
      <Ribbon
        label={stripLabel(strip, payload)}
        series={series}
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
    <>
      <Swatch item={seriesFor(kind)} /> <strong>{labelOf(kind)}</strong>
      {place ? <strong>{place}</strong> : null}
      {event ? <code>{event}</code> : null}
      {line ? <code class="muted">{line}</code> : null}
      <span class="number">{time}</span>
    </>
  );
}

/** What the path is made of: the strip's legend, with figures. */
export function PathParts({ parts, least = 0 }: Parts & { least?: number | undefined }) {
  const rows = rowsOf(parts);
  const isSmall = ({ share }: (typeof rows)[number]): boolean => share !== null && share < least;
  const rest = rows.filter(isSmall);
  return (
    <ul class="path-parts">
      {rows.map((row) =>
        isSmall(row) ? null : (
          <li key={row.kind}>
            <Swatch item={seriesFor(row.kind)} /> {labelOf(row.kind)}{" "}
            <strong class="number">{formatTime(row.path_ns)}</strong>{" "}
            <span class="muted number">{formatShare(row.share)}</span>
          </li>
        ),
      )}
      {rest.length ? (
        <li class="muted" title={rest.map(({ kind }) => labelOf(kind)).join(", ")}>
          {rest.length} more{" "}
          <span class="number">
            {formatShare(rest.reduce((sum, { share }) => sum + (share ?? 0), 0))}
          </span>
        </li>
      ) : null}
    </ul>
  );
}
