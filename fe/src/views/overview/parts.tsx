import { clamp } from "../../base/clamp";
import type { ComponentChildren } from "preact";
import type { Average, DeviceSummary, OverviewPayload, Vocabulary } from "../../api/types.gen";
import { categoryColor } from "../../base/theme";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { StackedBars, Term, type StackedBar } from "../../widgets";
import { rowsOf, type Step } from "../rows";
import { CATEGORY_LABELS, categoryShares, occurring, stepLabel } from "./model";

interface Metric {
  /** Names the definition, too. */
  key: "utilization" | "sm_efficiency" | "occupancy" | "matrix_core_share";
  label: string;
}

/** The four figures of an accelerator, as layers: each says less than the one before about how much, and more about how well. */
export function metrics(words: Vocabulary): Metric[] {
  return [
    {
      key: "utilization",
      label: "Utilization",
    },
    {
      key: "sm_efficiency",
      label: `Est. ${words.multiprocessor} efficiency`,
    },
    {
      key: "occupancy",
      label: "Est. achieved occupancy",
    },
    {
      key: "matrix_core_share",
      label: `${capitalised(words.matrix_cores)} time`,
    },
  ];
}

function Meter({ share }: { share: number | null }) {
  return (
    <span class={`meter${share === null ? " meter-unknown" : ""}`} aria-hidden="true">
      {share === null ? null : <span style={{ width: `${clamp(share, 0, 1) * 100}%` }} />}
    </span>
  );
}

/** The figure, or the word unknown; never 0 for what is not known. */
function Share({ share }: { share: number | null }) {
  return share === null ? <span class="unknown">unknown</span> : <>{formatShare(share)}</>;
}

function Reasons({ reasons }: { reasons: readonly string[] }) {
  if (!reasons.length) return null;
  return (
    <details class="unknown-reasons">
      <summary>What is unknown, and why</summary>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}

/** The accelerators below each other, to be compared. */
export function Devices({
  devices,
  words,
}: {
  devices: readonly DeviceSummary[];
  words: Vocabulary;
}) {
  const all = metrics(words);
  // Once per reason, with the devices that it holds for.
  const reasons = [...new Set(devices.flatMap(({ unknown }) => unknown))].map((reason) => {
    const lacking = devices.filter(({ unknown }) => unknown.includes(reason));
    const everywhere = lacking.length === devices.length;
    const who = everywhere ? `All ${words.device}s` : lacking.map(({ title }) => title).join(", ");
    return `${who}: ${reason}`;
  });
  return (
    <>
      <div class="device-table" tabIndex={0} role="region" aria-label="Accelerators">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">{words.device}</th>
              {all.map((metric) => (
                <th key={metric.key} scope="col">
                  <Term id={metric.key}>{metric.label}</Term>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {devices.map((device) => (
              <tr key={device.id}>
                <th scope="row">
                  {device.title} <span class="device-facts">{device.details}</span>
                </th>
                {all.map((metric) => (
                  <td key={metric.key}>
                    <Share share={device[metric.key]} />
                    <Meter share={device[metric.key]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Reasons reasons={reasons} />
    </>
  );
}

/** The bars of the step chart. */
export function stepBars(steps: readonly Step[]): StackedBar[] {
  const categories = occurring(steps);
  return steps.map((step) => ({
    key: step.step,
    label: stepLabel(step),
    title: `step ${stepLabel(step)} (${step.name})`,
    values: categories.map((category) => (step[`${category}_ns`] ?? 0) / step.steps),
    mark: step.odd ? `odd: ${step.odd_reason || "far longer than the others of its kind"}` : "",
    faded: !step.selected,
  }));
}

interface StepChartProps {
  payload: OverviewPayload;
  /** Index of the one chosen step, if it is one. */
  chosen: number | null;
  onChoose: (index: number) => void;
  /** The table of the categories, which is also the legend. */
  children: ComponentChildren;
}

const CHART_HEIGHT = 150;
/** Width of a bar with its gap at most, and of the axis, px. */
const SLOT = 64,
  AXIS = 70;

/** Stacked bars per step, no wider than they need, and the table beside them. */
export function StepChart({ payload, chosen, onChoose, children }: StepChartProps) {
  const { average } = payload;
  const steps = rowsOf(payload.steps);
  const series = occurring(steps).map((category) => ({
    key: category,
    label: CATEGORY_LABELS[category],
    color: categoryColor(category),
    term: category,
  }));
  return (
    <div class="wrap">
      <div class="overview-chart" style={{ maxWidth: `${steps.length * SLOT + AXIS}px` }}>
        <StackedBars
          label="Time of each step by category"
          series={series}
          bars={stepBars(steps)}
          unit="ns"
          height={CHART_HEIGHT}
          legend={false}
          selected={chosen}
          onSelect={onChoose}
          line={
            average && average.steps > 1 ? { value: average.wall_ns, label: "mean" } : undefined
          }
        />
      </div>
      {children}
    </div>
  );
}

interface AverageTableProps {
  average: Average;
  whole?: boolean;
  /** Categories of a smaller share are counted together. */
  least?: number;
}

/** The average step by category with shares and the sum. */
export function AverageTable({ average, whole = false, least = 0 }: AverageTableProps) {
  const all = categoryShares(average);
  const shares = all.filter(({ ns, share }) => ns !== 0 && (share === null || share >= least));
  const rest = all.filter((item) => !shares.includes(item));
  const sum = rest.reduce((total, { ns }) => total + (ns ?? 0), 0);
  return (
    <table class="plain-table average-table">
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Category</th>
          <th scope="col" class="number">
            Time
          </th>
          <th scope="col" class="number">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {shares.map(({ category, ns, share }) => (
          <tr key={category}>
            <th scope="row">
              <span class="swatch" style={{ background: categoryColor(category) }} />
              <Term id={category}>{CATEGORY_LABELS[category]}</Term>
            </th>
            <td
              class="number"
              title={ns === null ? "Not recorded, so not known" : formatExactTime(ns)}
            >
              {formatTime(ns)}
            </td>
            <td class="number share-cell">
              <span
                class="share-bar"
                aria-hidden="true"
                style={{
                  width: `calc((100% - 16px) * ${share ?? 0})`,
                  background: categoryColor(category),
                }}
              />
              <span>{formatShare(share)}</span>
            </td>
          </tr>
        ))}
        {rest.length ? (
          <tr
            class="muted"
            title={rest.map(({ category }) => CATEGORY_LABELS[category]).join(", ")}
          >
            <th scope="row">{rest.length} more</th>
            <td class="number">{formatTime(sum)}</td>
            <td class="number">
              {formatShare(average.wall_ns > 0 ? sum / average.wall_ns : null)}
            </td>
          </tr>
        ) : null}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">
            <Term id="average_step_time">
              {whole ? "Recording" : average.steps === 1 ? "Step" : "Average step"}
            </Term>
          </th>
          <td class="number" title={formatExactTime(average.wall_ns)}>
            {formatTime(average.wall_ns)}
          </td>
          <td class="number">{formatShare(average.wall_ns > 0 ? 1 : null)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
