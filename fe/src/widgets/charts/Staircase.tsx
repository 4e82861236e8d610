/** Curves of what holds until it changes: drag to zoom, click for an instant, or both by keyboard. */

import type { TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { firstWhere } from "../../base/bisect";
import { clamp } from "../../base/clamp";
import { format, formatTime, type Unit } from "../../base/units";
import { TimeTicks } from "./TimeTicks";
import { GridLines, LEFT, TOP, YTicks } from "./axes";
import { linearAxis } from "./axes";
import { MOVES } from "./moves";
import { useWidth } from "./size";

export interface StairLine {
  label: string;
  color: string;
  values: readonly (number | null)[];
}

interface StaircaseProps {
  label: string;
  unit: Unit;
  time: readonly number[];
  /** The first one is filled, unless there are areas. */
  lines: readonly StairLine[];
  /** Stacked on each other, below the lines. */
  areas: readonly (StairLine & { values: readonly number[] })[];
  window: Window;
  whole: Window;
  bands: readonly (Window & { label: string })[];
  peak: { time: number; value: number };
  picked: number;
  onWindow: (window: Window | null) => void;
  onPick: (time: number) => void;
}

const BOTTOM = 24;
const PLOT = 120;
/** Stops of the keyboard across the window. */
const STOPS = 200;
const LEAST_DRAG = 4;

export function Staircase(props: StaircaseProps) {
  const { label, unit, time, lines, areas, window, picked, peak } = props;
  const root = useRef<HTMLDivElement>(null);
  const plot = Math.max(80, useWidth(root) - LEFT - 8);
  const { at, from, pointed, handlers } = useInstant(props, plot);
  const x = (t: number): number => LEFT + ((t - window.t0) / (window.t1 - window.t0)) * plot;
  // Of an instant outside the window the curves say nothing.
  const shown = at ?? (picked >= window.t0 && picked <= window.t1 ? picked : peak.time);
  const point = pointAt(time, shown);
  const values = [...lines, ...areas].map(
    (line) => `${line.label} ${format(line.values[point], unit)}`,
  );
  return (
    <div class="stacked" ref={root}>
      <ul class="legend-line stair-legend">
        <li>
          at <span class="number">{formatTime(shown)}</span>
        </li>
        {[...lines, ...areas].map((line) => (
          <li key={line.label}>
            <span class="swatch" style={{ background: line.color }} />
            {line.label} <span class="number">{format(line.values[point], unit)}</span>
          </li>
        ))}
      </ul>
      <svg
        class={`stair${pointed ? " stair-pointed" : ""}`}
        width={LEFT + plot + 8}
        height={TOP + PLOT + BOTTOM}
        role="slider"
        tabindex={0}
        aria-label={`${label}. Arrows move, Enter chooses the instant, plus and minus zoom, Escape shows all`}
        aria-valuemin={window.t0}
        aria-valuemax={window.t1}
        aria-valuenow={shown}
        aria-valuetext={`${formatTime(shown)}: ${values.join(", ")}`}
        {...handlers}
      >
        <Curves {...props} plot={plot} />
        {from !== null && at !== null ? (
          <rect
            class="stair-chosen"
            x={Math.min(x(from), x(at))}
            width={Math.abs(x(at) - x(from))}
            y={TOP}
            height={PLOT}
          />
        ) : null}
        {[picked, at].map((t, i) =>
          t !== null && t >= window.t0 && t <= window.t1 ? (
            <path key={i} class={i ? "stair-at" : "stair-picked"} d={`M${x(t)},${TOP}v${PLOT}`} />
          ) : null,
        )}
      </svg>
    </div>
  );
}

function useInstant({ window, whole, picked, onWindow, onPick }: StaircaseProps, plot: number) {
  const [at, setAt] = useState<number | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  // Some browsers show the focus after a drag too; it is for the keyboard.
  const [pointed, setPointed] = useState(false);
  const span = window.t1 - window.t0;
  const timeOf = (event: TargetedPointerEvent<SVGSVGElement>): number => {
    const share = (event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / plot;
    return Math.round(window.t0 + clamp(share, 0, 1) * span);
  };
  const onPointerDown = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setPointed(true);
    setFrom(timeOf(event));
  };
  const onPointerUp = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const to = timeOf(event);
    setFrom(null);
    if (from === null) return;
    if ((Math.abs(to - from) / span) * plot < LEAST_DRAG) onPick(to);
    else onWindow({ t0: Math.min(from, to), t1: Math.max(from, to) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    setPointed(false);
    const inside = clamp(at ?? picked, window.t0, window.t1);
    const by = MOVES[event.key];
    if (by) {
      const stop = Math.round(((inside - window.t0) / span) * STOPS) + by;
      setAt(Math.round(window.t0 + (clamp(stop, 0, STOPS) / STOPS) * span));
    } else if (event.key === "Enter" || event.key === " ") onPick(inside);
    else if (event.key === "+") onWindow(zoomed(window, inside, 0.5, whole));
    else if (event.key === "-") onWindow(zoomed(window, inside, 2, whole));
    else if (event.key === "Escape") onWindow(null);
    else return;
    event.preventDefault();
  };
  const onBlur = (): void => setAt(null);
  const onPointerMove = (event: TargetedPointerEvent<SVGSVGElement>): void => setAt(timeOf(event));
  const pointers = { onPointerDown, onPointerMove, onPointerUp, onPointerLeave: onBlur };
  return { at, from, pointed, handlers: { ...pointers, onBlur, onKeyDown } };
}

function Curves(props: StaircaseProps & { plot: number }) {
  const { unit, time, lines, areas, bands, peak, plot } = props;
  const { t0, t1 } = props.window;
  return useMemo(() => {
    const window = { t0, t1 };
    const largest = [...lines, ...areas].reduce(
      (most, line) => line.values.reduce<number>((of, value) => Math.max(of, value ?? 0), most),
      peak.value,
    );
    const axis = linearAxis(largest, unit, 4);
    const x = (t: number): number => LEFT + ((clamp(t, t0, t1) - t0) / (t1 - t0)) * plot;
    const y = (value: number): number => TOP + PLOT - (value / axis.max) * PLOT;
    const sums = stacked(areas.map((area) => area.values));
    return (
      <g aria-hidden="true">
        {bands.map((band, i) =>
          band.t1 > t0 && band.t0 < t1 ? (
            <Band key={i} odd={i % 2 > 0} label={band.label} left={x(band.t0)} right={x(band.t1)} />
          ) : null,
        )}
        <GridLines axis={axis} plot={PLOT} left={LEFT} width={plot} />
        <YTicks axis={axis} plot={PLOT} />
        <TimeTicks {...{ window, plot, x }} y={TOP + PLOT + 17} />
        {[...areas.keys()].reverse().map((i) => (
          <path
            key={`area ${i}`}
            class="stair-area"
            style={{ fill: areas[i]?.color }}
            d={stairPath(time, sums[i] ?? [], window, x, y, TOP + PLOT)}
          />
        ))}
        {lines.map((line, i) => [
          i || areas.length ? null : (
            <path
              class="stair-soft"
              style={{ fill: line.color }}
              d={stairPath(time, line.values, window, x, y, TOP + PLOT)}
            />
          ),
          <path
            class={`stair-line${i ? " stair-dashed" : ""}`}
            style={{ stroke: line.color }}
            d={stairPath(time, line.values, window, x, y)}
          />,
        ])}
        {peak.time >= t0 && peak.time <= t1 ? (
          <Peak
            x={x(peak.time)}
            y={y(peak.value)}
            text={`peak ${format(peak.value, unit)}`}
            end={LEFT + plot}
          />
        ) : null}
      </g>
    );
  }, [unit, time, lines, areas, t0, t1, bands, peak, plot]);
}

interface BandProps {
  odd: boolean;
  label: string;
  left: number;
  right: number;
}

function Band({ odd, label, left, right }: BandProps) {
  return (
    <>
      <rect
        class={odd ? "stair-odd" : "stair-band"}
        x={left}
        width={right - left}
        y={TOP}
        height={PLOT}
      />
      {right - left > label.length * 6.6 ? (
        <text x={(left + right) / 2} y={TOP - 6} text-anchor="middle">
          {label}
        </text>
      ) : null}
    </>
  );
}

function Peak({ x, y, text, end }: { x: number; y: number; text: string; end: number }) {
  const leftwards = x + text.length * 7 > end;
  return (
    <>
      <circle class="stair-peak" cx={x} cy={y} r={4} />
      <text
        class="stair-peak"
        x={leftwards ? x - 8 : x + 8}
        y={Math.max(TOP + 10, y - 5)}
        text-anchor={leftwards ? "end" : "start"}
      >
        {text}
      </text>
    </>
  );
}

export interface Window {
  t0: number;
  t1: number;
}

/** The path of a staircase through the points inside the window; null leaves a gap. `close`: the height down to which an area is filled. */
export function stairPath(
  time: readonly number[],
  values: readonly (number | null)[],
  { t0, t1 }: Window,
  x: (t: number) => number,
  y: (value: number) => number,
  close: number | null = null,
): string {
  let path = "";
  let open = false;
  const text = (value: number): string => `${Math.round(value * 10) / 10}`;
  const end = (t: number): void => {
    path += `H${text(x(Math.min(t, t1)))}`;
    if (close !== null) path += `V${close}Z`;
    open = false;
  };
  for (const [i, t] of time.entries()) {
    const value = values[i] ?? null;
    if (t > t1) break;
    if (value === null) {
      if (open) end(t);
      continue;
    }
    const [left, top] = [text(x(Math.max(t, t0))), text(y(value))];
    path += open ? `H${left}V${top}` : `M${left},${close ?? top}V${top}`;
    open = true;
  }
  if (open) end(t1);
  return path;
}

/** Each list on top of those before it: the sums up to and including it. */
export function stacked(lists: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const list of lists) {
    const below = sums[sums.length - 1];
    sums.push(list.map((value, i) => value + (below?.[i] ?? 0)));
  }
  return sums;
}

/** The point whose value holds at a time; −1 before the first. */
export function pointAt(time: readonly number[], t: number): number {
  return firstWhere(0, time.length, (i) => (time[i] ?? 0) > t) - 1;
}

/** A window of another length around a time that stays where it is, inside the whole. */
export function zoomed({ t0, t1 }: Window, around: number, factor: number, whole: Window): Window {
  const length = Math.min(whole.t1 - whole.t0, Math.max(1, Math.round((t1 - t0) * factor)));
  const begin = Math.round(around - ((around - t0) / (t1 - t0)) * length);
  const from = clamp(begin, whole.t0, whole.t1 - length);
  return { t0: from, t1: from + length };
}
