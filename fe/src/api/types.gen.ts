// Generated from torch_tb_profiler/views/wire.py by `python -m torch_tb_profiler.views.typescript --write`. Do not edit.
// Times are integer nanoseconds, sizes integer bytes, shares fractions of 1, unknown is null. Knowledge: 0 no, 1 yes, 2 unknown.

export type SpanState = "failed" | "growing" | "importing" | "ready" | "waiting";

export type RankSource = "distributedInfo" | "file name" | "order";

export type FileState = "failed" | "growing" | "importing" | "ready" | "rejected" | "waiting";

export type OperatorGroup = "name" | "shape" | "stack";

export type KernelGroup = "name" | "properties";

/** What went wrong; `progress` (0 to 1) only with code `not_ready`. */
export interface ErrorBody {
  code: string;
  message: string;
  hint: string;
  progress: number | null;
}

/** The one error shape of every route. */
export interface ErrorPayload {
  error: ErrorBody;
}

/** One trace file of a worker. `name` goes into URLs, `label` onto the page. */
export interface SpanItem {
  name: string;
  label: string;
  state: SpanState;
  progress: number;
  message: string;
  bytes: number;
}

/** One process of a run, its spans in time order. */
export interface WorkerItem {
  name: string;
  rank: number | null;
  rank_source: RankSource;
  world_size: number | null;
  spans: SpanItem[];
}

/** A directory that holds traces. `synthetic`: its traces say that a program made them up. */
export interface RunItem {
  name: string;
  synthetic: boolean;
  workers: WorkerItem[];
}

/** Route `/runs`. `version` changes whenever anything below it does. */
export interface RunsPayload {
  version: string;
  scanning: boolean;
  logdirs: string[];
  runs: RunItem[];
}

/** A file that was seen, what became of it, and why. */
export interface FileItem {
  path: string;
  run: string;
  worker: string;
  span: string;
  state: FileState;
  reason: string;
  bytes: number;
  events: number | null;
  lost: number | null;
}

/** Route `/diagnosis`: where was looked, what was found, what became of it. */
export interface DiagnosisPayload {
  version: string;
  logdirs: string[];
  notes: string[];
  files: FileItem[];
}

/** The vendor's words, e.g. `GPU`/`SM`/`Tensor Cores` or `accelerator`/`compute unit`/`matrix cores`. */
export interface Vocabulary {
  device: string;
  multiprocessor: string;
  matrix_cores: string;
}

/** Something a view cannot show, why, and the `profile(...)` call that records it. */
export interface Missing {
  what: string;
  why: string;
  call: string;
}

/** The eight categories of the step-time breakdown, ns. */
export interface Categories {
  kernel: number;
  memcpy: number;
  memset: number;
  communication: number;
  runtime: number;
  dataloader: number;
  cpu_exec: number;
  other: number;
}

/** One step. `odd_reason` is empty unless `odd`. */
export interface StepItem {
  index: number;
  name: string;
  start_ns: number;
  wall_ns: number;
  categories_ns: Categories;
  cold: boolean;
  odd: boolean;
  odd_reason: string;
  cut: boolean;
  selected: boolean;
}

/** Route `/steps`: what the step selector offers. `source` says what the steps are made from. */
export interface StepsPayload {
  source: string;
  steps: StepItem[];
}

/** Arithmetic mean over the selected steps, ns (rounded). */
export interface Average {
  steps: number;
  wall_ns: number;
  categories_ns: Categories;
}

/** A line of the configuration list. */
export interface Fact {
  label: string;
  value: string;
  hint: string;
}

/** An accelerator over the selected steps; shares are fractions, `null` is unknown with the reason in `unknown`. */
export interface DeviceSummary {
  id: number;
  name: string | null;
  memory_bytes: number | null;
  capability: string | null;
  multiprocessors: number | null;
  utilization: number | null;
  sm_efficiency: number | null;
  occupancy: number | null;
  matrix_core_share: number | null;
  matrix_unknown_share: number | null;
  unknown: string[];
}

/** A figure that a text rests on; `unit` is `ns`, `bytes`, `share`, `count` or empty. */
export interface Number {
  label: string;
  value: number;
  unit: string;
}

/** A link to documentation outside. */
export interface Link {
  text: string;
  url: string;
}

/** Something to try, with the numbers that it rests on and when it does not apply. */
export interface Recommendation {
  rule: string;
  title: string;
  text: string;
  caveat: string;
  numbers: Number[];
  links: Link[];
}

/** A counted defect of the trace, how much step time it touches (`null`: not located in time), what it makes doubtful. */
export interface DefectItem {
  name: string;
  severity: string;
  sentence: string;
  count: number;
  touched_ns: number | null;
  touched_share: number | null;
  doubtful: string[];
}

/** Route `/overview`. */
export interface OverviewPayload {
  configuration: Fact[];
  vocabulary: Vocabulary;
  step_source: string;
  steps: StepItem[];
  average: Average | null;
  devices: DeviceSummary[];
  recommendations: Recommendation[];
  health: DefectItem[];
  notes: string[];
  missing: Missing[];
}

/** One entry per row in each list. `shapes` is JSON text; `stack` is a row of `frames`; `calls` 0 never occurs. */
export interface OperatorColumns {
  name: string[];
  shapes: (string | null)[];
  stack: (number | null)[];
  has_stack: boolean[];
  calls: number[];
  device_self_ns: (number | null)[];
  device_total_ns: (number | null)[];
  host_self_ns: number[];
  host_total_ns: number[];
  matrix_eligible: number[];
  matrix_self_share: (number | null)[];
  matrix_total_share: (number | null)[];
}

/** Call stacks: a stack is a row here, its caller is `parent` (−1: outermost). */
export interface FrameTree {
  parent: number[];
  frame: string[];
}

/** Route `/operator`. `pooled` rows beyond the limit stand together in the last row, named `other`. */
export interface OperatorPayload {
  group: OperatorGroup;
  has_device: boolean;
  vocabulary: Vocabulary;
  rows: OperatorColumns;
  frames: FrameTree;
  pooled: number;
  missing: Missing[];
}

/** A call stack of an operator (frames innermost first) and the calls made from it. */
export interface StackItem {
  frames: string[];
  calls: number;
  device_self_ns: number | null;
  device_total_ns: number | null;
  host_self_ns: number;
  host_total_ns: number;
}

/** Route `/operator/stacks`: one operator's call stacks, the costliest first. `without`: calls that have none. */
export interface OperatorStacksPayload {
  name: string;
  shapes: string | null;
  stacks: StackItem[];
  without: number;
  missing: Missing[];
}

/** One entry per row in each list. `operator` null: see `reason`. Properties are null when grouped by name. `occupancy` is a fraction of 1. `short` is the readable form of `name`; `mean_ns` is rounded. */
export interface KernelColumns {
  name: string[];
  short: string[];
  operator: (string | null)[];
  reason: (string | null)[];
  grid: (string | null)[];
  block: (string | null)[];
  registers: (number | null)[];
  shared_memory_bytes: (number | null)[];
  calls: number[];
  total_ns: number[];
  mean_ns: number[];
  shortest_ns: number[];
  longest_ns: number[];
  blocks_per_sm: (number | null)[];
  occupancy: (number | null)[];
  matrix: number[];
  matrix_eligible: number[];
  communication: boolean[];
}

/** How many of the device events could be followed back to the host. */
export interface Attribution {
  device_events: number;
  kernels: number;
  with_launch: number;
  with_operator: number;
}

/** Route `/kernel`. */
export interface KernelPayload {
  group: KernelGroup;
  vocabulary: Vocabulary;
  rows: KernelColumns;
  pooled: number;
  attribution: Attribution;
  missing: Missing[];
}

/** Route `/trace`: what the Trace page offers. `origin_ns` is text because it exceeds what JavaScript counts exactly. */
export interface TracePayload {
  file: string;
  bytes: number;
  events: number;
  span_ns: number;
  origin_ns: string;
  perfetto_url: string;
  steps: StepItem[];
}
