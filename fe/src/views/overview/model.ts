/** What the Overview page computes: shares of the categories, the sentences on top, which steps are marked. */

import type { Average, DeviceSummary, OverviewPayload, StepItem } from "../../api/types.gen";
import { CATEGORIES, type Category } from "../../base/theme";
import { formatShare, formatTime } from "../../base/units";
import { lacksDevice, lacksHost, lacksTimes } from "../missing";

export const CATEGORY_LABELS: Readonly<Record<Category, string>> = {
  kernel: "Kernel",
  memcpy: "Memcpy",
  memset: "Memset",
  communication: "Communication",
  runtime: "Runtime",
  dataloader: "DataLoader",
  cpu_exec: "CPU Exec",
  other: "Other",
};

/** How a category is named inside a sentence. */
const IN_WORDS: Readonly<Record<Category, string>> = {
  kernel: "in kernels",
  memcpy: "in memory copies",
  memset: "in memory sets",
  communication: "in communication",
  runtime: "in runtime calls",
  dataloader: "in DataLoader",
  cpu_exec: "in host operators",
  other: "not covered by anything recorded",
};

export interface CategoryShare {
  category: Category;
  ns: number;
  /** Fraction of the wall time; `null` where that is 0. */
  share: number | null;
}

/** The categories of an average step in priority order. */
export function categoryShares(average: Average): CategoryShare[] {
  return CATEGORIES.map((category) => {
    const ns = average.categories_ns[category];
    return { category, ns, share: average.wall_ns > 0 ? ns / average.wall_ns : null };
  });
}

/** The categories that an average step spends most in, at most `count`, none below a twentieth of the step unless it is the first. */
export function leading(average: Average, count: number): CategoryShare[] {
  const ranked = categoryShares(average)
    .filter((x) => x.ns > 0)
    .sort((a, b) => b.ns - a.ns);
  return ranked.filter((x, i) => i < count && (i === 0 || (x.share ?? 0) >= 0.05));
}

export type Tone = "plain" | "good" | "attention";

export interface Sentence {
  text: string;
  tone: Tone;
}

/** The answer to “is the accelerator busy, what takes the time, which step is odd”, in that order. */
export function topSentences(payload: OverviewPayload): Sentence[] {
  const busy = busySentences(payload);
  const time = timeSentences(payload);
  // Without an accelerator the time is the news, not that there was none.
  return [
    ...(payload.devices.length ? [...busy, ...time] : [...time, ...busy]),
    ...oddSentences(payload),
    ...lossSentences(payload),
  ];
}

/** `0` → `GPU 0`. */
export function deviceTitle(device: DeviceSummary, word: string): string {
  return `${word} ${device.id}`;
}

/** Nothing marks a step, so the recording stands as one. */
export function isWholeSpan({ steps, step_source }: OverviewPayload): boolean {
  return steps.length <= 1 && step_source === "whole span";
}

const OF_DEVICE: readonly Category[] = ["kernel", "memcpy", "memset", "runtime"];
const OF_HOST: readonly Category[] = ["dataloader", "cpu_exec"];

/** Categories without any time whose events were not recorded: their 0 is no measurement. */
export function unrecorded({ missing, steps }: OverviewPayload): Set<Category> {
  const lacking = [
    ...(lacksDevice(missing) ? OF_DEVICE : []),
    ...(lacksHost(missing) ? OF_HOST : []),
  ];
  const found = new Set(occurring(steps));
  return new Set(lacking.filter((category) => !found.has(category)));
}

function stepsText(payload: OverviewPayload): string {
  const { average, steps } = payload;
  if (isWholeSpan(payload)) return "the recorded time";
  const selected = steps.filter((step) => step.selected);
  const [only] = selected;
  if (selected.length === 1 && only && steps.length > 1) return `step ${stepLabel(only)}`;
  const count = average?.steps ?? selected.length;
  return count === 1 ? "the step" : `${count} steps`;
}

function busySentences(payload: OverviewPayload): Sentence[] {
  const word = payload.vocabulary.device;
  const { devices } = payload;
  const [first] = devices;
  const lack = lacksTimes(payload.missing)
    ? "Hardware counters were recorded in place of the times of kernels"
    : "No accelerator activity was recorded";
  if (!first) return [{ text: `${lack}: every figure here is the host’s.`, tone: "plain" }];
  const shares = devices.flatMap((d) => (d.utilization === null ? [] : [d.utilization]));
  if (!shares.length) {
    const who =
      devices.length > 1
        ? `the ${devices.length} ${word}s were`
        : `${deviceTitle(first, word)} was`;
    const why = first.unknown[0];
    return [
      { text: sentence(`How busy ${who} is not known${why ? `: ${why}` : ""}`), tone: "attention" },
    ];
  }
  const low = Math.min(...shares);
  const high = Math.max(...shares);
  const tone: Tone = low < 0.5 ? "attention" : low >= 0.9 ? "good" : "plain";
  const range =
    formatShare(low) === formatShare(high)
      ? formatShare(low)
      : `${formatShare(low)} to ${formatShare(high)}`;
  const who =
    devices.length === 1 ? `${deviceTitle(first, word)} was` : `${shares.length} ${word}s were`;
  return [{ text: `${who} busy ${range} of ${stepsText(payload)}.`, tone }];
}

/** Ends in one full stop. */
function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}

function timeSentences(payload: OverviewPayload): Sentence[] {
  const { average } = payload;
  // Where there is none at all, the page says so in place of the chart.
  if (!average && !payload.steps.length) return [];
  if (!average)
    return [{ text: "No step is selected, so there is no average step.", tone: "attention" }];
  const parts = leading(average, 3)
    .filter((x) => x.share !== null)
    .map((x, i) => `${formatShare(x.share)} ${i ? "" : "of it "}${IN_WORDS[x.category]}`);
  const takes = `${isWholeSpan(payload) ? "The recording lasts" : average.steps === 1 ? "The step takes" : "A step takes"} ${formatTime(average.wall_ns)}`;
  return [{ text: parts.length ? `${takes}: ${parts.join(", ")}.` : `${takes}.`, tone: "plain" }];
}

/** Figures of a recording that is not whole must not be read as if it were. */
function lossSentences({ health }: OverviewPayload): Sentence[] {
  const lost = health.some((item) => item.severity === "data_loss" || item.severity === "error");
  return lost
    ? [
        {
          text: "Part of the recording is lost, so the figures are too small where it is missing: see Trace health.",
          tone: "attention",
        },
      ]
    : [];
}

/** Odd steps are named whichever steps are selected: they are a fact of the trace, and the page does not jump when one is chosen. */
function oddSentences(payload: OverviewPayload): Sentence[] {
  const odd = payload.steps.filter((step) => step.odd);
  const [first] = odd;
  if (!first) return [];
  if (odd.length === 1) {
    const reason = first.odd_reason ? `: ${first.odd_reason}` : ` (${formatTime(first.wall_ns)})`;
    return [{ text: sentence(`Step ${stepLabel(first)} is odd${reason}`), tone: "attention" }];
  }
  const names = odd
    .slice(0, 4)
    .map((step) =>
      odd.length === 2 && step.odd_reason
        ? `${stepLabel(step)} (${step.odd_reason})`
        : stepLabel(step),
    );
  return [
    {
      text: sentence(
        `${odd.length} steps are odd: ${names.join(", ")}${odd.length > 4 ? " …" : ""}`,
      ),
      tone: "attention",
    },
  ];
}

/** The number that a person knows a step by: `ProfilerStep#5` → `5`, otherwise its place. */
export function stepLabel(step: StepItem): string {
  return /#(\d+)$/.exec(step.name)?.[1] ?? String(step.index);
}

export interface Mark {
  word: string;
  why: string;
}

/** What a step is marked with, in words (never by colour alone). */
export function stepMarks(step: StepItem): Mark[] {
  const marks: Mark[] = [];
  if (step.odd)
    marks.push({ word: "odd", why: step.odd_reason || "It takes much longer than the others." });
  if (step.cold)
    marks.push({
      word: "cold",
      why: "It took clearly longer than the rest because things are set up in it.",
    });
  if (step.cut)
    marks.push({
      word: "cut off",
      why: "The end of the recording cut off its device work, so its figures are too small.",
    });
  return marks;
}

/** Categories that occur in any of the steps: the legend needs no entry for the others. */
export function occurring(steps: readonly StepItem[]): Category[] {
  return CATEGORIES.filter((category) => steps.some((step) => step.categories_ns[category] > 0));
}
