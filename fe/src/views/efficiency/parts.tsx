import type { DevicePeaks, StepMfu, Vocabulary } from "../../api/types.gen";
import { format, formatShare, formatTime } from "../../base/units";
import { stepName } from "../../base/words";
import { Term, Tooltip } from "../../widgets";
import { fact } from "../fact";
import { roofText } from "./model";
import type { ComponentChildren } from "preact";

/** A figure that says on hover where it is from. */
function Sourced({ text, source }: { text: string; source: string }) {
  return (
    <Tooltip content={source} class={source ? "term" : ""}>
      {text}
    </Tooltip>
  );
}

const termFact = (term: string, value: ComponentChildren, label?: string) =>
  fact(<Term id={term}>{label}</Term>, value);

/** What the device can do at best. */
export function DeviceCard({ device, words }: { device: DevicePeaks; words: Vocabulary }) {
  const { name, entry, bandwidth, bandwidth_source, peaks } = device;
  return (
    <dl class="facts">
      {termFact("efficiency_device", name ?? "not named by the trace")}
      {termFact("efficiency_entry", entry ?? "none fits: its peaks are not known")}
      {bandwidth === null
        ? null
        : termFact(
            "efficiency_bandwidth",
            <Sourced text={format(bandwidth, "B/s")} source={bandwidth_source} />,
          )}
      {peaks.map(({ unit, precision, rate, source }) =>
        termFact(
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
      {steps.map(({ name, mfu, flops, wall_ns }) => {
        const rate = format((flops * 1e9) / Math.max(1, wall_ns), "FLOP/s");
        const share = mfu === null ? "" : `${formatShare(mfu)}, `;
        return fact(`step ${stepName(name)}`, `${share}${rate} in ${formatTime(wall_ns)}`);
      })}
    </dl>
  );
}
