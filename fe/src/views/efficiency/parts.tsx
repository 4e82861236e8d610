import type { JSX } from "preact";
import type { DevicePeaks, EfficiencyPayload, Peak, StepMfu } from "../../api/types.gen";
import { seriesColor } from "../../base/theme";
import { format, formatShare, formatTime, type Unit } from "../../base/units";
import { stepName } from "../../base/words";
import { Figure, type FigureTable, StackedBars, Term, Tooltip } from "../../widgets";
import { rateOfSteps } from "./model";

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

interface StepChartProps {
  payload: EfficiencyPayload;
  /** All steps, those of the payload among them. */
  steps: readonly StepMfu[];
  chosen: number | null;
  isChosen: (index: number) => boolean;
  onChoose: (index: number) => void;
}

const rateOf = ({ flops, wall_ns }: StepMfu): number | null =>
  rateOfSteps([{ index: 0, steps: 1, name: "", mfu: null, flops, wall_ns }]);

/** MFU per step; where no peak is known, FLOP/s. */
export function StepChart({ payload, steps, chosen, isChosen, onChoose }: StepChartProps) {
  const shares = steps.some((step) => step.mfu !== null);
  const unit: Unit = shares ? "share" : "FLOP/s";
  const value = (step: StepMfu): number | null => (shares ? step.mfu : rateOf(step));
  const mean = shares ? payload.mfu : rateOfSteps(payload.steps);
  const [only] = steps.length === 1 ? steps : [];
  const [what, term] = shares ? ["MFU", "efficiency_mfu"] : ["FLOP/s", "efficiency_step_rate"];
  const title = `${what} ${only ? "of the" : "per"} step`;
  const table: FigureTable = {
    columns: [
      { label: "Step" },
      { label: "MFU", unit: "share" },
      { label: "FLOPs", unit: "FLOP" },
      { label: "FLOP/s", unit: "FLOP/s" },
      { label: "Wall time", unit: "ns" },
    ],
    rows: steps.map((step) => [step.name, step.mfu, step.flops, rateOf(step), step.wall_ns]),
  };
  return (
    <Figure title={title} term={term} table={table} name="efficiency-steps">
      {only ? (
        <StepFigures step={only} />
      ) : (
        <StackedBars
          label={title}
          series={[{ key: "value", label: what, color: seriesColor(0), term }]}
          bars={steps.map((step) => ({
            key: step.index,
            label: stepName(step.name),
            title: `step ${stepName(step.name)} (${step.name})`,
            values: [value(step) ?? 0],
            note: value(step) === null ? "not known" : formatTime(step.wall_ns),
            faded: !isChosen(step.index),
          }))}
          unit={unit}
          height={230}
          selected={chosen}
          onSelect={onChoose}
          line={
            mean === null
              ? undefined
              : { value: mean, label: steps.length > payload.steps.length ? "chosen" : "all" }
          }
        />
      )}
    </Figure>
  );
}

/** One bar would say less. */
function StepFigures({ step }: { step: StepMfu }) {
  return (
    <dl class="facts">
      {step.mfu === null ? null : fact("efficiency_mfu", formatShare(step.mfu))}
      {fact("efficiency_step_rate", format(rateOf(step), "FLOP/s"), "FLOP/s")}
      {fact("efficiency_step_flops", format(step.flops, "FLOP"))}
      {fact("efficiency_step_wall", formatTime(step.wall_ns))}
    </dl>
  );
}
