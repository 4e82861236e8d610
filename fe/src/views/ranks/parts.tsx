/** How the figures of a run spread, who stands out and who is alike, drawn from the payload. */

import type { OverviewRanksPayload, RankSpread } from "../../api/types.gen";
import { format, formatCount } from "../../base/units";
import { Panel, Term } from "../../widgets";
import { valueRange, FIGURE_LABELS, histogram, rankName } from "./model";

interface PartProps {
  payload: OverviewRanksPayload;
  /** The address of the overview of one worker. */
  hrefOf: (worker: number) => string;
}

/** Outliers of a figure that are named in its row; ranks and groups that a table lists. */
const NAMED = 3;
const LISTED = 12;

function Rank({ payload, hrefOf, at }: PartProps & { at: number }) {
  const worker = payload.workers[at];
  return worker ? (
    <a href={hrefOf(at)} title={worker.worker}>
      {rankName(worker)}
    </a>
  ) : null;
}

export function Spreads(props: PartProps) {
  const { payload } = props;
  return (
    <Panel title="How the ranks spread" term="overview_ranks" note={payload.coverage}>
      <div class="rank-table" tabIndex={0} role="region" aria-label="Figures over the ranks">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Figure</th>
              <th scope="col">Ranks by value</th>
              <th scope="col" class="number">
                Lowest
              </th>
              <th scope="col" class="number">
                Median
              </th>
              <th scope="col" class="number">
                Middle half
              </th>
              <th scope="col" class="number">
                Highest
              </th>
              <th scope="col" class="rank-named">
                <Term id="rank_outlier" />
              </th>
            </tr>
          </thead>
          <tbody>
            {payload.spreads.map((spread) => (
              <SpreadRow key={spread.figure} {...props} spread={spread} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function SpreadRow({ spread, ...props }: PartProps & { spread: RankSpread }) {
  const [least, first, median, third, most] = spread.quartiles;
  const text = (value: number | undefined): string => format(value, spread.unit);
  const left = spread.outliers.length - NAMED;
  return (
    <tr>
      <th scope="row">
        <Term id={`rank_${spread.figure}`}>{FIGURE_LABELS[spread.figure]}</Term>
      </th>
      <td>
        <Histogram spread={spread} />
      </td>
      <td class="number">
        {text(least)} <Rank {...props} at={spread.lowest} />
      </td>
      <td class="number rank-median">{text(median)}</td>
      <td class="number">
        {text(first)} to {text(third)}
      </td>
      <td class="number">
        {text(most)} <Rank {...props} at={spread.highest} />
      </td>
      <td class="rank-named">
        {spread.outliers.length ? (
          <>
            {spread.outliers.slice(0, NAMED).map((at, i) => (
              <span key={at}>
                {i ? ", " : ""}
                <Rank {...props} at={at} />
              </span>
            ))}
            {left > 0 ? ` and ${formatCount(left)} more` : ""}
          </>
        ) : (
          <span class="muted">none</span>
        )}
      </td>
    </tr>
  );
}

const WIDTH = 240;
const HEIGHT = 30;
const BINS = 48;

/** Bars by value, the middle half below them, the median as a line; the figures beside it say the same. */
function Histogram({ spread }: { spread: RankSpread }) {
  const { values, quartiles, outliers } = spread;
  const [, first = 0, median = 0, third = 0] = quartiles;
  const { low, high } = valueRange(spread);
  const counts = histogram(values, low, high, BINS);
  const most = Math.max(1, ...counts);
  const room = WIDTH - 8;
  const wide = high > low;
  const x = (value: number): number => 4 + room * (wide ? (value - low) / (high - low) : 0.5);
  const step = wide ? room / BINS : 6;
  return (
    <svg class="rank-histogram" width={WIDTH} height={HEIGHT + 6} aria-hidden="true">
      <line class="axis-grid" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {counts.map((count, bin) => {
        // One rank of a thousand is still seen.
        const height = 3 + ((HEIGHT - 5) * count) / most;
        return count ? (
          <rect
            key={bin}
            x={wide ? 4 + bin * step : x(low) - 3}
            y={HEIGHT - height}
            width={Math.max(1, step - 0.6)}
            height={height}
          />
        ) : null;
      })}
      <rect
        class="rank-half"
        x={x(first) - 1}
        y={HEIGHT + 1}
        width={x(third) - x(first) + 2}
        height={4}
      />
      <line class="rank-middle" x1={x(median)} x2={x(median)} y1={0} y2={HEIGHT + 6} />
      {outliers.slice(0, LISTED).map((at) => (
        <circle key={at} class="rank-out" cx={x(values[at] ?? 0)} cy={5} r={3} />
      ))}
    </svg>
  );
}

export function Outliers(props: PartProps) {
  const { outliers, spreads } = props.payload;
  if (!outliers.length) return null;
  const left = outliers.length - LISTED;
  return (
    <Panel title="Ranks that stand out" term="rank_outlier">
      <table class="plain-table rank-rows">
        <thead>
          <tr>
            <th scope="col">Rank</th>
            <th scope="col">Figure</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col" class="rank-named">
              How far
            </th>
          </tr>
        </thead>
        <tbody>
          {outliers.slice(0, LISTED).map(({ worker, figure, value, text }) => (
            <tr key={`${figure} ${worker}`}>
              <th scope="row">
                <Rank {...props} at={worker} />
              </th>
              <td>{FIGURE_LABELS[figure]}</td>
              <td class="number">
                {format(value, spreads.find((spread) => spread.figure === figure)?.unit ?? "ns")}
              </td>
              <td class="rank-named">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 ? <p class="muted">{`${formatCount(left)} more are not listed.`}</p> : null}
    </Panel>
  );
}

export function Groups(props: PartProps) {
  const { groups, spreads, pooled } = props.payload;
  const left = groups.length - LISTED + pooled;
  return (
    <Panel title="Ranks that are alike" term="rank_alike">
      <div class="rank-table" tabIndex={0} role="region" aria-label="Groups of ranks">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col" class="number rank-count">
                Ranks
              </th>
              <th scope="col" class="rank-named">
                <Term id="rank_coordinates">Which</Term>
              </th>
              {spreads.map(({ figure }) => (
                <th key={figure} scope="col" class="number">
                  <Term id={`rank_${figure}`}>{FIGURE_LABELS[figure]}</Term>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, LISTED).map(({ workers, ranks, where, low, high }) => (
              <tr key={workers[0]}>
                <td class="number rank-count">{formatCount(workers.length)}</td>
                <th scope="row" class="rank-named">
                  {where ? <strong>{where}: </strong> : null}
                  {workers.length === 1 ? <Rank {...props} at={workers[0] ?? 0} /> : ranks}
                </th>
                {spreads.map(({ figure, unit }, i) => (
                  <td key={figure} class="number">
                    {[...new Set([low, high].map((ends) => format(ends[i], unit)))].join(" to ")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 ? (
        <p class="muted">{`${formatCount(left)} smaller groups are not listed.`}</p>
      ) : null}
    </Panel>
  );
}
