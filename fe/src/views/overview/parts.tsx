import { clamp } from "../../base/clamp";
import type { ComponentChildren } from "preact";
import type { Average, DeviceSummary, OverviewPayload, Vocabulary } from "../../api/types.gen";
import { categoryColor } from "../../base/theme";
import { formatExactTime, formatShare, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { PlainTable, ShareBar, StackedBars, Term, type StackedBar } from "../../widgets";
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

const Meter = ({ share }: { share: number | null }) =>
  share === null ? (
    <span class="meter meter-unknown" aria-hidden="true" />
  ) : (
    <ShareBar size="meter" share={clamp(share, 0, 1)} />
  );

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
        <PlainTable
          head={[
            { label: words.device },
            ...all.map(({ key, label }) => ({ label: <Term id={key}>{label}</Term> })),
          ]}
          rows={devices.map((device) => [
            <>
              {device.title} <span class="device-facts">{device.details}</span>
            </>,
            ...all.map(({ key }) => (
              <>
                <Share share={device[key]} />
                <Meter share={device[key]} />
              </>
            )),
          ])}
        />
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
  const shareOf = (ns: number) => formatShare(average.wall_ns > 0 ? ns / average.wall_ns : null);
  const aside = (text: string) => <span class="muted">{text}</span>;
  return (
    <PlainTable
      class="average-table"
      bare
      head={[
        { label: "Category" },
        { label: "Time", class: "number" },
        { label: "Share", class: "number share-cell" },
      ]}
      rows={[
        ...shares.map(({ category, ns, share }) => [
          <>
            <span class="swatch" style={{ background: categoryColor(category) }} />
            <Term id={category}>{CATEGORY_LABELS[category]}</Term>
          </>,
          <span title={ns === null ? "Not recorded, so not known" : formatExactTime(ns)}>
            {formatTime(ns)}
          </span>,
          <>
            <span
              class="share-bar"
              aria-hidden="true"
              style={{
                width: `calc((100% - 16px) * ${share ?? 0})`,
                background: categoryColor(category),
              }}
            />
            {formatShare(share)}
          </>,
        ]),
        ...(rest.length
          ? [
              [
                <span
                  class="muted"
                  title={rest.map(({ category }) => CATEGORY_LABELS[category]).join(", ")}
                >
                  {rest.length} more
                </span>,
                aside(formatTime(sum)),
                aside(shareOf(sum)),
              ],
            ]
          : []),
      ]}
      foot={[
        <Term id="average_step_time">
          {whole ? "Recording" : average.steps === 1 ? "Step" : "Average step"}
        </Term>,
        <span title={formatExactTime(average.wall_ns)}>{formatTime(average.wall_ns)}</span>,
        shareOf(average.wall_ns),
      ]}
    />
  );
}
