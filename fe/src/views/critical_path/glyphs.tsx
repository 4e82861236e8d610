/** What the end of a step waited for, as glyphs, with the sums of the path as their legend. */

import { useMemo, useState } from "preact/hooks";
import type { PathStrip } from "../../api/types.gen";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { goTo } from "../../state/location";
import type { ViewProps } from "../../state/view";
import { Button, Glyph, type GlyphSize, Swatch } from "../../widgets";
import { nameAt, traceOf, workerName } from "../distributed/model";
import { categoryLooks, groupTimes, lookOfCategory, type PathTimes, withAll } from "./groups";
import { glyphLabel, type Range, rangeParams, spoken, stepTitle, stretchesOf, told } from "./model";
import { onTimeline, type Paths } from "./on_rank";

interface Parts {
  parts: PathTimes;
}

interface PathGlyphsProps extends Pick<ViewProps, "hrefOf" | "selection"> {
  payload: Parts & Paths;
  /** What computes: `GPU`, or `CPU` where there is no accelerator. */
  device: string;
  range: Range | null;
  onRange: (range: Range | null) => void;
  /** What the legend sums up, where it is not the whole. */
  within?: Parts | undefined;
  /** Whether the section that lists what is on the path is another one. */
  elsewhere?: boolean;
}

type RankOf = (worker: number) => string;

export function PathGlyphs(props: PathGlyphsProps) {
  const { payload, device, range, onRange, within, elsewhere, hrefOf, selection } = props;
  const { strips, workers } = payload;
  const rankOf = useMemo(
    () => workers && ((place: number): string => nameAt(workers, place)),
    [workers],
  );
  const shown = onTimeline(payload, range);
  const timelineHref = ({ worker, params }: NonNullable<typeof shown>): string =>
    hrefOf("trace", params, worker && traceOf(selection, worker));
  const [at, setAt] = useState<{ strip: PathStrip; row: number } | null>(null);
  const scale = Math.max(...strips.map(({ glyph }) => glyph.shown_ns));
  const [first] = strips;
  const whole = payload.parts.path_ns.reduce((sum, time) => sum + time, 0);
  return (
    <div class="path">
      {strips.map((strip) => (
        <OneGlyph
          key={strip.step}
          {...props}
          {...{ strip, scale, rankOf }}
          onOpen={(part) => {
            const there = onTimeline(payload, part);
            if (there) goTo(timelineHref(there));
          }}
          size={strips.length > 1 ? "compact" : "full"}
          onPoint={(row) => setAt(row === null ? null : { strip, row })}
        />
      ))}
      <PathParts
        parts={(within ?? payload).parts}
        device={device}
        steps={within ? 1 : strips.length}
        all={within || strips.length > 1 ? undefined : first?.glyph.all_ns}
      />
      <div class="path-reading">
        {at ? <Reading {...at} device={device} rankOf={rankOf} /> : null}
        {range ? (
          <>
            Chosen: {formatTime(range.t1 - range.t0)}
            <Button kind="quiet" icon="close" onClick={() => onRange(null)}>
              Whole path
            </Button>
          </>
        ) : strips.length === 1 ? (
          <p class="path-key">
            <span aria-hidden="true" /> what the end of the step waited for: these add up to{" "}
            {formatTime(whole)}.{" "}
            {device === "CPU"
              ? "No GPU work was recorded, so there is one lane."
              : "Pale is work beside it."}
          </p>
        ) : null}
        {elsewhere ? (
          <a
            href={hrefOf("critical_path", {
              ...(workers ? { ranks: "all" } : {}),
              ...rangeParams(range),
            })}
          >
            What is on it
          </a>
        ) : null}
        {shown ? (
          <a href={timelineHref(shown)}>
            On the timeline{shown.worker && !elsewhere ? ` of ${workerName(shown.worker)}` : ""}
          </a>
        ) : null}
      </div>
    </div>
  );
}

interface OneGlyphProps extends PathGlyphsProps {
  strip: PathStrip;
  scale: number;
  size: GlyphSize;
  rankOf: RankOf | undefined;
  /** Opens the timeline at a stretch. */
  onOpen: (range: Range) => void;
  onPoint: (row: number | null) => void;
}

function OneGlyph(props: OneGlyphProps) {
  const { strip, payload, device, size, scale, range, onRange, rankOf, onPoint, onOpen } = props;
  const { glyph } = strip;
  const looks = useMemo(() => categoryLooks(device), [device]);
  const stretches = useMemo(
    () =>
      stretchesOf(strip).map((range, row) => ({
        ...range,
        text: spoken(strip, row, looks, rankOf),
      })),
    [strip, looks, rankOf],
  );
  const ranks = rankOf
    ? glyph.ranks.map(({ worker, start_ns }) => ({ name: rankOf(worker), start_ns }))
    : [];
  const compact = size === "compact";
  const length = formatTime(strip.end_ns - strip.start_ns);
  return (
    <Glyph
      lanes={glyph}
      start={strip.start_ns}
      device={device}
      label={glyphLabel(
        strip,
        groupTimes(payload.strips.length > 1 ? null : payload, device),
        device,
      )}
      looks={looks}
      names={{
        device: (
          <>
            <b>{compact ? stepTitle(strip.name) : device}</b>{" "}
            {compact || glyph.busy === null ? "" : `busy ${formatShare(glyph.busy)}`}
          </>
        ),
        host: compact ? length : <Host ranks={ranks} />,
      }}
      {...{ size, scale, ranks, stretches, onPoint, onOpen }}
      axis={!compact}
      chosen={range}
      onChoose={onRange}
    />
  );
}

function Host({ ranks }: { ranks: readonly { name: string }[] }) {
  const names = new Set(ranks.map(({ name }) => name));
  return (
    <>
      <b>Host</b>{" "}
      {names.size === 1 ? [...names].join("") : names.size ? "rank above" : "all threads"}
    </>
  );
}

interface ReadingProps {
  strip: PathStrip;
  row: number;
  device: string;
  rankOf: RankOf | undefined;
}

function Reading({ strip, row, device, rankOf }: ReadingProps) {
  const { category, worker, event, line, time } = told(strip, row);
  const look = lookOfCategory(category, device);
  return (
    <p class="path-at">
      <Swatch item={look} /> <strong>{look.label}</strong>
      {rankOf && worker >= 0 ? <strong>{rankOf(worker)}</strong> : null}
      {event ? <code>{event}</code> : null}
      {line ? <code class="muted">{line}</code> : null}
      <span class="number">{time}</span>
    </p>
  );
}

/** As high as the glyph and the legend that take its place: no figure stands in it that could change. */
export function FirstGlyph({ device }: { device: string }) {
  return (
    <div class="path path-first" aria-hidden="true">
      <div class="glyph">
        <div class="glyph-names">
          <b>{device === "CPU" ? "Host" : device}</b>
        </div>
        <div class={device === "CPU" ? "" : "glyph-two"} />
      </div>
      <div class="path-parts path-coming">
        <i />
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}

interface PathPartsProps extends Parts {
  device: string;
  /** Of how many steps the parts are the sum. */
  steps?: number;
  /** What each group takes whether or not it is on the path, ns. */
  all?: Readonly<Record<string, number>> | undefined;
}

/** What the path of a step is made of: the legend, with figures. A third line says of what that is a part. */
export function PathParts({ parts, device, steps = 1, all }: PathPartsProps) {
  return (
    <dl class="path-parts">
      {withAll(groupTimes({ parts }, device), all, device).map((item) => (
        <div key={item.key}>
          <dt>
            <Swatch item={item} /> {item.label}
          </dt>
          <dd title={formatExactTime(Math.round(item.ns / steps))}>
            <strong>{item.ns ? formatTime(item.ns / steps) : "0"}</strong>{" "}
            {item.ns ? formatShare(item.share) : ""}
          </dd>
          {item.all === null ? null : <dd class="path-all">of {formatTime(item.all)} in all</dd>}
        </div>
      ))}
    </dl>
  );
}
