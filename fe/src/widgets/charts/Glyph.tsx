/** A step as two lanes and a path: what the device and its host did, and, between them, what the end of the step waited for. */

import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { useId } from "../../base/id";
import { formatTime } from "../../base/units";
import {
  drawGlyph,
  type GlyphSize,
  isPale,
  type Lane,
  type LaneColumns,
  mainRuns,
  shareAt,
  SIZES,
  timeAt,
} from "./glyph";
import { fillOf, Hatches } from "./hatch";
import { useWidth } from "./size";
import type { Series } from "./stack";
import type { Window } from "./Staircase";
import { TimeTicks } from "./TimeTicks";

export interface GlyphStretch extends Window {
  /** In words: what, from when to when, where. */
  text: string;
}

export interface GlyphProps {
  lanes: LaneColumns;
  /** When the step begins, ns. */
  start: number;
  /** What the device is called. */
  device: string;
  /** For a screen reader: the step, its path and how busy the device was. */
  label: string;
  size?: GlyphSize;
  /** Categories with their looks. */
  looks: readonly Series[];
  /** What stands left of a lane. */
  names: Readonly<Record<Lane, ComponentChildren>>;
  /** Of several on one scale: the length of the longest. */
  scale?: number;
  /** Names of ranks where the path comes to them. */
  ranks?: readonly { name: string; start_ns: number }[];
  stretches?: readonly GlyphStretch[];
  chosen?: Window | null;
  onChoose?: (part: Window | null) => void;
  /** The stretch under the pointer or the cursor; `null`: none. */
  onPoint?: (index: number | null) => void;
  onOpen?: (part: Window) => void;
  /** Whether times stand below it. */
  axis?: boolean;
  /** What stands behind its end where it is shorter than the longest. */
  rest?: ComponentChildren;
}

const RAIL = 18;
const PHASES = 14;
const TICKS = 20;
/** Px of a letter of a name, about. */
const LETTER = 6;
const LEAST_DRAG = 4;

export function Glyph(props: GlyphProps) {
  const {
    lanes,
    start,
    device,
    label,
    size = "full",
    names,
    scale,
    ranks = [],
    stretches = [],
  } = props;
  const { axis = true, looks, chosen, rest } = props;
  const root = useRef<HTMLDivElement>(null);
  const id = useId("glyph");
  const all = useWidth(root);
  const longest = Math.max(1, scale ?? 0, lanes.shown_ns);
  const width = Math.max(8, Math.round((all * lanes.shown_ns) / longest));
  const x = (time: number): number => shareAt(lanes, start, time) * width;
  const drawn = useMemo(() => drawGlyph(lanes, width, size), [lanes, width, size]);
  const rail = ranks.length || lanes.cuts.length ? RAIL : 0;
  const foot = size === "full" ? PHASES : 0;
  const whole = rail + drawn.height + foot + (axis ? TICKS : 0);
  const { at, draft, handlers } = usePointing(props, width);
  const part = draft ?? chosen;
  const pointed = at === null ? undefined : stretches[at];
  const { lane: high, gutter } = SIZES[size];
  return (
    <div class={`glyph glyph-${size}`}>
      <div class="glyph-names" style={{ paddingTop: `${rail}px` }} aria-hidden="true">
        {drawn.lanes.map((lane) => (
          <div key={lane} style={{ height: `${high + (lane === "device" ? gutter : 0)}px` }}>
            {names[lane]}
          </div>
        ))}
      </div>
      <div class="glyph-plot" ref={root} role="group" tabIndex={0} aria-label={label} {...handlers}>
        <svg
          width={all}
          height={whole}
          viewBox={`0 0 ${all} ${whole}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <Hatches id={id} series={looks} />
          <Rail {...{ device, ranks, lanes, x, width }} />
          <g transform={`translate(0 ${rail})`}>
            <Parts {...{ drawn, looks, id, width, high }} />
            {lanes.cuts.map(({ start_ns }) => (
              <g key={start_ns} class="glyph-cut">
                <rect x={x(start_ns) - 2.5} y={-4} width={5} height={drawn.height + 4} />
                <path d={`M${x(start_ns) - 2.5} -4v${drawn.height + 4}m5 0v${-drawn.height - 4}`} />
              </g>
            ))}
            {foot ? <Phases {...{ lanes, looks, width, y: drawn.height + 11 }} /> : null}
            {axis ? (
              <TimeTicks
                window={{ t0: 0, t1: longest }}
                plot={all}
                x={(time) => (time / longest) * all}
                y={drawn.height + foot + 15}
              />
            ) : null}
            {part ? (
              <g class="glyph-part">
                <rect width={Math.max(0, x(part.t0))} height={drawn.height} />
                <rect
                  x={x(part.t1)}
                  width={Math.max(0, width - x(part.t1))}
                  height={drawn.height}
                />
              </g>
            ) : null}
            {pointed ? (
              <rect
                class="glyph-at"
                x={x(pointed.t0)}
                width={Math.max(1, x(pointed.t1) - x(pointed.t0))}
                y={0.5}
                height={drawn.height - 1}
              />
            ) : null}
          </g>
        </svg>
        {rest && width < all ? (
          <div
            class="glyph-rest"
            style={{ left: `${width}px`, top: `${rail}px`, height: `${drawn.height}px` }}
          >
            {rest}
          </div>
        ) : null}
        <span class="visually-hidden" aria-live="polite">
          {pointed?.text}
          {chosen ? `; chosen: ${formatTime(chosen.t1 - chosen.t0)}` : ""}
        </span>
      </div>
    </div>
  );
}

type Drawn = ReturnType<typeof drawGlyph>;

interface PartsProps {
  drawn: Drawn;
  looks: readonly Series[];
  id: string;
  width: number;
  high: number;
}

/** Drawn anew only when they change, not with the pointer. */
function Parts({ drawn, looks, id, width, high }: PartsProps) {
  return useMemo(() => {
    const fill = (category: string): string =>
      fillOf(
        id,
        looks,
        looks.findIndex(({ key }) => key === category),
      );
    const color = (category: string): string =>
      looks.find(({ key }) => key === category)?.color ?? "";
    return (
      <g>
        {drawn.lanes.map((lane, place) => (
          <rect
            key={lane}
            class="glyph-lane"
            y={place || lane === "host" ? drawn.height - high : 0}
            width={width}
            height={high}
          />
        ))}
        {drawn.parts.map(({ lane, category, on, area, edge }) => {
          const pale = isPale(category, on);
          return (
            <g key={`${lane} ${category} ${on}`}>
              <path class={pale ? "glyph-pale" : ""} d={area} style={{ fill: fill(category) }} />
              {pale ? (
                <path class="glyph-edge" d={edge} style={{ stroke: color(category) }} />
              ) : null}
            </g>
          );
        })}
        <path class="glyph-weave" d={drawn.weave} />
        <path class="glyph-path" d={drawn.path} stroke-width={high > 20 ? 3 : 2} />
      </g>
    );
  }, [drawn, looks, id, width, high]);
}

interface RailProps {
  device: string;
  ranks: readonly { name: string; start_ns: number }[];
  lanes: LaneColumns;
  x: (time: number) => number;
  width: number;
}

/** The rank under the path at each change, and what is cut out; a name stands only where it fits. */
function Rail({ device, ranks, lanes, x, width }: RailProps) {
  const marks = [
    ...ranks.map(({ name, start_ns }) => ({ text: name, at: x(start_ns) })),
    ...lanes.cuts.map(({ start_ns, length_ns }) => ({
      text: `nothing recorded on the ${device} for ${formatTime(length_ns)}`,
      at: x(start_ns) + 2,
    })),
  ].sort((a, b) => a.at - b.at);
  return (
    <g class="glyph-rail">
      {fitting(marks.map(({ text, at }, i) => ({ text, at, end: marks[i + 1]?.at ?? width }))).map(
        ({ text, at }) => (
          <g key={at}>
            <path d={`M${at + 0.5} 0v14`} />
            <text x={at + 5} y={11}>
              {text}
            </text>
          </g>
        ),
      )}
    </g>
  );
}

interface Mark {
  text: string;
  at: number;
  end: number;
}

const fitting = (marks: readonly Mark[]): Mark[] =>
  marks.filter(({ text, at, end }) => text.length * LETTER + 6 <= end - at);

/** The phases of the host, each named once, where its longest stretch begins. */
function Phases({
  lanes,
  looks,
  width,
  y,
}: Pick<GlyphProps, "lanes" | "looks"> & { width: number; y: number }) {
  const runs = mainRuns(lanes, "host").map(({ category, from, to }) => ({
    text: looks.find(({ key }) => key === category)?.label ?? "",
    at: from * width,
    end: to * width,
  }));
  return (
    <g class="glyph-phases">
      {fitting(runs.filter(({ text }) => text)).map(({ text, at }) => (
        <text key={text} x={at} y={y}>
          {text}
        </text>
      ))}
    </g>
  );
}

function usePointing(props: GlyphProps, width: number) {
  const { lanes, start, stretches = [], onChoose, onPoint, onOpen } = props;
  const [at, setAt] = useState<number | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const [draft, setDraft] = useState<Window | null>(null);
  const point = (index: number | null): void => {
    if (index === at) return;
    setAt(index);
    onPoint?.(index);
  };
  const shareOf = (event: TargetedPointerEvent<HTMLDivElement>): number =>
    clamp((event.clientX - event.currentTarget.getBoundingClientRect().left) / width, 0, 1);
  const onPointerDown = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0 || !onChoose) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setFrom(shareOf(event));
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    const share = shareOf(event);
    const time = timeAt(lanes, start, share);
    const found = stretches.findIndex(({ t0, t1 }) => time >= t0 && time < t1);
    point(found < 0 ? null : found);
    if (from !== null && Math.abs(share - from) * width >= LEAST_DRAG)
      setDraft({
        t0: timeAt(lanes, start, Math.min(from, share)),
        t1: timeAt(lanes, start, Math.max(from, share)),
      });
  };
  const onPointerUp = (): void => {
    if (draft) onChoose?.(draft);
    setFrom(null);
    setDraft(null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const stretch = stretches[at ?? -1];
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const by = event.key === "ArrowRight" ? 1 : -1;
      const next = at === null ? (by > 0 ? 0 : stretches.length - 1) : at + by;
      point(clamp(next, 0, stretches.length - 1));
    } else if (event.key === "Enter" && stretch) onOpen?.(stretch);
    else if (event.key === " " && stretch) onChoose?.(stretch);
    else if (event.key === "Escape" && (at !== null || props.chosen)) {
      point(null);
      onChoose?.(null);
    } else return;
    event.preventDefault();
    // Escape closes other things as well.
    event.stopPropagation();
  };
  const leave = (): void => point(null);
  return {
    at,
    draft,
    handlers: {
      ...{ onPointerDown, onPointerMove, onPointerUp, onKeyDown },
      onPointerLeave: leave,
      onBlur: leave,
      onDblClick: () => onChoose?.(null),
    },
  };
}
