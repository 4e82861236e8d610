import { type ComponentChildren, Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { useId } from "../../base/id";
import { format, formatShare, type Unit } from "../../base/units";
import { Pure } from "../pure";
import { Floating, Term } from "../tooltip";
import { GridLines, LEFT, lineY, TOP, YTicks } from "./axes";
import { linearAxis, type Axis } from "./axes";
import { fillOf, Hatches, Swatch } from "./hatch";
import { keysOfMarks } from "./moves";
import { useWidth } from "./size";
import {
  type LanePiece,
  piecesOf,
  slotsOf,
  type Series,
  type Slots,
  type StackedBar,
} from "./stack";

interface StackedBarsProps {
  label: string;
  series: readonly Series[];
  /** Of the parts of lanes. */
  looks?: readonly Series[];
  bars: readonly StackedBar[];
  unit: Unit;
  line?: { value: number; label: string };
  selected?: number | null;
  onSelect?: (key: number) => void;
  axisLabel?: string;
  height?: number;
  /** Off where something beside the chart says which colour is what. */
  legend?: boolean;
}

const NO_LOOKS: readonly Series[] = [];
/** Px of a bar from which on its lanes stand beside each other. */
const TWO_LANES = 14;
const BOTTOM = 22;
/** Room left of the first bar for the half of its label that is wider than the bar. */
const INSET = 6;
const LETTER = 6.6;

export function StackedBars(props: StackedBarsProps) {
  const {
    label,
    series,
    looks = NO_LOOKS,
    bars,
    unit,
    line,
    axisLabel = "step",
    height = 260,
    onSelect,
    legend = true,
  } = props;
  const hatch = useId("bars");
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const [active, setActive] = useState<number | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const largest = bars.reduce((most, bar) => Math.max(most, sumOf(bar)), line?.value ?? 0);
  const axis = useMemo(() => linearAxis(largest, unit), [largest, unit]);
  const plot = height - TOP - BOTTOM;
  const longest = bars.reduce((most, bar) => Math.max(most, bar.label.length), 1);
  const slots = useMemo(
    () => slotsOf(bars.length, width - LEFT - INSET - 2, longest * LETTER),
    [bars.length, width, longest],
  );
  const shown = active === null ? undefined : bars[active];
  const leave = (): void => setActive(null);
  const onKeyDown = keysOfMarks(
    active ?? 0,
    bars.length,
    (at) => svg.current?.querySelector<SVGGElement>(`[data-bar="${at}"]`)?.focus(),
    (at) => bars[at] && onSelect?.(bars[at].key),
    leave,
  );
  return (
    <div class="stacked">
      {legend ? (
        <SeriesLegend series={series}>
          {line ? (
            <li>
              <span class="axis-mean-sample" />
              {`${line.label} ${format(line.value, unit)}`}
            </li>
          ) : null}
        </SeriesLegend>
      ) : null}
      <div
        class="stacked-plot"
        ref={root}
        style={{ height: `${height + (slots.width > width - LEFT - INSET ? 14 : 0)}px` }}
      >
        <svg class="axis" width={LEFT} height={height} aria-hidden="true">
          <YTicks axis={axis} plot={plot} />
        </svg>
        <div class="stacked-scroll">
          <svg
            ref={svg}
            width={slots.width + INSET}
            height={height}
            viewBox={`0 0 ${slots.width + INSET} ${height}`}
            preserveAspectRatio="none"
            role="group"
            aria-label={`${label}, ${bars.length} bars`}
            onKeyDown={onKeyDown}
            onPointerLeave={leave}
          >
            <Hatches id={hatch} series={series} />
            <Hatches id={`${hatch}-lane`} series={looks} />
            <GridLines axis={axis} plot={plot} width={slots.width + INSET} />
            {bars.map((bar, index) => (
              <Bar
                key={bar.key}
                {...{ bar, index, series, looks, hatch, slots, axis, plot, unit, axisLabel }}
                selected={props.selected === bar.key}
                tabStop={index === (active ?? 0)}
                activate={setActive}
                onSelect={onSelect}
              />
            ))}
            {line ? (
              <path
                class="axis-mean"
                aria-hidden="true"
                pointer-events="none"
                d={`M0,${lineY(line.value, axis, plot)}h${slots.width + INSET}`}
              />
            ) : null}
          </svg>
        </div>
      </div>
      {shown && active !== null ? (
        <HoverBox
          bar={shown}
          {...{ series, unit }}
          anchor={svg.current?.querySelector(`[data-bar="${active}"] .bar-hit`)}
        />
      ) : null}
    </div>
  );
}

function sumOf(bar: StackedBar): number {
  return bar.values.reduce((sum, value) => sum + Math.max(0, value), 0);
}

interface LegendProps {
  series: readonly Series[];
  children?: ComponentChildren;
}

export function SeriesLegend({ series, children }: LegendProps) {
  return (
    <ul class="legend-line">
      {series.map((item) => (
        <li key={item.key}>
          <Swatch item={item} />
          {item.term ? <Term id={item.term}>{item.label}</Term> : item.label}
        </li>
      ))}
      {children}
    </ul>
  );
}

interface BarProps {
  bar: StackedBar;
  index: number;
  series: readonly Series[];
  looks: readonly Series[];
  /** The name of their patterns. */
  hatch: string;
  slots: Slots;
  axis: Axis;
  plot: number;
  unit: Unit;
  axisLabel: string;
  selected: boolean;
  tabStop: boolean;
  activate: (index: number | null) => void;
  onSelect: ((key: number) => void) | undefined;
}

class Bar extends Pure<BarProps> {
  override render(props: BarProps) {
    const { bar, index, series, hatch, slots, axis, plot, unit, axisLabel } = props;
    const { selected, tabStop, activate, onSelect } = props;
    const left = INSET + index * slots.slot;
    const x = left + (slots.slot - slots.bar) / 2;
    const middle = left + slots.slot / 2;
    const end = slots.width + INSET;
    const wide = middle + (bar.label.length * LETTER) / 2 > end;
    const total = sumOf(bar);
    const top = TOP + plot - (total / axis.max) * plot;
    const spoken = series
      .map((item, i) => `${item.label} ${format(bar.values[i], unit)}`)
      .join(", ");
    return (
      <g
        class={`stack-bar${bar.faded ? " faded" : ""}${selected ? " selected" : ""}`}
        data-bar={index}
        role="button"
        aria-label={`${bar.title}: ${format(total, unit)}. ${spoken}${bar.mark ? `. ${bar.mark}` : ""}`}
        aria-pressed={selected}
        tabindex={tabStop ? 0 : -1}
        onPointerEnter={() => activate(index)}
        onFocus={() => activate(index)}
        onBlur={() => activate(null)}
        onClick={() => onSelect?.(bar.key)}
      >
        <rect class="bar-hit" x={left} y={TOP} width={slots.slot} height={plot} />
        {bar.lanes?.length && slots.bar >= TWO_LANES ? (
          <Lanes {...props} lanes={bar.lanes} x={x} top={top} />
        ) : (
          piecesOf(bar.values, axis.max, plot).map((piece) => (
            <rect
              key={piece.series}
              class="stack-piece"
              x={x}
              y={TOP + piece.y}
              width={slots.bar}
              height={Math.max(0, piece.height - (piece.height > 2 ? 0.75 : 0))}
              style={{ fill: fillOf(hatch, series, piece.series) }}
            />
          ))
        )}
        {bar.mark ? (
          <rect
            class="bar-mark"
            x={x - 1.5}
            y={top - 1.5}
            width={slots.bar + 3}
            height={TOP + plot - top + 1.5}
          />
        ) : null}
        {index % slots.every === 0 ? (
          <text
            class="axis-label"
            x={wide ? end : middle}
            y={TOP + plot + 16}
            text-anchor={wide ? "end" : "middle"}
          >
            {index === 0 && slots.slot > 60 ? `${axisLabel} ${bar.label}` : bar.label}
          </text>
        ) : null}
      </g>
    );
  }
}

interface LanesProps extends Pick<BarProps, "looks" | "hatch" | "slots" | "axis" | "plot"> {
  lanes: readonly (readonly LanePiece[])[];
  x: number;
  top: number;
}

/** Lanes beside each other, all as high as the bar; what is beside the path is pale. */
function Lanes({ lanes, x, top, looks, hatch, slots, axis, plot }: LanesProps) {
  const wide = (slots.bar - 1) / lanes.length;
  return (
    <>
      {lanes.map((pieces, place) => {
        const left = x + place * (wide + 1);
        const values = pieces.map(({ value }) => value);
        return (
          <g key={place}>
            <rect class="lane-ground" x={left} y={top} width={wide} height={TOP + plot - top} />
            {piecesOf(values, axis.max, plot).map(({ series, y, height }) => (
              <rect
                key={series}
                class={pieces[series]?.pale ? "lane-pale" : ""}
                x={left}
                y={TOP + y}
                width={wide}
                height={height}
                style={{ fill: fillOf(`${hatch}-lane`, looks, pieces[series]?.look ?? 0) }}
              />
            ))}
          </g>
        );
      })}
    </>
  );
}

interface HoverBoxProps {
  bar: StackedBar;
  series: readonly Series[];
  unit: Unit;
  anchor: Element | null | undefined;
}

function HoverBox({ bar, series, unit, anchor }: HoverBoxProps) {
  const total = sumOf(bar);
  const beside = (tip: HTMLElement) => {
    const { right, top } = anchor?.getBoundingClientRect() ?? { right: 0, top: 0 };
    return { left: right + tip.offsetWidth / 2 + 8, width: 0, top, bottom: top };
  };
  return (
    <Floating box={beside} class="chart-tip">
      <strong>{bar.title}</strong>
      {bar.mark ? <div class="tip-mark">{bar.mark}</div> : null}
      {bar.note ? <div class="muted">{bar.note}</div> : null}
      <div class="tip-grid">
        {series
          .map((item, i) => (
            <Fragment key={item.key}>
              <Swatch item={item} />
              <span>{item.label}</span>
              <span class="number">{format(bar.values[i], unit)}</span>
              <span class="number muted">
                {formatShare(total > 0 ? (bar.values[i] ?? 0) / total : null)}
              </span>
            </Fragment>
          ))
          .reverse()}
        <span />
        <span class="tip-total">total</span>
        <span class="number tip-total">{format(total, unit)}</span>
        <span />
      </div>
    </Floating>
  );
}
