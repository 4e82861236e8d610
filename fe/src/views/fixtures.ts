/** Payloads for tests: small, and true to the wire types. */

import type {
  DeviceSummary,
  FilesTable,
  Finding,
  FindingsPayload,
  KernelsTable,
  KernelPayload,
  OperatorsTable,
  OperatorPayload,
  OverviewPayload,
  StepsTable,
  TableName,
  TracePayload,
  Vocabulary,
} from "../api/types.gen";
import { columnsOfTable } from "./columns";
import type { RowOf, Step } from "./rows";
import { ALL_STEPS, type Params, type ViewProps } from "../state/view";

/** A name that would run as a script if it ever reached the page as markup. */
export const HOSTILE = '<img src=x onerror="globalThis.hacked=1">\u202e&amp;';

export const GPU_WORDS: Vocabulary = {
  device: "GPU",
  multiprocessor: "SM",
  matrix_cores: "Tensor Cores",
};

/** Heads of columns that do not say what they mean. */
export const plainHeads = (): string[] =>
  [...document.querySelectorAll(".head-label:not(.term-line)")].map((head) => head.textContent);

/** The props of a view in a test, with what it calls. */
export function viewProps(
  params: Params,
  actions: Pick<ViewProps, "setParam" | "setSteps">,
  skipCold = false,
): ViewProps {
  return {
    selection: { run: "r", worker: "w", span: "s" },
    steps: { ...ALL_STEPS, skipCold },
    params,
    hrefOf: (view, more = {}) => `#${view}?${new URLSearchParams(more).toString()}`,
    ...actions,
  };
}

export function step(index: number, over: Partial<Step> = {}): Step {
  return {
    step: index,
    steps: 1,
    name: String(index),
    start_ns: index * 178_000_000,
    wall_ns: 178_000_000,
    earlier_ns: 0,
    kernel_ns: 98_000_000,
    memcpy_ns: 2_000_000,
    memset_ns: 0,
    communication_ns: 0,
    runtime_ns: 3_000_000,
    dataloader_ns: 59_000_000,
    cpu_exec_ns: 14_000_000,
    other_ns: 2_000_000,
    kind: "",
    cold: false,
    odd: false,
    odd_reason: "",
    cut: false,
    selected: true,
    ...over,
  };
}

/** The table of some steps. */
export function stepsOf(rows: readonly Step[]): StepsTable {
  return tableOf(step(0), rows) as unknown as StepsTable;
}

/** The table of some files. */
export function filesOf(rows: readonly RowOf<FilesTable>[]): FilesTable {
  return tableOf(file(""), rows) as unknown as FilesTable;
}

/** Rows as columns, with the names of a first one. */
function tableOf<T extends object>(one: T, rows: readonly T[]): Record<string, unknown[]> {
  const names = Object.keys(one) as (keyof T & string)[];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
}

export function device(over: Partial<DeviceSummary> = {}): DeviceSummary {
  return {
    id: 0,
    title: "GPU 0",
    details: "Tesla V100-DGXS-32GB · 31.7 GiB · 80 SMs · compute capability 7.0",
    utilization: 0.5551,
    sm_efficiency: 0.5468,
    occupancy: 0.4913,
    matrix_core_share: 0.1,
    unknown: [],
    ...over,
  };
}

export function overview(over: Partial<OverviewPayload> = {}): OverviewPayload {
  const steps = stepsOf([0, 1, 2, 3, 4, 5].map((i) => step(i)));
  return {
    configuration: [
      { label: "Workers", value: "1", hint: "" },
      { label: "Accelerator", value: "Tesla V100-DGXS-32GB", hint: "" },
    ],
    recording: [{ label: "GPU busy", value: "55.5 %", hint: "" }],
    vocabulary: GPU_WORDS,
    headline: [{ key: "busy", text: "GPU 0 was busy 55.5 % of 6 steps.", tone: "plain" }],
    first_look: {
      headline: "The GPU computes for 98.0 ms of a 178 ms step.",
      parts: { kind: ["dataloader", "kernel"], path_ns: [80_000_000, 98_000_000] },
    },
    step_source: "ProfilerStep",
    steps,
    average: {
      steps: 6,
      wall_ns: 178_000_000,
      categories_ns: {
        kernel: 98_000_000,
        memcpy: 2_000_000,
        memset: 0,
        communication: 0,
        runtime: 3_000_000,
        dataloader: 59_000_000,
        cpu_exec: 14_000_000,
        other: 2_000_000,
      },
    },
    devices: [device()],
    health: [],
    notes: [],
    missing: [],
    ...over,
  };
}

export function finding(over: Partial<Finding> = {}): Finding {
  return {
    rule: "input_bound",
    title: "Waiting for input data",
    action: "Prepare batches in worker processes",
    fact: "num_workers=0",
    often: "every step",
    steps: [0, 1, 2, 3, 4, 5],
    step: null,
    sentence: "The loop waits 59 ms of each step for the DataLoader.",
    views: ["overview", "operator"],
    recoverable_ns: 59_000_000,
    recoverable_low_ns: 40_000_000,
    recoverable_high_ns: 80_000_000,
    share: 0.331,
    certainty: "certain",
    change: "dataloader-ready",
    artefact: false,
    evidence: [
      {
        label: "DataLoader.__next__",
        worker: "w",
        span: "s",
        event: 7,
        start_ns: 10,
        dur_ns: 61_000_000,
      },
    ],
    evidence_count: 1,
    line: "train.py(12): main",
    attempt: "More workers.",
    caveat: "More workers may not help.",
    numbers: [{ label: "Share", value: 0.334, unit: "share" }],
    links: [{ text: "Multi-process data loading", url: "https://docs.pytorch.org/x" }],
    ...over,
  };
}

export function findings(
  list: Finding[] = [finding()],
  over: Partial<FindingsPayload> = {},
): FindingsPayload {
  return {
    headline: "Loading data takes 59.0 ms of each 178 ms step.",
    detail: "Most of it is in decode at train.py:12.",
    line: "src/train.py(12): decode",
    about: "Training · V100 · step 2, the median of 6",
    median: 2,
    healthy: list.length === 0,
    steps: 6,
    step_ns: 178_000_000,
    mean_ns: 178_000_000,
    findings: list,
    unexplained: [],
    totals: [],
    together: "",
    unsure: [],
    missing: [],
    progress: 1,
    ...over,
  };
}

/** What a CPU-only recording without steps gives. */
export function hostOnly(): OverviewPayload {
  return overview({
    headline: [
      {
        key: "busy",
        text: "No accelerator activity was recorded: every figure here is the host’s.",
        tone: "plain",
      },
    ],
    step_source: "whole span",
    steps: stepsOf([
      step(0, {
        name: "whole span",
        kernel_ns: null,
        memcpy_ns: null,
        memset_ns: null,
        communication_ns: 0,
        runtime_ns: null,
        dataloader_ns: 0,
        cpu_exec_ns: 170_000_000,
        other_ns: 8_000_000,
      }),
    ]),
    average: {
      steps: 1,
      wall_ns: 178_000_000,
      categories_ns: {
        kernel: null,
        memcpy: null,
        memset: null,
        communication: 0,
        runtime: null,
        dataloader: 0,
        cpu_exec: 170_000_000,
        other: 8_000_000,
      },
    },
    devices: [],
    missing: [
      {
        key: "device",
        what: "Accelerator activity",
        why: "The recording holds no event of an accelerator.",
        call: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
      },
    ],
  });
}

/** Rows of a declared table; what is not given is unknown, so that a new column needs nothing here. */
export function declaredTable<T extends object>(
  table: TableName,
  count: number,
  known: Partial<T>,
): T {
  const unknown = columnsOfTable(table).map(({ key }) => [key, Array<null>(count).fill(null)]);
  return { ...Object.fromEntries(unknown), ...known } as T;
}

export function operatorRows(names: string[], over: Partial<OperatorsTable> = {}): OperatorsTable {
  const all = <T>(value: T): T[] => names.map(() => value);
  return declaredTable("operators", names.length, {
    name: names,
    input_shapes: all(null),
    has_stack: all(false),
    time_share: all(0.25),
    calls: names.map((_, i) => i + 1),
    device_self_ns: names.map((_, i) => (names.length - i) * 1000),
    device_total_ns: names.map((_, i) => (names.length - i) * 2000),
    host_self_ns: names.map((_, i) => (names.length - i) * 300),
    host_total_ns: names.map((_, i) => (names.length - i) * 700),
    matrix_eligible: all(0),
    matrix_self_share: all(0.5),
    matrix_total_share: all(0.5),
    ...over,
  });
}

export function operators(
  names: string[] = ["aten::mm", "aten::add"],
  over: Partial<OperatorPayload> = {},
): OperatorPayload {
  return {
    group: "name",
    over: "Sums over all 2 steps.",
    has_device: true,
    vocabulary: GPU_WORDS,
    rows: operatorRows(names),
    frames: { parent: [], frame: [] },
    stacks: [],
    pooled: 0,
    missing: [],
    ...over,
  };
}

export function kernelRows(names: string[], over: Partial<KernelsTable> = {}): KernelsTable {
  const all = <T>(value: T): T[] => names.map(() => value);
  return declaredTable("kernels", names.length, {
    name: names,
    short_name: names.map((n) => n.slice(0, 24)),
    operator: all(null),
    no_operator: all(null),
    grid: all(null),
    block: all(null),
    registers: all(null),
    shared_memory_bytes: all(null),
    time_share: all(0.25),
    calls: all(2),
    total_ns: names.map((_, i) => (names.length - i) * 1000),
    mean_ns: names.map((_, i) => (names.length - i) * 500),
    min_ns: all(10),
    max_ns: all(900),
    blocks_per_sm: all(1.5),
    occupancy: all(0.5),
    matrix: all(2),
    matrix_eligible: all(2),
    communication: all(false),
    ...over,
  });
}

const NONE = { events: 0, ns: 0 };
/** Kernels named by their launches. */
export const NAMED_BY = {
  launch: { events: 940, ns: 1 },
  capture: NONE,
  compiled: NONE,
  annotation: NONE,
  replay: NONE,
  none: NONE,
};

export function kernels(
  names: string[] = ["void gemm<float>(int)", "vectorized_elementwise_kernel"],
  over: Partial<KernelPayload> = {},
): KernelPayload {
  return {
    group: "name",
    over: "Sums over all 2 steps.",
    vocabulary: GPU_WORDS,
    rows: kernelRows(names),
    measured: { name: [], short_name: [], calls: [], counters: [], values: [] },
    reasons: [{ key: "no_launch", text: "no launch recorded" }],
    pooled: 0,
    attribution: {
      device_events: 1000,
      kernels: 963,
      with_launch: 963,
      with_operator: 940,
      by: NAMED_BY,
    },
    missing: [],
    ...over,
  };
}

export function trace(over: Partial<TracePayload> = {}): TracePayload {
  return {
    file: "run/worker0.pt.trace.json.gz",
    bytes: 1_234_567,
    events: 20_000,
    span_ns: 1_200_000_000,
    origin_ns: "1623143568000000000",
    perfetto_url: "https://ui.perfetto.dev",
    steps: stepsOf([0, 1, 2, 3, 4, 5].map((i) => step(i))),
    ...over,
  };
}

export function file(path: string, over: Partial<RowOf<FilesTable>> = {}): RowOf<FilesTable> {
  return {
    path,
    run: "run",
    worker: "worker0",
    span: "1",
    state: "ready",
    reason: "",
    bytes: 1000,
    events: 10,
    lost: 0,
    ...over,
  };
}
