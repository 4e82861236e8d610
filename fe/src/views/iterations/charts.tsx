/** The times of iterations by tokens. */

import type { ComponentChildren, RefObject, TargetedPointerEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { formatCount, formatTime } from "../../base/units";
import { PointTip, useWidth } from "../../widgets";
import { LEFT, TOP } from "../../widgets/charts/axes";
import { MOVES } from "../../widgets/charts/moves";
import { type Drawn, lengthOf, LOOKS, logScale } from "./model";

interface ChartProps {
  bars: readonly Drawn[];
  /** The step that is chosen alone. */
  chosen: number | null;
  onChoose: (step: number) => void;
}

export function Legend({ bars }: { bars: readonly Drawn[] }) {
  const looks = LOOKS.filter(({ key }) => bars.some(({ look }) => look === key));
  return (
    <ul class="legend-line">
      {looks.map(({ key, label }) => (
        <li key={key}>
          <span class={`swatch iteration-${key}`} />
          {label}
        </li>
      ))}
      {bars.some(({ odd }) => odd) ? (
        <li>
          <span class="swatch iteration-odd" />
          odd
        </li>
      ) : null}
    </ul>
  );
}

/** What pointer and keys lead to in a chart of all iterations, in the order of `order`. */
function useCursor({ bars, chosen, onChoose }: ChartProps, order: readonly number[]) {
  const [at, setAt] = useState<number | null>(null);
  const [spoken, setSpoken] = useState(false);
  const choose = (): void => {
    const bar = at === null ? undefined : bars[at];
    if (bar) onChoose(bar.step);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = MOVES[event.key];
    if (event.key === "Escape") setAt(null);
    else if (event.key === "Enter" || event.key === " ") choose();
    else if (by)
      setAt(order[at === null ? 0 : clamp(order.indexOf(at) + by, 0, order.length - 1)] ?? null);
    else return;
    event.preventDefault();
  };
  const active = at === null ? undefined : bars[at];
  return {
    active,
    isMarked: (bar: Drawn) => bar === active || bar.step === chosen,
    setAt,
    told: spoken ? textOf(active) : "",
    events: {
      tabIndex: 0,
      role: "group" as const,
      onKeyDown,
      onClick: choose,
      onFocus: () => setSpoken(true),
      onBlur: () => {
        setSpoken(false);
        setAt(null);
      },
      onPointerLeave: () => setAt(null),
    },
  };
}

const textOf = (bar: Drawn | undefined): string =>
  bar
    ? `${bar.title}; ${bar.figures.map(([name, text]) => `${name.toLowerCase()} ${text}`).join(", ")}`
    : "";

interface FrameProps {
  root: RefObject<HTMLDivElement | null>;
  width: number;
  height: number;
  label: string;
  cursor: ReturnType<typeof useCursor>;
  /** The iteration at a place of the chart, px. */
  under: (x: number, y: number) => number | null;
  /** What marks the active iteration: its figures stand beside it. */
  mark: RefObject<Element | null>;
  children: ComponentChildren;
}

function Frame({ root, width, height, label, cursor, under, mark, children }: FrameProps) {
  const { active, setAt, told, events } = cursor;
  const point = ({
    clientX,
    clientY,
    currentTarget,
  }: TargetedPointerEvent<SVGSVGElement>): void => {
    const { left, top } = currentTarget.getBoundingClientRect();
    setAt(under(clientX - left, clientY - top));
  };
  return (
    <div class="stacked iterations-chart" ref={root}>
      <svg
        {...{ width, height }}
        {...events}
        aria-label={`${label} iterations; the arrow keys move, Enter chooses`}
        onPointerMove={point}
      >
        <g aria-hidden="true">{children}</g>
      </svg>
      <span class="visually-hidden" role="status">
        {told}
      </span>
      {active ? (
        <PointTip point={active} box={() => mark.current?.getBoundingClientRect()} />
      ) : null}
    </div>
  );
}

const HEIGHT = 256;
/** More marks would hide each other; the table has every iteration. */
const MOST_MARKS = 2000;

/** Time by tokens on logarithmic axes; iterations whose tokens are unknown have no mark. */
export function ByTokens(props: ChartProps) {
  const { bars } = props;
  const root = useRef<HTMLDivElement>(null);
  const mark = useRef<SVGPathElement>(null);
  const width = Math.max(160, useWidth(root) - LEFT - 12);
  const marks = useMemo(() => marksOf(bars), [bars]);
  const cursor = useCursor(props, marks);
  const known = useMemo(() => marks.flatMap((index) => bars[index] ?? []), [bars, marks]);
  const across = useMemo(() => logScale(known.map(tokensOr1)), [known]);
  const up = useMemo(() => logScale(known.map(lengthOf)), [known]);
  const plot = HEIGHT - TOP - 36;
  const x = (value: number): number => LEFT + across.at(value) * width;
  const y = (value: number): number => TOP + (1 - up.at(value)) * plot;
  const under = (px: number, py: number): number | null => {
    let [nearest, least] = [null as number | null, 24 ** 2];
    for (const index of marks) {
      const bar = bars[index];
      const far = bar ? (x(tokensOr1(bar)) - px) ** 2 + (y(lengthOf(bar)) - py) ** 2 : Infinity;
      if (far < least) [nearest, least] = [index, far];
    }
    return nearest;
  };
  return (
    <Frame
      {...{ root, mark, cursor, under }}
      width={LEFT + width + 12}
      height={HEIGHT}
      label={`Time by tokens, ${marks.length}`}
    >
      {across.ticks.map((tick) => (
        <g key={tick}>
          <line class="axis-grid" x1={x(tick)} x2={x(tick)} y1={TOP} y2={TOP + plot} />
          <text x={x(tick)} y={TOP + plot + 16} text-anchor="middle">
            {formatCount(tick)}
          </text>
        </g>
      ))}
      {up.ticks.map((tick) => (
        <g key={tick}>
          <line class="axis-grid" x1={LEFT} x2={LEFT + width} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
            {formatTime(tick).replace(/\.0+ /, " ")}
          </text>
        </g>
      ))}
      <text class="axis-unit" x={LEFT + width} y={HEIGHT - 4} text-anchor="end">
        tokens of the iteration
      </text>
      {known.map((bar) => (
        <path
          key={bar.step}
          ref={bar === cursor.active ? mark : null}
          class={`iteration-mark iteration-${bar.odd ? "odd-mark" : bar.look}${cursor.isMarked(bar) ? " iteration-marked" : ""}`}
          d={shapeOf(bar, x(tokensOr1(bar)), y(lengthOf(bar)))}
        />
      ))}
    </Frame>
  );
}

const tokensOr1 = ({ tokens }: Drawn): number => tokens ?? 1;

/** Decodes are round, the others square. */
const shapeOf = ({ look }: Drawn, x: number, y: number): string =>
  look === "decode" ? `M${x - 4},${y}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z` : `M${x - 4},${y - 4}h8v8h-8z`;

/** The iterations that have a mark, by tokens. */
export function marksOf(bars: readonly Drawn[]): number[] {
  const known = [...bars.keys()].filter((i) => bars[i]?.tokens && lengthOf(bars[i]) > 0);
  const every = Math.ceil(known.length / MOST_MARKS);
  return known
    .filter((i, place) => place % every === 0 || bars[i]?.odd)
    .sort((a, b) => (bars[a]?.tokens ?? 0) - (bars[b]?.tokens ?? 0));
}
