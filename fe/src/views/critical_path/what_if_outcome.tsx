/** What the chosen changes do together. */

import type { WhatIfPayload, WhatIfPrediction } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatDelta, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { fillOf, Grid, Hatches, Icon, Swatch, Term } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { Loaded } from "../loaded";
import { labelOf, seriesFor } from "./model";
import { replayText, resultOf, type Change } from "./what_if_model";

interface OutcomeProps extends ViewProps {
  payload: WhatIfPayload;
  changes: readonly Change[];
  text: string;
}

export function Outcome({ payload, changes, text, ...props }: OutcomeProps) {
  const resource = useResource(
    changes.length ? "what_if" : null,
    changes.length ? viewQuery(props, { change: text }) : null,
  );
  return (
    <div class="what-if-outcome" role="region" aria-label="Prediction">
      {changes.length ? (
        <Loaded resource={resource} shape={[220]} diagnosisHref={props.hrefOf("diagnosis")}>
          {({ prediction }) => (prediction ? <Predicted prediction={prediction} /> : null)}
        </Loaded>
      ) : (
        <p class="what-if-hint">Choose changes to see what they do together.</p>
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
  const { kinds } = prediction;
  return (
    <div>
      <p class="what-if-result" role="status">
        <strong>Step {times}</strong> {interval ? <span>({interval})</span> : null}{" "}
        <strong class="what-if-change">{change}</strong>{" "}
        {replay ? <span class="visually-hidden">{replay}</span> : null}
      </p>
      <KindBars kinds={kinds} />
      {prediction.steps.step.length > 1 ? <BySteps prediction={prediction} /> : null}
    </div>
  );
}

type Kinds = WhatIfPrediction["kinds"];

/** The path before and after on one scale, by kind, and the same in figures. */
function KindBars({ kinds }: { kinds: Kinds }) {
  const id = useId("kinds");
  const series = kinds.kind.map(seriesFor);
  const bars = [
    { label: "Now", times: kinds.measured_ns },
    { label: "Then", times: kinds.predicted_ns },
  ];
  const sums = bars.map(({ times }) => times.reduce((sum, time) => sum + time, 0));
  const most = Math.max(1, ...sums);
  return (
    <>
      {bars.map(({ label, times }, i) => (
        <div key={label} class="what-if-stack" aria-hidden="true">
          <span class="muted">{label}</span>
          <svg>
            {i ? null : <Hatches id={id} series={series} />}
            {placed(times).map(({ from, time }, row) => (
              <rect
                key={kinds.kind[row]}
                x={`${(100 * from) / most}%`}
                width={`${(100 * time) / most}%`}
                height="100%"
                style={{ fill: fillOf(id, series, row) }}
              >
                <title>{`${labelOf(kinds.kind[row] ?? "")}, ${formatTime(time)}`}</title>
              </rect>
            ))}
          </svg>
          <span class="number">{formatTime(sums[i])}</span>
        </div>
      ))}
      <table class="what-if-kinds">
        <thead>
          <tr>
            <th scope="col">
              <Term id="path_kind">Critical path</Term>
            </th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {kinds.kind.map((kind, row) => {
            const [now, then] = [kinds.measured_ns[row] ?? 0, kinds.predicted_ns[row] ?? 0];
            return (
              <tr key={kind}>
                <th scope="row">
                  <Swatch item={seriesFor(kind)} /> {labelOf(kind)}
                </th>
                <td class="number">{formatTime(now)}</td>
                <td class="number">{formatTime(then)}</td>
                <td class="number muted">
                  {formatTime(now) === formatTime(then) ? "" : formatDelta(then - now)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

/** Where each time begins if they follow each other. */
function placed(times: readonly number[]): { from: number; time: number }[] {
  let from = 0;
  return times.map((time) => {
    const place = { from, time };
    from += time;
    return place;
  });
}

function BySteps({ prediction }: { prediction: WhatIfPrediction }) {
  const { steps } = prediction;
  const columns = useColumns(() => declaredColumns("predicted_steps", steps), [steps]);
  return (
    <details class="what-if-steps">
      <summary>
        <Icon name="chevron" size={12} /> Each step
      </summary>
      <Grid
        label="Predicted steps"
        columns={columns}
        rowCount={steps.step.length}
        rowKey={String}
        storage="what_if_steps"
        empty="Nothing matches the search."
      />
    </details>
  );
}
