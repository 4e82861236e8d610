/** One row of stretches that follow each other, of which a part can be chosen: drag, or arrows with Shift. */

import type { TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { firstWhere } from "../../base/bisect";
import { clamp } from "../../base/clamp";
import { useId } from "../../base/id";
import { formatTime } from "../../base/units";
import { TimeTicks } from "./TimeTicks";
import { fillOf, Hatches } from "./hatch";
import { MOVES } from "./moves";
import { useWidth } from "./size";
import type { Series } from "./stack";
import type { Window } from "./Staircase";

interface RibbonProps {
  label: string;
  series: readonly Series[];
  stretches: readonly Stretch[];
  /** A stretch in words. */
  describe: (index: number) => string;
  /** Of several ribbons on one scale: the length of the longest. */
  scale: number;
  chosen: Window | null;
  onChoose: (part: Window | null) => void;
  /** The stretch under the pointer or the cursor; `null`: none. */
  onPoint: (index: number | null) => void;
}

const HEIGHT = 44;
const TICKS = 20;
const LEAST_DRAG = 4;

export function Ribbon(props: RibbonProps) {
  const { label, stretches, describe, scale, chosen } = props;
  const root = useRef<HTMLDivElement>(null);
  const id = useId("ribbon");
  const whole = wholeOf(stretches);
  const length = Math.max(1, whole.t1 - whole.t0);
  const width = Math.max(60, useWidth(root) * Math.min(1, length / Math.max(1, scale)));
  const x = (time: number): number => ((time - whole.t0) / length) * width;
  const { at, draft, handlers } = usePart(props, whole, width);
  const part = draft ?? inside(chosen, whole);
  const spoken = at === null ? "" : describe(at);
  const range = part ? `chosen: ${formatTime(part.t1 - part.t0)}` : "";
  return (
    <div class="ribbon" ref={root}>
      <svg
        width={width}
        height={HEIGHT + TICKS}
        role="slider"
        tabindex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={stretches.length - 1}
        aria-valuenow={at ?? 0}
        aria-valuetext={[spoken || describe(0), range].filter(Boolean).join("; ")}
        {...handlers}
      >
        <Stretches {...props} id={id} whole={whole} width={width} />
        <TimeTicks
          window={{ t0: 0, t1: length }}
          plot={width}
          x={(time) => x(time + whole.t0)}
          y={HEIGHT + 15}
        />
        {part ? (
          <g class="ribbon-part" aria-hidden="true">
            <rect x={0} width={x(part.t0)} height={HEIGHT} />
            <rect x={x(part.t1)} width={Math.max(0, width - x(part.t1))} height={HEIGHT} />
            <path d={`M${x(part.t0)},0v${HEIGHT}M${x(part.t1)},0v${HEIGHT}`} />
          </g>
        ) : null}
        {at !== null && stretches[at] ? (
          <rect
            class="ribbon-at"
            x={x(stretches[at].t0)}
            width={Math.max(1, x(stretches[at].t1) - x(stretches[at].t0))}
            y={0.5}
            height={HEIGHT - 1}
          />
        ) : null}
      </svg>
    </div>
  );
}

function wholeOf(stretches: readonly Stretch[]): Window {
  return { t0: stretches[0]?.t0 ?? 0, t1: stretches[stretches.length - 1]?.t1 ?? 1 };
}

/** What of a chosen part is in this ribbon. */
function inside(chosen: Window | null, whole: Window): Window | null {
  if (!chosen || chosen.t1 <= whole.t0 || chosen.t0 >= whole.t1) return null;
  return { t0: Math.max(whole.t0, chosen.t0), t1: Math.min(whole.t1, chosen.t1) };
}

type StretchesProps = Pick<RibbonProps, "series" | "stretches"> & {
  id: string;
  whole: Window;
  width: number;
};

/** Drawn anew only when they change, not with the pointer. */
function Stretches({ series, stretches, id, whole: { t0, t1 }, width }: StretchesProps) {
  return useMemo(() => {
    const x = (time: number): number => ((time - t0) / Math.max(1, t1 - t0)) * width;
    return (
      <g aria-hidden="true" shape-rendering="crispEdges">
        <Hatches id={id} series={series} />
        {stretches.map((stretch) => (
          <rect
            key={stretch.t0}
            x={x(stretch.t0)}
            width={x(stretch.t1) - x(stretch.t0)}
            height={HEIGHT}
            style={{ fill: fillOf(id, series, stretch.series) }}
          />
        ))}
      </g>
    );
  }, [series, stretches, id, t0, t1, width]);
}

function usePart(props: RibbonProps, whole: Window, width: number) {
  const { stretches, chosen, onChoose, onPoint } = props;
  const [at, setAt] = useState<number | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const [draft, setDraft] = useState<Window | null>(null);
  const point = (index: number | null): void => {
    if (index === at) return;
    setAt(index);
    onPoint(index);
  };
  const timeOf = (event: TargetedPointerEvent<SVGSVGElement>): number => {
    const share = (event.clientX - event.currentTarget.getBoundingClientRect().left) / width;
    return Math.round(whole.t0 + clamp(share, 0, 1) * (whole.t1 - whole.t0));
  };
  const onPointerDown = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setFrom(timeOf(event));
  };
  const onPointerMove = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const time = timeOf(event);
    point(stretchAt(stretches, time));
    if (from !== null && (Math.abs(time - from) / (whole.t1 - whole.t0)) * width >= LEAST_DRAG)
      setDraft({ t0: Math.min(from, time), t1: Math.max(from, time) });
  };
  const onPointerUp = (): void => {
    if (draft) onChoose(draft);
    setFrom(null);
    setDraft(null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const part = inside(chosen, whole);
    const cursor = stretches[at ?? 0];
    const next = part && movedPart(part, event.key, event.shiftKey, whole);
    const by = MOVES[event.key];
    if (event.key === "Escape") onChoose(null);
    else if (next) {
      onChoose(next);
      point(stretchAt(stretches, event.shiftKey ? next.t1 - 1 : next.t0));
    } else if ((event.key === "Enter" || event.key === " " || event.shiftKey) && cursor)
      onChoose({ t0: cursor.t0, t1: cursor.t1 });
    else if (by) point(clamp((at ?? -1) + by, 0, stretches.length - 1));
    else return;
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
      onDblClick: () => onChoose(null),
    },
  };
}

export interface Stretch extends Window {
  /** Place of its series. */
  series: number;
}

/** Of the whole, per key. */
const STEP = 0.01;
const FAR = 0.1;

/** The stretch at a time; they follow each other without a hole. */
export function stretchAt(stretches: readonly Stretch[], time: number): number {
  const after = firstWhere(0, stretches.length, (i) => (stretches[i]?.t0 ?? 0) > time);
  return Math.max(0, after - 1);
}

const SHARES: Readonly<Record<string, number>> = {
  ArrowLeft: -STEP,
  ArrowRight: STEP,
  PageDown: FAR,
  PageUp: -FAR,
  Home: -1,
  End: 1,
};

/** A chosen part after a key: moved as it is, or with its end moved alone; `null`: the key does nothing. */
export function movedPart(
  { t0, t1 }: Window,
  key: string,
  endOnly: boolean,
  whole: Window,
): Window | null {
  const share = SHARES[key];
  if (share === undefined) return null;
  const by = Math.round(share * (whole.t1 - whole.t0));
  if (endOnly) {
    const least = t0 + Math.max(1, Math.round(STEP * (whole.t1 - whole.t0)));
    return { t0, t1: clamp(t1 + by, Math.min(least, whole.t1), whole.t1) };
  }
  const shift = clamp(by, whole.t0 - t0, whole.t1 - t1);
  return { t0: t0 + shift, t1: t1 + shift };
}
