/** What the chosen changes do together. */

import type { WhatIfPayload, WhatIfPrediction } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatDelta, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { fillOf, Hatches, Icon, PlainTable, Swatch, Term } from "../../widgets";
import { TableView } from "../table_view";
import { Loaded } from "../loaded";
import { rowsOf } from "../rows";
import { labelOf, seriesFor } from "./model";
import { replayText, resultOf, type Change } from "./what_if_model";

interface OutcomeProps extends ViewProps {
  payload: WhatIfPayload;
  changes: readonly Change[];
  text: string;
}

export function Outcome({ payload, changes, text, ...props }: OutcomeProps) {
  const some = changes.length > 0;
  const resource = useResource(some ? "what_if" : null, viewQuery(props, { change: text }));
  return (
    <div class="what-if-outcome" role="region" aria-label="Prediction">
      {some ? (
        <Loaded resource={resource} shape={[220]}>
          {({ prediction }) => (prediction ? <Predicted prediction={prediction} /> : null)}
        </Loaded>
      ) : (
        <p class="muted">Choose changes to see what they do together.</p>
      )}
      <p class="what-if-about">
        <Icon name="info" size={14} />{" "}
        {payload.replay_error === null ? null : `${replayText(payload.replay_error)} `}A prediction
        is the same work in the same order with other durations, not a promise.
      </p>
    </div>
  );
}

function Predicted({ prediction }: { prediction: WhatIfPrediction }) {
  const { times, interval, change, replay } = resultOf(prediction);
  return (
    <div>
      <p class="what-if-result" role="status">
        <strong>Step {times}</strong> {interval ? <span>({interval})</span> : null}{" "}
        <strong class="what-if-change">{change}</strong>{" "}
        <span class="visually-hidden">{replay}</span>
      </p>
      {prediction.absent ? (
        <p class="muted">Nothing that this acts on was recorded: no step changes.</p>
      ) : null}
      <KindBars kinds={prediction.kinds} />
      {prediction.steps.step.length > 1 ? <BySteps steps={prediction.steps} /> : null}
    </div>
  );
}

const sum = (times: readonly number[]): number => times.reduce((all, time) => all + time, 0);

/** The path before and after on one scale, by kind, and the same in figures. */
function KindBars({ kinds }: Pick<WhatIfPrediction, "kinds">) {
  const id = useId("kinds");
  const series = kinds.kind.map(seriesFor);
  const bars = [kinds.measured_ns, kinds.predicted_ns];
  const most = Math.max(1, ...bars.map(sum));
  const width = (time: number): string => `${(100 * time) / most}%`;
  return (
    <>
      {bars.map((times, i) => (
        <div key={i} class="what-if-stack" aria-hidden="true">
          <span class="muted">{HEADS[i]}</span>
          <svg>
            {i ? null : <Hatches id={id} series={series} />}
            {times.map((time, row) => (
              <rect
                key={row}
                x={width(sum(times.slice(0, row)))}
                width={width(time)}
                height="100%"
                style={{ fill: fillOf(id, series, row) }}
              >
                <title>{`${series[row]?.label}, ${formatTime(time)}`}</title>
              </rect>
            ))}
          </svg>
          <span class="number">{formatTime(sum(times))}</span>
        </div>
      ))}
      <PlainTable
        head={[
          { label: <Term id="path_kind">Critical path</Term> },
          ...HEADS.map((label) => ({ label, class: "number" })),
        ]}
        rows={rowsOf(kinds).map(({ kind, measured_ns, predicted_ns }) => {
          const [now, then] = [measured_ns, predicted_ns].map(formatTime);
          return [
            <>
              <Swatch item={seriesFor(kind)} /> {labelOf(kind)}
            </>,
            now,
            then,
            <span class="muted">
              {now === then ? "" : formatDelta(predicted_ns - measured_ns)}
            </span>,
          ];
        })}
      />
    </>
  );
}

const HEADS = ["Now", "Then", "Change"];

function BySteps({ steps }: Pick<WhatIfPrediction, "steps">) {
  return (
    <details class="what-if-steps">
      <summary>
        <Icon name="chevron" size={12} /> Each step
      </summary>
      <TableView
        name="predicted_steps"
        rows={steps}
        title="Predicted steps"
        rowKey={String}
        storage="what_if_steps"
        empty="Nothing matches the search."
      />
    </details>
  );
}
