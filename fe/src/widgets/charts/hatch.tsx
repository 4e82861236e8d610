/** Patterns, so that parts of a chart can be told apart without their colours. */

import type { Series } from "./stack";

/** Px of a tile. */
const TILE = 8;

const Ground = ({ color, pattern }: Series) => (
  <>
    <rect
      class={pattern ? "hatch-ground" : "hatch-plain"}
      width={TILE}
      height={TILE}
      style={{ fill: color }}
    />
    {pattern ? <path class="hatch-lines" d={pattern} /> : null}
  </>
);

/** The patterns of series as paint: `url(#<id>-<place>)`. */
export function Hatches({ id, series }: { id: string; series: readonly Series[] }) {
  return (
    <defs>
      {series.map((item, place) =>
        item.pattern === undefined ? null : (
          <pattern
            key={item.key}
            id={`${id}-${place}`}
            patternUnits="userSpaceOnUse"
            width={TILE}
            height={TILE}
          >
            <Ground {...item} />
          </pattern>
        ),
      )}
    </defs>
  );
}

export const fillOf = (id: string, series: readonly Series[], place: number): string =>
  series[place]?.pattern === undefined ? (series[place]?.color ?? "") : `url(#${id}-${place})`;

/** What a series looks like, for legends. */
export function Swatch({ item }: { item: Series }) {
  return item.pattern === undefined ? (
    <span class="swatch" style={{ background: item.color }} />
  ) : (
    <svg class="swatch" viewBox={`0 0 ${TILE} ${TILE}`} aria-hidden="true">
      <Ground {...item} />
    </svg>
  );
}
