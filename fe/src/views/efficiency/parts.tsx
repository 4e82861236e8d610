import type { JSX } from "preact";
import type { DevicePeaks, Peak, StepMfu } from "../../api/types.gen";
import { format, formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { Term, Tooltip } from "../../widgets";

/** A figure that says on hover where it is from. */
function Sourced({ text, source }: { text: string; source: string }) {
  return (
    <Tooltip content={source} class={source ? "term" : ""}>
      {text}
    </Tooltip>
  );
}

const fact = (term: string, value: JSX.Element | string, label?: string) => (
  <div class="fact">
    <dt>
      <Term id={term}>{label}</Term>
    </dt>
    <dd>{value}</dd>
  </div>
);

/** What the device can do at best. */
export function DeviceCard({ device }: { device: DevicePeaks }) {
  const { name, entry, bandwidth, peaks } = device;
  return (
    <>
      <dl class="facts">
        {fact("efficiency_device", name ?? "not named by the trace")}
        {fact("efficiency_entry", entry ?? "none fits: its peaks are not known")}
        {bandwidth === null
          ? null
          : fact(
              "efficiency_bandwidth",
              <Sourced text={format(bandwidth, "B/s")} source={device.bandwidth_source} />,
            )}
      </dl>
      {peaks.length ? <PeakTable peaks={peaks} /> : null}
    </>
  );
}

function PeakTable({ peaks }: { peaks: readonly Peak[] }) {
  const units = [...new Set(peaks.map((peak) => peak.unit))];
  const precisions = [
    ...new Set([...peaks].sort((a, b) => a.rate - b.rate).map((peak) => peak.precision)),
  ];
  const cell = (unit: string, precision: string): JSX.Element | string => {
    const peak = peaks.find((item) => item.unit === unit && item.precision === precision);
    return peak ? <Sourced text={format(peak.rate, "FLOP/s")} source={peak.source} /> : "–";
  };
  return (
    <table class="plain-table peaks">
      <thead>
        <tr>
          <th scope="col">
            <Term id="efficiency_precision" />
          </th>
          {units.map((unit) => (
            <th key={unit} scope="col" class="number">
              <Term id={`efficiency_peak_${unit}`} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {precisions.map((precision) => (
          <tr key={precision}>
            <th scope="row">{precision}</th>
            {units.map((unit) => (
              <td key={unit} class="number">
                {cell(unit, precision)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** MFU of each step; where no peak is known, FLOP/s. */
export function StepFacts({ steps }: { steps: readonly StepMfu[] }) {
  return (
    <dl class="facts">
      {steps.map(({ index, name, mfu, flops, wall_ns }) => (
        <div key={index} class="fact">
          <dt>step {stepName(name)}</dt>
          <dd>
            {mfu === null ? "" : `${formatShare(mfu)}, `}
            {format((flops * 1e9) / Math.max(1, wall_ns), "FLOP/s")} in {formatTime(wall_ns)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
