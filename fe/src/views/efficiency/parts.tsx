import type { JSX } from "preact";
import type { DevicePeaks, StepMfu, Vocabulary } from "../../api/types.gen";
import { format, formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { Term, Tooltip } from "../../widgets";
import { roofText } from "./model";

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
export function DeviceCard({ device, words }: { device: DevicePeaks; words: Vocabulary }) {
  const { name, entry, bandwidth, bandwidth_source, peaks } = device;
  return (
    <dl class="facts">
      {fact("efficiency_device", name ?? "not named by the trace")}
      {fact("efficiency_entry", entry ?? "none fits: its peaks are not known")}
      {bandwidth === null
        ? null
        : fact(
            "efficiency_bandwidth",
            <Sourced text={format(bandwidth, "B/s")} source={bandwidth_source} />,
          )}
      {peaks.map(({ unit, precision, rate, source }) =>
        fact(
          `efficiency_peak_${unit}`,
          <Sourced text={format(rate, "FLOP/s")} source={source} />,
          roofText(`${unit} ${precision}`, words),
        ),
      )}
    </dl>
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
