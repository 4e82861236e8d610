// Generated from torch_tb_profiler/views/ by `python -m tests.generate --write`. Do not edit.
// Times are integer nanoseconds, sizes integer bytes, shares fractions of 1, unknown is null. Knowledge: 0 no, 1 yes, 2 unknown.

export type PathGroup = "event" | "line" | "module" | "operator" | "place" | "track";

export type Metric = "device" | "host";

export type LaneCategory = "backward" | "communication" | "compute" | "copies" | "data_loading" | "device_wait" | "forward" | "not_recorded" | "optimizer" | "python" | "waiting";

export type RanksGroup = "event" | "line" | "module" | "operator" | "rank";

export type CellKind = "B/s" | "FLOP" | "FLOP/s" | "bytes" | "code" | "count" | "delta" | "knowledge" | "number" | "share" | "text" | "time";

export type TimeGroup = "communication" | "compute" | "copies" | "data_loading" | "host_code" | "not_recorded" | "waiting";

export type ChangeTable = "category" | "host" | "kernel" | "module" | "operator" | "runtime";

export type DiffFormat = "csv" | "markdown";

export type ChangeStatus = "changed" | "gone" | "new" | "same";

export type Measure = "computation" | "exposed" | "hidden" | "late" | "other" | "step" | "transfer" | "waiting";

export type WorkerState = "failed" | "ready" | "waiting";

export type RankSource = "distributedInfo" | "file name" | "order";

export type MatrixSide = "node" | "rank" | "ranks";

export type Certainty = "certain" | "likely" | "theoretical";

export type FindingView = "distributed" | "efficiency" | "kernel" | "memory" | "module" | "operator" | "overview" | "trace";

export type MemoryBy = "category" | "line" | "module" | "operator" | "parent" | "stack";

export type Knowledge = "" | "inferred" | "recorded" | "recorded or inferred";

export type MemoryGroup = "module" | "operator";

export type MemorySource = "" | "records" | "snapshot" | "timeline";

export type HeatUnit = "bytes" | "ns";

export type SqlKind = "bytes" | "count" | "event" | "number" | "text" | "time";

export type GroupKindName = "calls" | "device_annotation" | "instant" | "python" | "sync" | "work";

export type ChosenKind = "all" | "annotation" | "device" | "first" | "operator" | "other" | "python" | "runtime";

export type Kind = "annotation" | "device" | "operator" | "other" | "python" | "runtime";

export type ChainKind = "annotation" | "device" | "launch" | "module" | "operator" | "python";

export type Direction = "in" | "out";

export type WaitingFor = "answer" | "timeline";

export type KernelGroup = "name" | "operator" | "properties";

export type OperatorGroup = "name" | "shape" | "stack";

export type SpanState = "failed" | "growing" | "importing" | "ready" | "waiting";

export type FileState = "failed" | "growing" | "importing" | "ready" | "rejected" | "waiting";

export type EfficiencyGroup = "kernel" | "operator";

export type FlameTree = "line" | "module";

export type FileFormat = "folded" | "speedscope";

export type LineGroup = "own" | "package";

export type ModuleSource = "" | "compiled" | "hierarchy" | "lightning" | "python";

/** Route `/ask`. `sentence`: the answer to no question at all, and what is said where nothing has that name; else empty. `over`: the step that times are of, where there are any. */
export interface AskPayload {
  subject: Subject;
  sentence: string;
  over: string;
  rows: AskTable;
}

/** One category of a lane, on the path or beside it: of each column, from 0 to 250, how much it fills. */
export interface LanePart {
  lane: Metric;
  category: LaneCategory;
  on_path: boolean;
  columns: number[];
}

/** A stretch that is cut out of the columns: nothing shows what the devices did. */
export interface CutStart {
  start_ns: number;
  length_ns: number;
}

/** The path is on one rank; `worker`: its place in `workers`. */
export interface RankRun {
  worker: number;
  start_ns: number;
  end_ns: number;
}

/** A step as two lanes and a path. `shown_ns`: what the columns divide into equal parts: its length without `cuts`. The parts on the path fill exactly one column at every moment; with those beside it they fill the host's lane, and of the device's what `busy` says, beside copies. `all_ns`: time of a group whether or not it is on the path, by its key, where that is known. `busy`: share of the time in which a kernel runs; null without a device. `stretches`: of the path, 1 % of the step or longer. `ranks`: which rank the path is on; empty for a trace alone. */
export interface Glyph {
  shown_ns: number;
  columns: number;
  parts: LanePart[];
  cuts: CutStart[];
  all_ns: Readonly<Record<string, number>>;
  busy: number | null;
  stretches: PathStretchesTable;
  ranks: RankRun[];
}

/** One category of a lane, on the path or beside it: its time in each step, ns. */
export interface LaneTimes {
  lane: Metric;
  category: LaneCategory;
  on_path: boolean;
  time_ns: number[];
}

/** The path of one step; `step`: its number in the trace. */
export interface PathStrip {
  step: number;
  name: string;
  start_ns: number;
  end_ns: number;
  glyph: Glyph;
}

/** Route `/critical_path`. `headline`: the largest part in words; `contrast`: what takes a much larger, or smaller, part of the path than of all time. `strips`: the paths of the selected steps, of more than three that of the median one; `parts`: what those that are drawn are made of. What a kind is called is the label of its column in `steps`. */
export interface CriticalPathPayload {
  subject: Subject;
  vocabulary: Vocabulary;
  headline: string[];
  contrast: string[];
  parts: PathKindsTable;
  steps: PathStepsTable;
  strips: PathStrip[];
  missing: Missing[];
}

/** Route `/critical_path/rows`: the path, or what of it lies in a window, by kind and by what was asked. `pooled`: how many rows the last one stands for. */
export interface PathRowsPayload {
  parts: PathKindsTable;
  rows: PathEventsTable;
  pooled: number;
}

/** Route `/trace/path`: columns of the segments of the path in a window, by lane and begin, and of the arrows where it goes on on another thread or stream, thinned. */
export interface PathOverlayPayload {
  lane: number[];
  kind: string[];
  event: number[];
  start_ns: number[];
  end_ns: number[];
  source_lane: number[];
  target_lane: number[];
  source_ns: number[];
  target_ns: number[];
}

/** Route `/trace/event/path`: time of an event on the critical path: in it alone, in it and what it called on its thread, and from its launch, or the work before it, until it began. `step_ns`: length of its step; null outside of steps. `slack_ns`: how much later it could have ended without moving the end of any step; null where nothing recorded waits for it. */
export interface EventPathPayload {
  itself_ns: number;
  within_ns: number;
  before_ns: number;
  step_ns: number | null;
  slack_ns: number | null;
}

/** A rank of the run. `shift_ns`: what to add to a time of the path for a time in its own trace. */
export interface RanksWorker {
  worker: string;
  span: string;
  rank: number | null;
  shift_ns: number;
}

/** Route `/critical_path/ranks`. Times are ns on the common clock after the begin of the first step of the run; `worker` in tables is a place in `workers`, the ranks that were read. While `progress` is below 1 nothing is known yet: ask again. `strips`: of more than three steps that of the median one. `clock`: how the clocks were aligned and how well. */
export interface RanksPathPayload {
  progress: number;
  subject: Subject;
  steps: number;
  headline: string[];
  notes: string[];
  clock: string;
  workers: RanksWorker[];
  parts: PathKindsTable;
  strips: PathStrip[];
}

/** Route `/critical_path/ranks/rows`: the path through all ranks, or what of it lies in a window, by kind and by what was asked. `pooled`: how many rows the last one stands for. */
export interface RanksRowsPayload {
  parts: PathKindsTable;
  rows: PathRanksTable;
  pooled: number;
}

/** A rank, and the slowdown with it alone as it was. */
export interface SlowRank {
  worker: string;
  rank: number | null;
  slowdown: number;
}

/** An operation, and the slowdown with it alone as it was. */
export interface SlowOperation {
  name: string;
  slowdown: number;
}

/** Route `/stragglers`: mean step over all ranks as measured, replayed and predicted without stragglers, ns, and the slowdown as StragglerAnalysis defines it. `refused`: why nothing was simulated, else empty; while `progress` is below 1 neither: ask again. `note`: of which steps the replay is not used. `path`: the run's folder in the logdir, for commands. Unknown is null. */
export interface StragglersPayload {
  progress: number;
  refused: string;
  note: string;
  path: string;
  subject: Subject;
  steps: number;
  measured_ns: number | null;
  replayed_ns: number | null;
  replay_error: number | null;
  predicted_ns: number | null;
  low_ns: number | null;
  high_ns: number | null;
  slowdown: number | null;
  by_worker: SlowRank[];
  by_operation: SlowOperation[];
}

/** Route `/critical_path/steps`. `ranks`: of how many ranks the path is, 0 of this trace alone. While `progress` is below 1 ranks are being read and no step is known: ask again. `sentences`: which step is odd and why, else how alike they are. `device`: what computes, `CPU` without an accelerator. `median`: the number of the step of median length among those that are neither cold, odd nor cut off; `slowest_odd`: of the odd step that takes longest; −1 none. `kinds`: as of `OverviewPayload`. `lanes`: what the device and the host of the rank on the path did in each row. Of very many steps a row is the sum of several, without lanes. */
export interface StepCausesPayload {
  progress: number;
  subject: Subject;
  sentences: string[];
  ranks: number;
  device: string;
  median: number;
  median_ns: number;
  slowest_odd: number;
  kinds: KindOfSteps[];
  note: string;
  lanes: LaneTimes[];
  steps: StepCausesTable;
}

/** What differs. `group`: its key, `other` for all that are small. `who`: the rank; `what`: the operator; `at`: the user's line as `file.py:12`, `line` all of it; each empty where nothing alone makes half of the difference. */
export interface DifferencePart {
  group: string;
  label: string;
  difference_ns: number;
  who: string;
  what: string;
  at: string;
  line: string;
}

/** A rank and how late it came to the collectives of the step in all; null unknown. */
export interface LateRank {
  name: string;
  late_ns: number | null;
}

/** A step: its number, its number in the trace that is to be looked at (−1 none), what people call it, and its length. */
export interface ComparedStep {
  step: number;
  trace_step: number;
  label: string;
  wall_ns: number;
}

/** Route `/critical_path/step`: why a step takes longer, or shorter, than the median step; null without another step. The differences of `parts`, the largest first, add up to that of the steps. `places`: operators at their lines that differ most, of a trace alone; `late`: how late each rank came, the ranks in their order. `worker` and `span`: the trace to look at, of the rank that makes the largest part; empty: the asked one. */
export interface StepDifferencePayload {
  headline: string;
  worker: string;
  span: string;
  step: ComparedStep;
  median: ComparedStep | null;
  parts: DifferencePart[];
  places: DifferencePart[];
  late: LateRank[];
}

/** A parameter of a change; without a default it is empty. `values`: the only ones, if there are. */
export interface ChangeParameter {
  name: string;
  default: string;
  about: string;
  values: string[];
}

/** A change that can be simulated. `words`: what it does; for parameters in braces: `{of_name}` is ` of ` and the value, or nothing where all are meant; `{chosen}` all selectors that are given. `selects`: at least one selector must be. */
export interface DeclaredChange {
  name: string;
  words: string;
  selects: boolean;
  parameters: ChangeParameter[];
}

/** A change with its values: as text, and in words. */
export interface ChosenChange {
  change: string;
  words: string;
}

/** All chosen changes together; times per step, ns. `absent`: nothing that they act on was recorded. `kinds`: what the critical path is made of. `drawn`: of a single step of which all was recorded, as it is and as predicted; else empty. `device`: what computes. */
export interface WhatIfPrediction {
  changes: ChosenChange[];
  measured_ns: number;
  replayed_ns: number;
  replay_error: number;
  predicted_ns: number;
  low_ns: number;
  high_ns: number;
  absent: boolean;
  kinds: WhatIfKindsTable;
  steps: PredictedStepsTable;
  drawn: PathStrip[];
  device: string;
}

/** Route `/what_if`. `measured_ns`: mean wall time of the steps of `subject`; `replay_error`: by which share the simulation without a change misses it; null without steps. `path`: the file in the logdir, for commands. */
export interface WhatIfPayload {
  subject: Subject;
  path: string;
  steps: number;
  measured_ns: number | null;
  replay_error: number | null;
  presets: WhatIfTable;
  catalogue: DeclaredChange[];
  prediction: WhatIfPrediction | null;
}

/** A side. `step`: its number in the trace, which begins at `start_ns`; `step_name`: in words; `length_ns`: without work from before the recording; `of`: of how many compared steps it is the median; `recorded`: the date, UTC; null unknown. */
export interface AlignedSide {
  run: string;
  worker: string;
  span: string;
  step: number;
  step_name: string;
  start_ns: number;
  length_ns: number;
  of: number;
  recorded: string | null;
  glyph: Glyph;
}

/** A group of what the end of the steps waited for; the changes of all add up to the difference of the steps. `more`: what made most of it; may be empty. */
export interface AlignedChange {
  group: TimeGroup;
  label: string;
  before_ns: number;
  after_ns: number;
  more: string;
}

/** Two steps that begin at one moment: of A, before, and of B, after. `device`: what computes. */
export interface Aligned {
  before: AlignedSide;
  after: AlignedSide;
  device: string;
  changes: AlignedChange[];
}

/** Route `/diff/aligned`. `steps`: null where a side has no step. */
export interface AlignedPayload {
  steps: Aligned | null;
}

/** A recording. `begin_ns`: of the first step that has a partner, else of the recording; `step_name`: where one step alone has a partner, in words. */
export interface AxisSide {
  run: string;
  worker: string;
  span: string;
  begin_ns: number;
  step_name: string;
}

/** Two recordings on one axis: columns of points of a line, ns on the axis and after the first event of each recording. Where both sides go on as the axis does they do the same; where one stands still it waits for the other, and `group` is what the other spends most of it on, null elsewhere. All these gaps add up to the difference of the recordings. `device`: what computes; `length_ns`: of the axis; `matched` of `operations` in `steps` pairs of steps; `note`: why only the steps stand above each other. */
export interface AxisPayload {
  before: AxisSide;
  after: AxisSide;
  device: string;
  length_ns: number;
  steps: number;
  matched: number;
  operations: number;
  note: string;
  axis_ns: number[];
  before_ns: number[];
  after_ns: number[];
  group: (TimeGroup | null)[];
}

/** The recording that the asked one is best compared with: its row and why. */
export interface Suggestion {
  row: number;
  reason: string;
}

/** Route `/experiments`. `base`: the row of the asked recording, which the others are compared with. `total`: rows in all. `progress` below 1: ask again, recordings are still being read. `suggestion`: null while the base is read, and where no earlier recording is of the same work. `rules`: how rows, differences and the suggestion are made. */
export interface ExperimentsPayload {
  rows: ExperimentsTable;
  base: number;
  total: number;
  progress: number;
  suggestion: Suggestion | null;
  rules: string[];
}

/** One side: which trace and steps, and its step times; `kind` of its subject may be a unit. Of `steps` those that are compared are `selected`; `selected` counts them. `spread_ns`: standard deviation over the compared steps; null with fewer than two. */
export interface DiffSide {
  subject: Subject;
  run: string;
  worker: string;
  span: string;
  label: string;
  device: string | null;
  step_source: string;
  steps: StepsTable;
  selected: number;
  mean_ns: number | null;
  spread_ns: number | null;
}

/** The work of a step of B beside one of A, by input shapes. `factor`: how many times as much; `unit`: `sample`, `token` or `pixel`; `count_a`, `count_b`: how many of these a step has, as far as shapes tell (0: unknown). */
export interface Work {
  factor: number;
  unit: string;
  count_a: number;
  count_b: number;
}

/** What recordings without steps are compared by, and how many of them each holds: an item lasts from one begin of `name` to the next. */
export interface Unit {
  name: string;
  count_a: number;
  count_b: number;
}

/** A part of the change of the step; the `delta_ns` of all add up to that of the verdict, and none is larger. `what`: rows of a table, or a category where it is all of it or what rows leave; `category`: the label of its category; `share`: of the change. */
export interface Cause {
  what: string;
  category: string;
  delta_ns: number;
  share: number;
}

/** Steps of another kind that both recordings have: `changed` is true only if p is small enough for so many kinds; other fields as in `Verdict`. */
export interface KindVerdict {
  name: string;
  sentence: string;
  share: number | null;
  changed: boolean | null;
  apart: boolean;
}

/** Whether the step became faster. `changed`: true; false: it is shown that it did not, within the margin that `test` names; null: neither can be told, and `needed` steps of each side would tell. `share`: the change as a share of A's step, the median over all pairs of a step of B and one of A; `low` to `high`: its interval, 1 % beyond either end (null: too few steps for one). `delta_ns`: of the mean steps, which the tables add up to. `test` says how it was tested, `p` its p-value, one-sided (null: of several workers). `apart`: too few steps for that; all after are longer, or all are shorter, than each before by more than either side varies, for which `--fail-on` asks twice its limit. `work`: where B does more or less work in a step; then all of these are of as much of B as a step of A does (null: the same work, or unknown). `unit`: of recordings without steps, what stands for a step in all of these (null: steps, or the whole). `kinds`: steps of other kinds, each compared for itself. `sentence`: the first line of the page. `because`: what made most of the change; may be empty. */
export interface Verdict {
  sentence: string;
  because: string;
  delta_ns: number | null;
  share: number | null;
  changed: boolean | null;
  low: number | null;
  high: number | null;
  needed: number | null;
  test: string;
  p: number | null;
  work: Work | null;
  apart: boolean;
  unit: Unit | null;
  kinds: KindVerdict[];
}

/** What the times of one table add up to, per step: of categories the step. `pooled`: rows that stand together in its last one. */
export interface ChangeWhole {
  table: ChangeTable;
  time_a_ns: number;
  time_b_ns: number;
  pooled: number;
}

/** What a device held at the peak of either side, bytes. */
export interface PeakChange {
  device: string;
  before_bytes: number;
  after_bytes: number;
}

/** Of recordings of allocations their peaks. `verdict`: of the device whose peak grew by the largest share; `rows`: empty where one side is a trace. */
export interface MemoryDiff {
  devices: PeakChange[];
  rows: DiffMemoryTable;
  verdict: Verdict;
  notes: string[];
}

/** Route `/diff`. `headline`: the answer of the median steps in two sentences. `notes`: what makes the comparison weak (other device, other shapes, cold steps, few steps …). `causes`: what the change is made of, the largest first. `memory`: where a side holds allocations alone; then `headline`, `verdict` and `notes` are of the peaks. `device_time`: both sides have device times of operators, and operators and modules are compared by them; else by host self time. */
export interface DiffPayload {
  a: DiffSide;
  b: DiffSide;
  headline: string[];
  verdict: Verdict;
  device_time: boolean;
  causes: Cause[];
  changes: DiffTable;
  wholes: ChangeWhole[];
  tree: DiffTreeTable;
  tree_pooled: number;
  notes: string[];
  missing: Missing[];
  memory: MemoryDiff | null;
}

/** Route `/distributed/groups`. `sent_bytes`: from each of `names` (rows) to each (columns); null within a rank. `side`: what a row and a column is: a rank, a node, or as many consecutive ranks as `together` says. `rule`: how the bytes were counted, in words. */
export interface ProcessGroupsPayload {
  groups: ProcessGroupsTable;
  names: string[];
  side: MatrixSide;
  together: number;
  sent_bytes: ((number | null)[])[];
  rule: string;
  notes: string[];
  progress: number;
}

/** A worker of the run, by rank. `offset_ns`: add it to its times to get the common clock; null: not aligned. `error_ns`: median distance of its collectives' ends from the median over the workers. `node`, `process`: empty when not known. `message`: why it is not ready. */
export interface DistributedWorker {
  worker: string;
  span: string;
  rank: number | null;
  rank_source: RankSource;
  node: string;
  process: string;
  state: WorkerState;
  message: string;
  backend: string | null;
  devices: string[];
  offset_ns: number | null;
  error_ns: number | null;
  collectives: number;
}

/** Per worker and column, summed over its steps; the four add up to them. Null where a worker has no such step. */
export interface OverlapColumns {
  computation_ns: ((number | null)[])[];
  overlap_ns: ((number | null)[])[];
  communication_ns: ((number | null)[])[];
  other_ns: ((number | null)[])[];
}

/** Per worker and column, summed over its steps: time in matched collectives before the last rank arrived (`waiting`) and after (`transfer`), and in those of which that is not known (`unsplit`). Moments at which several run count once, so that the three add up to the time with any collective. `late`: how much later than the first of its group this worker arrived, summed over the collectives of the steps. */
export interface WaitingColumns {
  waiting_ns: ((number | null)[])[];
  transfer_ns: ((number | null)[])[];
  unsplit_ns: ((number | null)[])[];
  late_ns: ((number | null)[])[];
}

/** Work of a rank that holds the others back. `kind`: what the critical path calls it; `held_ns`: as of its `Blame`; `event`: the longest of it on the path. */
export interface BlamedPart {
  kind: string;
  name: string;
  held_ns: number;
  event: number;
  module: string | null;
  line: string | null;
}

/** Who holds a step back. `worker`, `also`: places in `workers`; `also` take as long, without being on the path. `held_ns`: what the work of the worker on the critical path takes longer than that of the others; `path_ns`: the path on it. `parts`: what takes longer, the most first; `text` says it in words. */
export interface BlameItem {
  step: number;
  worker: number;
  also: number[];
  held_ns: number;
  path_ns: number;
  parts: BlamedPart[];
  text: string;
}

/** What a worker costs the others by the verdict: `held_ns` of each of the steps that `text` tells (`in 5 of 9 steps`, `once, in step 7`). */
export interface RankCost {
  worker: number;
  held_ns: number;
  text: string;
}

/** Collectives that other ranks did not record alike, by kind and group: how many each worker has, and a sentence on why. */
export interface Unmatched {
  kind: string;
  group: string | null;
  counts: number[];
  reason: string;
}

/** Route `/distributed`. `worker` and `step` of the parts are places in `workers` and `steps` (names common to the workers). `own_steps`: which step of the asked worker each of them is, −1 none. `column_begin`: the first step of each column. `counts`: how many of the steps of a column each worker has; empty where each column is one step. `matched`: collectives that at least two workers share. `skew_ns`: how far apart the workers' profilers began; `left_out`: collectives at the begin that this skew spoils and that no figure of waiting holds. `clock`: a sentence on how the clocks were aligned and how well. `ready`: workers whose figures are in; while `progress` is below 1, ask again. `workers_total`: of the run; beyond a limit the nearest ranks are listed; `world_size`: ranks of the job, null unknown. `costs`: whom the verdict names, nobody where it is unknown. `unjudged`: steps that it leaves out, such as cold ones. `headline`: who holds the others back, and why, the answer first. */
export interface DistributedPayload {
  subject: Subject;
  workers: DistributedWorker[];
  steps: string[];
  own_steps: number[];
  column_begin: number[];
  counts: number[][];
  step_source: string;
  overlap: OverlapColumns;
  waiting: WaitingColumns;
  blame: BlameItem[];
  costs: RankCost[];
  unjudged: number[];
  operations: OperationsTable;
  matched: number;
  unmatched: Unmatched[];
  clock: string;
  skew_ns: number | null;
  left_out: number;
  ready: number;
  progress: number;
  workers_total: number;
  world_size: number | null;
  headline: string[];
  notes: string[];
  missing: Missing[];
}

/** A worker far above the others. `text`: who, by how much, in words. */
export interface MapOutlier {
  worker: number;
  text: string;
}

/** Route `/distributed/map`: one measure of every worker and step, for the heat map. `column_begin`: the first of the `steps` of each column, of which a cell holds the largest. `values_ns`: null where a worker has no such step, or it is not known. `means_ns`: per worker, the mean of its steps. `outliers`: the largest first. */
export interface DistributedMapPayload {
  subject: Subject;
  measure: Measure;
  steps: string[];
  column_begin: number[];
  values_ns: ((number | null)[])[];
  means_ns: (number | null)[];
  outliers: MapOutlier[];
  progress: number;
}

/** An event that a finding rests on; `event` is its number on the timeline of `worker` and `span`. */
export interface Evidence {
  label: string;
  worker: string;
  span: string;
  event: number;
  start_ns: number;
  dur_ns: number;
}

/** Something that costs time. `action` says in a few words what to do, `fact` what decides it, `often` in which steps (empty for a single one); `steps`: their rows. `step`: the row of the step that the saving is of, null where that is the median one. `subject`: what its figures are of, null where that is the step of the reply: who holds others back is told of a step of the job. `sentence` names what and how much. `recoverable_ns`: by how much a step that has it would be shorter with the change that the finding states, simulated (`null`: it costs no step time, e.g. memory near capacity; `share` and `certainty` are null then too); `recoverable_mean_ns`: the mean step. From what to what such changes really came to: `recoverable_low_ns`, `recoverable_high_ns`; `acted_ns`: the time on the critical path of that step that the change acts on. `holds`: position of the finding before it that most of its time is told of, null none. `change`: that change as `whatif` takes it, where it has a name. `evidence`: the most expensive few of `evidence_count`. `line`: `file(line): function` where known. `attempt`: what to try; `edit`: how one call changes, as a diff, a pattern and no line of this program; `caveat`: when it does not apply. `artefact`: of the profiler itself. */
export interface Finding {
  rule: string;
  title: string;
  action: string;
  fact: string;
  often: string;
  steps: number[];
  step: number | null;
  subject: Subject | null;
  sentence: string;
  views: FindingView[];
  recoverable_ns: number | null;
  recoverable_low_ns: number | null;
  recoverable_high_ns: number | null;
  recoverable_mean_ns: number | null;
  acted_ns: number | null;
  holds: number | null;
  share: number | null;
  certainty: Certainty | null;
  change: string | null;
  artefact: boolean;
  evidence: Evidence[];
  evidence_count: number;
  line: string | null;
  attempt: string;
  caveat: string;
  edit: string;
  numbers: Number[];
  links: Link[];
}

/** All changes of a certainty and of greater ones at once, simulated together: what they save per step, and the step that is left, with an interval. */
export interface Total {
  certainty: Certainty;
  recoverable_ns: number;
  share: number;
  step_ns: number;
  low_ns: number;
  high_ns: number;
}

/** What the answer says as numbers, null where it says none: that `part_ns` of `whole_ns` is taken, that most of it, or `place_ns`, is at a place, and that `left_ns` would be left. `rule`: of the finding that is the answer, null where none is. `group`: the part of the strip that it is about, where it is about all of one, `nothing` where no event was recorded. `subject`: whose step `whole_ns` is, null where that is null. */
export interface Told {
  subject: Subject | null;
  rule: string | null;
  group: string;
  part_ns: number | null;
  whole_ns: number | null;
  place_ns: number | null;
  left_ns: number | null;
}

/** Route `/findings`, the one to act on first. `steps` were analysed: the selected ones; where all are, cold and cut ones are left out, if others are there. `median` is the row of the one that speaks for them, of `step_ns`; what saves time in each of them is told of it, what happens in some of a step of its own (`Finding.step`). On average they take `mean_ns`. `about`: kind of run, device and step in words. `line`: the line that `detail` names, with its folders. `totals`: one per certainty that occurs; `together`: why what they save differs from the sum of the findings, empty where it does not. `healthy`: nothing above the threshold of 2 % of the step, the profiler's own doing left out, and enough was recorded to say so. `headline` is the one-sentence answer, `detail` what follows it: where, and what then. `unsure`: what could not be judged and why. `progress`: below 1 while other workers of the run are read, which may add who keeps this one waiting: ask again. */
export interface FindingsPayload {
  subject: Subject;
  headline: string;
  detail: string;
  told: Told;
  line: string | null;
  about: string;
  median: number | null;
  healthy: boolean;
  steps: number;
  step_ns: number | null;
  mean_ns: number | null;
  findings: Finding[];
  totals: Total[];
  together: string;
  unsure: string[];
  missing: Missing[];
  progress: number;
}

/** A device with allocator records. `key` goes into URLs. `blocks`: how many can be listed; 0 where the records give no addresses. `headline`: its peak, and how near that is to what the device has. */
export interface MemoryDevice {
  key: number;
  name: string;
  peak_bytes: number;
  peak_ns: number;
  blocks: number;
  has_map: boolean;
  headline: string[];
}

/** An allocation that failed for lack of memory: `sentence` what was asked for and free, `why` what held the rest and whether fragmentation is why. `device`: its key, where the file says it. `allocated_bytes`: what the device held. `unused_bytes`: reserved and in no block, in so many `pieces`; `pieces_bytes`: the largest, in order; null where the file does not tell them. */
export interface MemoryFailure {
  time_ns: number;
  device: number | null;
  sentence: string;
  why: string[];
  requested_bytes: number | null;
  free_bytes: number | null;
  allocated_bytes: number | null;
  unused_bytes: number | null;
  pieces_bytes: number[] | null;
  pieces: number;
}

/** Route `/memory`: devices, that of the first failure first, then the one with the most allocated bytes at its peak, the CPU last. `categories`: what blocks are for, then what was there before the recording, and what is unknown; empty where no category is known. `categories_known`: of each how it is known. `failures`: the first allocations that failed. */
export interface MemoryPayload {
  source: MemorySource;
  span_ns: number;
  devices: MemoryDevice[];
  categories: string[];
  categories_known: Knowledge[];
  failures: MemoryFailure[];
  has_modules: boolean;
  has_stacks: boolean;
  steps: StepsTable;
  notes: string[];
  missing: Missing[];
}

/** Route `/memory/curve`: a staircase. Row i holds from its time to the next one. Thinned to about `n` parts: of each the first, lowest, highest and last value stay at their own times, so no peak is lost. `thinned`: whether it was. `categories_bytes`: one list per category of `/memory`; at each point they add up to `allocated_bytes`. Empty where no category is known. */
export interface MemoryCurvePayload {
  rows: MemoryTable;
  categories_bytes: number[][];
  thinned: boolean;
  peak_bytes: number;
  peak_ns: number;
}

/** Route `/memory/blocks`: blocks that were allocated or released in the window, the largest first; `pooled` more, of `pooled_bytes`, are not listed. */
export interface MemoryBlocksPayload {
  rows: MemoryBlocksTable;
  pooled: number;
  pooled_bytes: number;
}

/** Route `/memory/statistics`. `pooled` rows beyond the limit stand together in the last row, named `other`, by their own figures only. `outside_bytes`, `outside_increase_bytes`: allocated, and allocated less released, by no known operator or module; the latter and the self increase of all rows add up to what the records of the window change. */
export interface MemoryStatisticsPayload {
  group: MemoryGroup;
  rows: MemoryStatisticsTable;
  outside_bytes: number;
  outside_increase_bytes: number;
  pooled: number;
}

/** Columns of the frames of a flame graph, parents first: `parent` −1 outermost; `kind` as in `flame`, `rest` of what no call is known of; `bytes` with all beneath. The outermost add up to what is allocated. */
export interface HeldFrames {
  parent: number[];
  name: string[];
  kind: string[];
  bytes: number[];
}

/** Route `/memory/alive`: the blocks alive at a moment. Listed + `pooled_bytes` + `unknown_bytes` = `allocated_bytes`. `unknown_bytes`: allocated before the recording, of which only the sum is known; below 0 where the records contradict each other. `fragmented_bytes`: reserved less allocated; null unknown. `frames`: all of it by the calls that lead there. */
export interface MemoryAlivePayload {
  time_ns: number;
  allocated_bytes: number;
  reserved_bytes: number | null;
  fragmented_bytes: number | null;
  unknown_bytes: number;
  frames: HeldFrames;
  rows: MemoryAliveTable;
  pooled: number;
  pooled_bytes: number;
}

/** Route `/memory/changes`: before and after, the largest change first; `pooled` more rows, of `pooled_delta_bytes`, are not listed. `before_bytes`, `after_bytes`: allocated at the moments. */
export interface MemoryChangesPayload {
  before_ns: number;
  after_ns: number;
  before_bytes: number;
  after_bytes: number;
  rows: MemoryChangesTable;
  pooled: number;
  pooled_delta_bytes: number;
}

/** Per cell its bytes; what is left of `reserved` is free. `rounding` and `pending` are parts of `allocated`. */
export interface MemoryMapCells {
  reserved: number[];
  allocated: number[];
  rounding: number[];
  pending: number[];
}

/** Route `/memory/map`: segments laid end to end and cut into cells of `cell_bytes`. `reserved_bytes` … `split_bytes`: of the chosen segments; `pools`: of all. `begin_bytes`, `end_bytes`: the part that is shown. `starts`: cells in which a segment begins. `blocks`: the largest in it; `stacks`: theirs, innermost frame first. */
export interface MemoryMapPayload {
  reserved_bytes: number;
  allocated_bytes: number;
  rounding_bytes: number;
  free_bytes: number;
  largest_free_bytes: number;
  split_bytes: number;
  fragmentation: number | null;
  segments: number;
  begin_bytes: number;
  end_bytes: number;
  cell_bytes: number;
  cells: MemoryMapCells;
  starts: number[];
  pools: MemoryPoolsTable;
  blocks: MemoryMapBlocksTable;
  stacks: string[];
}

/** A worker of the run, by rank. `node`: its host, empty unknown. */
export interface RunWorker {
  worker: string;
  rank: number | null;
  node: string;
}

/** A dimension of the job, those with the nearest ranks first. `values`: names of its places, empty where they are numbers. `place`: of each worker, -1 unknown. */
export interface RankDimension {
  name: string;
  values: string[];
  place: number[];
}

/** The workers of the run and their coordinates. `known`: false while nobody has asked for the ranks; then the rest is empty. `progress` below 1: ask again. */
export interface OverviewRanksPayload {
  known: boolean;
  progress: number;
  workers: RunWorker[];
  dimensions: RankDimension[];
}

/** A function in its file as it is now. file: within its folder; first: number of the first of its `lines`; was: that of the recording where it is another, −1 unknown or the same; lines: at most 40, `cut` how many more follow; heat: ns or bytes, with all that it calls; share: of all; line_heat: of each of the lines, those around the hot ones; none where only the function is known. */
export interface ShownFunction {
  file: string;
  name: string;
  first: number;
  was: number;
  lines: string[];
  cut: number;
  heat: number;
  share: number;
  line_heat: number[];
}

/** Routes `/source` and `/memory/source`. `functions`: in the order of their files, the file with most heat first; `unit`: of the heat; `notes`: sentences on them. */
export interface SourcePayload {
  functions: ShownFunction[];
  unit: HeatUnit;
  notes: string[];
}

/** A column of a result. */
export interface SqlColumn {
  name: string;
  kind: SqlKind;
}

/** Route `/sql`. `values[c][i]`: row i of column c; lists and numbers beyond 2^53 are texts. `total`: rows of the whole result, null where counting them took too long. `note`: what is missing, empty where nothing is. `statement`: what was asked, of an example too. */
export interface SqlPayload {
  statement: string;
  columns: SqlColumn[];
  values: ((string | number | number | null)[])[];
  total: number | null;
  note: string;
}

/** A column of a table: its type in SQL, its unit (empty: none) and a sentence. */
export interface SqlTableColumn {
  name: string;
  type: string;
  unit: string;
  doc: string;
}

/** A table, by the name that a statement uses. `topic`: what its schema holds. */
export interface SqlTableItem {
  name: string;
  topic: string;
  doc: string;
  columns: SqlTableColumn[];
}

/** A question and the statement that answers it. */
export interface SqlExample {
  question: string;
  statement: string;
}

/** Route `/sql/tables`. `missing`: the command that installs what statements need; empty where it is there. */
export interface SqlTablesPayload {
  tables: SqlTableItem[];
  examples: SqlExample[];
  missing: string;
}

/** A column: its name, what kind of values it holds, their unit (empty: none) and a sentence. */
export interface TableColumn {
  name: string;
  kind: string;
  unit: string;
  doc: string;
}

/** `rows`: the values of each column, null unknown. `pooled`: rows that the last row pools; 0 none. */
export interface TablePayload {
  name: string;
  doc: string;
  columns: TableColumn[];
  rows: Readonly<Record<string, unknown[]>>;
  pooled: number;
}

/** Lanes `lane` to `lane + lanes - 1`: one kind of event of one thread or stream. Groups come in the order in which they are shown. `key` is stable over reloads (for the URL); `process` and `thread` are texts for people, `process_key` tells processes apart; `device`: whether it is a stream of an accelerator. `depth` and `sub` are those of each lane; `sub` > 0 marks an overlap sub-row. */
export interface TimelineGroup {
  key: string;
  kind: GroupKindName;
  process_key: string;
  process: string;
  thread: string;
  pid: string;
  tid: string;
  device: boolean;
  lane: number;
  lanes: number;
  events: number;
  overlapping: number;
  depth: number[];
  sub: number[];
}

/** A curve of the timeline. `mean`: draw the mean over time of each bucket (a utilisation) instead of its highest value. */
export interface CounterSeries {
  key: string;
  name: string;
  process_key: string;
  unit: string;
  mean: boolean;
  lowest: number;
  highest: number;
}

/** Arrows of one kind and how many there are. */
export interface ArrowKind {
  kind: string;
  label: string;
  total: number;
}

/** The boundaries of a step, or of `steps` consecutive ones from number `step` on: of its window, and of the host's annotation alone. */
export interface TimelineStep {
  step: number;
  steps: number;
  name: string;
  start_ns: number;
  end_ns: number;
  host_start_ns: number;
  host_end_ns: number;
}

/** A stretch of the trace that a defect touches. */
export interface TimelineMark {
  defect: string;
  start_ns: number;
  dur_ns: number;
}

/** Route `/trace/timeline`. `id` names this content of the trace; the other routes want it back. `work_start_ns` to `work_end_ns`: from the first to the last event with a length, the profiler's own span aside, and what no figure counts at the begin; what a view is opened on. `origin_ns`: Unix time of the first event where known, as text. `names`: how many pages of `/trace/names` there are to ask for. `groups`: at most 2,000, those with the most events; there are `groups_total`. `device_activity` and `host_activity`: busy share of equal parts of the span, 0 to 255, null where there is none; for the minimap. */
export interface TimelinePayload {
  id: string;
  span_ns: number;
  work_start_ns: number;
  work_end_ns: number;
  origin_ns: string;
  events: number;
  level_max: number;
  tile_bits: number;
  name_count: number;
  name_page: number;
  has_modules: boolean;
  groups: TimelineGroup[];
  groups_total: number;
  counters: CounterSeries[];
  arrow_kinds: ArrowKind[];
  steps: TimelineStep[];
  marks: TimelineMark[];
  device_activity: number[] | null;
  host_activity: number[] | null;
}

/** Route `/trace/names`: names `first`, `first + 1` ... as tiles number them, each cut to what a label can hold. */
export interface NamesPayload {
  first: number;
  names: string[];
}

/** One series in equal buckets of the window; null where nothing was sampled yet. */
export interface CounterCurve {
  lowest: (number | null)[];
  highest: (number | null)[];
  mean: (number | null)[];
}

/** Route `/trace/counters`: the asked series, in that order. */
export interface CountersPayload {
  t0_ns: number;
  t1_ns: number;
  curves: CounterCurve[];
}

/** An event in short. `look`: a number of `Look` in store/timeline_schema.py. */
export interface EventRef {
  event: number;
  lane: number;
  name: string;
  look: number;
  start_ns: number;
  dur_ns: number;
}

/** One link of the way from a Python line to the device. */
export interface ChainLink {
  kind: ChainKind;
  ref: EventRef;
}

/** An arrow of the event and what is at its other end. */
export interface EventArrow {
  kind: string;
  label: string;
  direction: Direction;
  other: EventRef;
}

/** The events of the same name and look. `rank`: 1 is the slowest. */
export interface Siblings {
  calls: number;
  rank: number;
  total_ns: number;
  mean_ns: number;
  shortest_ns: number;
  longest_ns: number;
  slowest: EventRef;
  fastest: EventRef;
  previous: EventRef | null;
  next: EventRef | null;
}

/** An argument as text. */
export interface Argument {
  name: string;
  value: string;
}

/** Route `/trace/event`: everything about one event. `chain`: outermost first, the event itself included. `launched`: device work that it or what it called launched, the longest first, at most 50 of `launched_total`. `launch_delay_ns`: begin of the launch to begin of the device work; `queue_ns`: the part of it, after the launch call's end, in which the stream was busy with earlier work. `operator_name` and `kernel_name`: what to look for in the Operator and Kernel views. `arguments` are those that the import kept; `/trace/event/args` reads all of them from the file again. `captured`: of replayed work what its graph captured, and why that is known or not. */
export interface EventPayload {
  ref: EventRef;
  category: string;
  process: string;
  thread: string;
  overlapping: boolean;
  step: string | null;
  parent: EventRef | null;
  children: number;
  first_child: EventRef | null;
  previous: EventRef | null;
  next: EventRef | null;
  chain: ChainLink[];
  launched: EventRef[];
  launched_total: number;
  launched_ns: number;
  launch_delay_ns: number | null;
  queue_ns: number | null;
  siblings: Siblings;
  arrows: EventArrow[];
  arrows_total: number;
  arguments: Argument[];
  captured: Argument[];
  stack: string[];
  operator_name: string | null;
  kernel_name: string | null;
}

/** Route `/trace/event/args`: the event's arguments as they stand in the file; `text` is its whole JSON text. */
export interface EventArgsPayload {
  arguments: Argument[];
  text: string;
}

/** Route `/trace/arrows`: arrows of some kinds that touch a window, columns; thinned evenly where `total` is more than was asked for. */
export interface ArrowsPayload {
  total: number;
  kind: string[];
  source: number[];
  target: number[];
  source_lane: number[];
  target_lane: number[];
  source_ns: number[];
  target_ns: number[];
}

/** How many events of a kind a search finds. */
export interface SearchKind {
  kind: Kind;
  count: number;
}

/** Route `/trace/search`: of the `total` hits of `kind` `names` by total time, at most 500 of `names_total`. `kinds`: those with hits. */
export interface SearchPayload {
  total: number;
  kind: ChosenKind;
  kinds: SearchKind[];
  names: MatchesTable;
  names_total: number;
}

/** Route `/trace/search/heat`: hits that begin in each equal bucket of the window. */
export interface HeatPayload {
  counts: number[];
}

/** Route `/trace/search/next`: the hit after or before an event or time, going round at the end. `index` counts from 0. */
export interface NextHitPayload {
  hit: EventRef | null;
  index: number;
}

/** Busy time of a group of lanes within the window: the union over its chosen lanes. */
export interface AreaGroup {
  key: string;
  busy_ns: number;
  events: number;
}

/** Device time of the window (all streams of the chosen lanes): the four add up to it. */
export interface AreaOverlap {
  computation_ns: number;
  overlap_ns: number;
  communication_ns: number;
  idle_ns: number;
}

/** Events of a kind within the window; `self_ns`: their self times, the time that its threads or streams were busy with them. */
export interface AreaKind {
  kind: Kind;
  names: number;
  events: number;
  self_ns: number;
}

/** Route `/trace/area`. `rows` of `kind` by total time; `pooled`: how many more names there are. `overlap`: null without device lanes. */
export interface AreaPayload {
  t0_ns: number;
  t1_ns: number;
  kinds: AreaKind[];
  kind: ChosenKind;
  rows: AreaTable;
  pooled: number;
  groups: AreaGroup[];
  overlap: AreaOverlap | null;
}

/** Route `/trace/area/flame`. `rows`: null where the window has more than `most_events` events. `pooled` frames have less than 1/10,000 of the time and no row of their own. */
export interface AreaFlamePayload {
  rows: FlameTable | null;
  pooled: number;
  most_events: number;
}

/** A worker on the run's common clock. `offset_ns`: add it to the worker's own times; 0 for the worker whose trace begins first. `ready`: its trace is imported. `method`: `collectives`, `clock` (Unix time of the trace only), or `none`; `error_ns`: median distance of the ends of its matched collectives from their median over the ranks, null without enough of them; `matched`: how many there are. */
export interface AlignedWorker {
  worker: string;
  span: string;
  rank: number | null;
  ready: boolean;
  offset_ns: number;
  method: "clock" | "collectives" | "none";
  error_ns: number | null;
  matched: number;
}

/** Route `/trace/alignment`: the spans of a run that were recorded together with the asked one, by rank. At most 64 of the `workers_chosen` of `workers_total` workers, those with the nearest ranks. */
export interface AlignmentPayload {
  workers: AlignedWorker[];
  workers_chosen: number;
  workers_total: number;
}

/** A collective on another worker; `start_ns` is that worker's own time. `lane` is -1 while that worker's timeline was never looked at. */
export interface CollectivePeer {
  worker: string;
  span: string;
  ref: EventRef;
}

/** Route `/trace/collective`: one collective on all workers of the run, the asked one included; none when the event is no collective, or none that another worker shares. */
export interface CollectivePayload {
  peers: CollectivePeer[];
}

/** A place to look at; `link`: its address behind the `#` of the page. */
export interface TourPlace {
  text: string;
  link: string;
}

/** Route `/tour`: what the logdir shows, and places in it; without places there is no tour. */
export interface TourPayload {
  sentences: string[];
  places: TourPlace[];
}

/** A phase of the wait and its share of it, 0 to 1. */
export interface WaitingPart {
  name: string;
  share: number;
}

/** Route `/waiting`. `progress`: 0 to 1, and 1 only when all is there. `label`: what happens now. `parts`: of one trace its phases; empty of several. */
export interface WaitingPayload {
  progress: number;
  label: string;
  parts: WaitingPart[];
}

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

/** One process of a run, its spans in time order. `job`: workers of one number are ranks of one job; -1: not known yet, as its files are not imported. */
export interface WorkerItem {
  name: string;
  rank: number | null;
  world_size: number | null;
  job: number;
  spans: SpanItem[];
}

/** A directory that holds traces. `synthetic`: its traces say that a program made them up. `kind`: `training`, `inference`, `serving` …, empty where unknown; `recorded`: the date, UTC, null unknown. */
export interface RunItem {
  name: string;
  synthetic: boolean;
  kind: string;
  recorded: string | null;
  workers: WorkerItem[];
}

/** Route `/runs`. `version` changes whenever anything below it does. */
export interface RunsPayload {
  version: string;
  scanning: boolean;
  logdirs: string[];
  runs: RunItem[];
}

/** The Dask cluster that imports and analyses, and what the server had it do. What is unknown while the scheduler cannot be reached is null. `workers`: those with the server's version, `others` those without; `threads` and `memory` (bytes) of the former together. `dashboard`: URL of Dask's own page. `waiting`, `running`, `done`, `failed`: tasks, the last two since the server started. */
export interface ClusterItem {
  address: string;
  connected: boolean;
  workers: number | null;
  others: number | null;
  threads: number | null;
  memory: number | null;
  dashboard: string | null;
  waiting: number;
  running: number;
  done: number;
  failed: number;
}

/** A running job that records when it is asked to: the folder of its traces, the ranks that listen, and the command that asks them. */
export interface LiveJob {
  folder: string;
  ranks: number[];
  command: string;
}

/** Route `/diagnosis`: the places that were scanned, the files found there, and what became of each; `cluster` is null where processes of the server's machine do the work. `live`: jobs that listen. */
export interface DiagnosisPayload {
  logdirs: string[];
  notes: string[];
  cluster: ClusterItem | null;
  live: LiveJob[];
  files: FilesTable;
}

/** What a label means, in one sentence; `docs/definitions.md` says more. */
export interface Definition {
  key: string;
  label: string;
  text: string;
}

/** A column of a table as the page shows it. `label` may hold the vendor's words: `{device}`. `term`: key of its definition, or empty; `width`: CSS pixels, null for that of its kind; `bar`: its part of the largest value is drawn. */
export interface DeclaredColumn {
  key: string;
  label: string;
  kind: CellKind;
  term: string;
  width: number | null;
  bar: boolean;
  hidden: boolean;
}

/** The columns of a table that the page shows. */
export interface DeclaredTable {
  name: string;
  columns: DeclaredColumn[];
}

/** Route `/definitions`: what the page shows when the pointer hovers over a label, and the columns of its tables. */
export interface DefinitionsPayload {
  definitions: Definition[];
  tables: DeclaredTable[];
}

/** What figures about time are of: all of a reply, unless its own stands beside one. Two figures of one name and one subject are equal. `job`: the run; `recording`: the span; `ranks`: the workers; `steps`: their numbers, `0-3,5`, in the trace, of several ranks in the job; `kind`: the kinds of these, empty unknown. Of a recording without steps the last two are empty. */
export interface Subject {
  job: string;
  recording: string;
  ranks: string;
  steps: string;
  kind: string;
}

/** The vendor's words, e.g. `GPU`/`SM`/`Tensor Cores` or `accelerator`/`compute unit`/`matrix cores`. */
export interface Vocabulary {
  device: string;
  multiprocessor: string;
  matrix_cores: string;
}

/** Something a view cannot show, why, and the `profile(...)` call that records it; `key` tells it from others, whatever it is called. */
export interface Missing {
  key: string;
  what: string;
  why: string;
  call: string;
}

/** The eight categories of the step-time breakdown, ns; `null` where not recorded. */
export interface Categories {
  kernel: number | null;
  memcpy: number | null;
  memset: number | null;
  communication: number | null;
  runtime: number | null;
  dataloader: number | null;
  cpu_exec: number | null;
  other: number | null;
}

/** Route `/steps`: what the step selector offers, and what there is to look at. `median` is the step of median length among all that are neither cold, odd nor cut off, where there are such, −1 without one; `iterations` is how many of an inference server there are; `missing`: what of steps, device work, memory records, host operators and hardware counters was not recorded. */
export interface StepsPayload {
  subject: Subject;
  steps: StepsTable;
  median: number;
  iterations: number;
  missing: Missing[];
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

/** An accelerator over the selected steps; shares are fractions, `null` is unknown with the reason in `unknown`. `title` names it, `details` say what it is. */
export interface DeviceSummary {
  id: number;
  title: string;
  details: string;
  utilization: number | null;
  sm_efficiency: number | null;
  occupancy: number | null;
  matrix_core_share: number | null;
  unknown: string[];
}

/** A sentence about figures; `key` says what it is about. */
export interface Sentence {
  key: "busy" | "kinds" | "loss" | "odd" | "time";
  text: string;
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

/** A kind of steps, by what they launch: how many are neither cold nor cut off, and how long the median one of those that are not odd is. */
export interface KindOfSteps {
  name: string;
  steps: number;
  median_ns: number;
}

/** Route `/overview`. `recording`: figures of the steps of `subject`, and what the recording holds, as texts. `first_look`: how long a step takes, until it is known why; empty without a step. `kinds`: those of all steps, the one with most time first; empty where there is but one. */
export interface OverviewPayload {
  subject: Subject;
  configuration: Fact[];
  recording: Fact[];
  vocabulary: Vocabulary;
  headline: Sentence[];
  first_look: string;
  step_source: string;
  steps: StepsTable;
  kinds: KindOfSteps[];
  average: Average | null;
  devices: DeviceSummary[];
  health: DefectItem[];
  notes: string[];
  missing: Missing[];
}

/** Call stacks: a stack is a row here, its caller is `parent` (−1: outermost). */
export interface FrameTree {
  parent: number[];
  frame: string[];
}

/** Route `/operator`. `pooled` rows beyond the limit stand together in the last row, named `other`. `stacks`: grouped by stack, each row's stack in `frames`; else empty. `sentences`: what takes most, and which steps the sums are of. */
export interface OperatorPayload {
  group: OperatorGroup;
  sentences: string[];
  has_device: boolean;
  vocabulary: Vocabulary;
  rows: OperatorsTable;
  frames: FrameTree;
  stacks: (number | null)[];
  pooled: number;
  missing: Missing[];
}

/** Route `/callers`: who calls an operator or a kernel, as a tree whose rows come before their own callers, the most expensive first. */
export interface CallersPayload {
  rows: CallersTable;
  missing: Missing[];
}

/** How many of the kernels of the trace have an operator on the host. */
export interface Attribution {
  kernels: number;
  with_operator: number;
}

/** Why the operators of some kernels are not known, by the key in the column `no_operator`. */
export interface NoOperatorReason {
  key: string;
  text: string;
}

/** A counter: its own name, a readable one, its unit (`bytes`, `instructions`, `share` …; empty: not known). */
export interface CounterInfo {
  name: string;
  label: string;
  unit: string;
}

/** Hardware counters of kernels: `values[c][i]` is the mean of counter c over the `calls[i]` launches of the kernel `name[i]` that were measured; null: not measured. */
export interface MeasuredCounters {
  name: string[];
  short_name: string[];
  calls: number[];
  counters: CounterInfo[];
  values: ((number | null)[])[];
}

/** Route `/kernel`. `sentences`: what takes most, and which steps the sums are of. `measured`: of kernels by name, empty without counters. */
export interface KernelPayload {
  group: KernelGroup;
  sentences: string[];
  vocabulary: Vocabulary;
  rows: KernelsTable;
  measured: MeasuredCounters;
  reasons: NoOperatorReason[];
  pooled: number;
  attribution: Attribution;
  missing: Missing[];
}

/** Route `/trace`: the header of the Trace page. `origin_ns` is text because it exceeds what JavaScript counts exactly. */
export interface TracePayload {
  file: string;
  bytes: number;
  events: number;
  span_ns: number;
  origin_ns: string;
  perfetto_url: string;
  steps: StepsTable;
}

/** How many launches of kernels lie between two edges: by the delay until their kernel begins, and by their own duration. The last bucket has no end. */
export interface LaunchHistogram {
  edges_ns: number[];
  delays: number[];
  durations: number[];
}

/** Route `/api_calls`. `sentences`: what the tables say in short. `pooled`, `launches_pooled`: rows that the last row pools. `link`: the device's links to others, with their peak; empty not known. */
export interface ApiCallsPayload {
  vocabulary: Vocabulary;
  sentences: string[];
  rows: ApiCallsTable;
  pooled: number;
  longest: LongCallsTable;
  histogram: LaunchHistogram;
  launches: LaunchesTable;
  launches_pooled: number;
  copies: CopiesTable;
  link: string;
  missing: Missing[];
}

/** Route `/counters`. `values[c][i]` is counter c of row i of `profiled`; null: not measured. `headline`: what was measured. `matching` says how ranges were tied to launches, and what did not match. `bandwidth`: bytes/s of the memory whose traffic was counted, null not known; `no_roofline`: what the recording lacks for one, empty where it can be drawn. */
export interface CountersTablePayload {
  vocabulary: Vocabulary;
  counters: CounterInfo[];
  profiled: CountersTable;
  values: ((number | null)[])[];
  headline: string;
  matching: string;
  measured: "" | "ranges" | "slices";
  bandwidth: number | null;
  no_roofline: string;
  sampled_counters: CounterInfo[];
  sampled: CounterSamplesTable;
  steps: string[];
  pooled: number;
  missing: Missing[];
}

/** What a device can do at best: `rate` in FLOP/s of one precision on one kind of unit. `source`: where the figure is from. */
export interface Peak {
  unit: "matrix" | "vector";
  precision: string;
  rate: number;
  source: string;
}

/** The device and its peaks. `entry`: the line of the device table that was used; null: no figures for it, `peaks` is empty. */
export interface DevicePeaks {
  name: string | null;
  entry: string | null;
  bandwidth: number | null;
  bandwidth_source: string;
  peaks: Peak[];
}

/** FLOPs of a step's products of matrices, convolutions and attention, and their share of the device's peak: Σ FLOPs of a precision / its peak / wall time. mfu null: not known. `steps`: how many consecutive steps from `index` on it is of. */
export interface StepMfu {
  index: number;
  steps: number;
  name: string;
  wall_ns: number;
  flops: number;
  mfu: number | null;
}

/** Route `/efficiency`. `time_ns`: all device time (host time of operators without a device). `kernels_together`, `families_together`: what all kernels of a name, and of a family, reach of their roofs; empty but for rows of kernels. `headline`: the answer in words. `notes`: sentences about what the figures cannot say, such as rows above a peak. */
export interface EfficiencyPayload {
  group: EfficiencyGroup;
  has_device: boolean;
  vocabulary: Vocabulary;
  device: DevicePeaks;
  steps: StepMfu[];
  mfu: number | null;
  time_ns: number;
  rows: EfficiencyTable;
  kernels_together: KernelsTogetherTable;
  families_together: KernelsTogetherTable;
  pooled: number;
  headline: string[];
  notes: string[];
  missing: Missing[];
}

/** A server, and how it records a trace with annotations. */
export interface HowToRecord {
  server: string;
  how: string;
}

/** Route `/iterations`. `headline`: the answer in one sentence; `detail`: what it rests on, which iterations are odd, how much is padding, a sentence each. `iterations`: those of the selected steps in time order, none where the trace is of no server; then `recorded_by` says how servers record. `phases`: of the steady state where a phase has iterations in it. */
export interface IterationsPayload {
  headline: string;
  detail: string[];
  iterations: IterationsTable;
  phases: PhasesTable;
  recorded_by: HowToRecord[];
}

/** Route `/lines`. `sentences`: where the path splits by call chain, and which steps the sums are of. `ladder`: its rungs. `pooled`: lines that the last of `rows` pools; 0 none. */
export interface LinesPayload {
  vocabulary: Vocabulary;
  sentences: string[];
  ladder: LineLadderTable;
  rows: LinesTable;
  pooled: number;
  missing: Missing[];
}

/** Where the time of the selected steps is: in modules' forward and backward, outside modules, launched by no recorded call. The device sums are whole: the three add up to all device time. `backward_*` count the backward functions of all steps: laid at a module, without a known forward, with one outside modules. */
export interface ModuleTotals {
  module_host_ns: number;
  outside_host_ns: number;
  module_device_ns: number;
  outside_device_ns: number;
  unattributed_device_ns: number;
  backward_tied: number;
  backward_untied: number;
  backward_outside: number;
}

/** Route `/module`. `sentences`: the class of modules that takes most, and which steps the sums are of. */
export interface ModulePayload {
  source: ModuleSource;
  has_device: boolean;
  has_backward: boolean;
  vocabulary: Vocabulary;
  sentences: string[];
  rows: ModulesTable;
  totals: ModuleTotals;
  notes: string[];
  missing: Missing[];
}

/** Route `/module/flame`; `tree` `module`: modules and operators; `line`: Python source lines. `pooled` frames have less than 1/10,000 of the host's and of the device's time and no row of their own. `unattributed_device_ns`: device work that no frame launched. */
export interface FlamePayload {
  tree: FlameTree;
  has_device: boolean;
  rows: FlameTable;
  pooled: number;
  unattributed_device_ns: number;
  missing: Missing[];
}

/** Route `/ranges`. `pooled`: ranges that the last row pools; 0 none. */
export interface RangesPayload {
  vocabulary: Vocabulary;
  rows: RangesTable;
  pooled: number;
}

/** What a recording has under the words of a question: what to change, then what costs most on the critical path, places, and words. */
export interface AskTable {
  kind: string[];
  name: string[];
  label: string[];
  more: string[];
  calls: (number | null)[];
  time_ns: (number | null)[];
  path_ns: (number | null)[];
  change_ns: (number | null)[];
  bytes: (number | null)[];
  to: string[];
}

/** The path of one step in stretches with the lane and the category of most of their time, those that take 1 % of it or more. */
export interface PathStretchesTable {
  lane: string[];
  category: string[];
  start_ns: number[];
  end_ns: number[];
  segments: number[];
  name: (string | null)[];
  line: (string | null)[];
  worker: number[];
}

/** What the critical path of the selected steps is made of. */
export interface PathKindsTable {
  kind: string[];
  path_ns: number[];
  share: (number | null)[];
  segments: number[];
}

/** The critical path of every selected step by kind. */
export interface PathStepsTable {
  step: number[];
  name: string[];
  not_recorded_ns: number[];
  kernel_ns: number[];
  memcpy_ns: number[];
  memset_ns: number[];
  communication_ns: number[];
  launch_ns: number[];
  operator_ns: number[];
  python_ns: number[];
  runtime_ns: number[];
  synchronization_ns: number[];
  dataloader_ns: number[];
  annotation_ns: number[];
  before_recording_ns: number[];
  waiting_ns: number[];
  steps: number[];
}

/** The critical path of the selected steps by event, source line and operator. */
export interface PathEventsTable {
  name: (string | null)[];
  kind: (string | null)[];
  line: (string | null)[];
  operator: (string | null)[];
  path_ns: number[];
  share: (number | null)[];
  work_ns: (number | null)[];
  work_share: (number | null)[];
  segments: number[];
  event: number[];
}

/** The critical path through all ranks by rank, and by what runs on it. */
export interface PathRanksTable {
  name: (string | null)[];
  worker: number[];
  kind: (string | null)[];
  path_ns: number[];
  share: (number | null)[];
  segments: number[];
  event: number[];
}

/** What the end of every step waited for, in groups of causes that add up to `wall_ns`; missing where the path is not known. */
export interface StepCausesTable {
  step: number[];
  name: string[];
  wall_ns: number[];
  compute_ns: number[];
  copies_ns: number[];
  data_loading_ns: number[];
  communication_ns: number[];
  waiting_ns: number[];
  host_code_ns: number[];
  not_recorded_ns: number[];
  kind: string[];
  cold: boolean[];
  odd: boolean[];
  cut: boolean[];
  own_step: number[];
  longest: number[];
  steps: number[];
}

/** What the critical path is made of before and after changes. */
export interface WhatIfKindsTable {
  kind: string[];
  measured_ns: number[];
  predicted_ns: number[];
}

/** Every selected step before and after changes. */
export interface PredictedStepsTable {
  step: number[];
  name: string[];
  measured_ns: number[];
  replayed_ns: number[];
  predicted_ns: number[];
  saved: (number | null)[];
  steps: number[];
}

/** What a step would take with each change; of several changes together, one row. */
export interface WhatIfTable {
  change: string[];
  words: string[];
  measured_ns: number[];
  replayed_ns: number[];
  replay_error: (number | null)[];
  predicted_ns: number[];
  low_ns: number[];
  high_ns: number[];
  saved_ns: number[];
  saved: (number | null)[];
}

/** One row per run, or per recording where there is one run; cold, odd and cut off steps left out. */
export interface ExperimentsTable {
  run: string[];
  span: string[];
  state: string[];
  message: (string | null)[];
  recorded: (string | null)[];
  steps: (number | null)[];
  step_ns: (number | null)[];
  spread_ns: (number | null)[];
  against: (string | null)[];
  delta_ns: (number | null)[];
  share: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  changed: (boolean | null)[];
  busy: (number | null)[];
  mfu: (number | null)[];
  peak_bytes: (number | null)[];
  exposed_ns: (number | null)[];
  findings: (string | null)[];
  device: (string | null)[];
  worker: string[];
  common: (number | null)[];
}

/** One row per step. The categories add up to `wall_ns`, exactly; one that was not recorded is missing. */
export interface StepsTable {
  step: number[];
  name: string[];
  start_ns: number[];
  wall_ns: number[];
  earlier_ns: number[];
  silent_ns: number[];
  kernel_ns: (number | null)[];
  memcpy_ns: (number | null)[];
  memset_ns: (number | null)[];
  communication_ns: (number | null)[];
  runtime_ns: (number | null)[];
  dataloader_ns: (number | null)[];
  cpu_exec_ns: (number | null)[];
  other_ns: (number | null)[];
  kind: string[];
  cold: boolean[];
  odd: boolean[];
  cut: boolean[];
  odd_reason: string[];
  selected: boolean[];
  steps: number[];
}

/** What the peaks of two recordings of allocations held, the largest change of each table first. */
export interface DiffMemoryTable {
  table: string[];
  device: string[];
  name: (string | null)[];
  delta_bytes: number[];
  before_bytes: number[];
  after_bytes: number[];
  delta_blocks: number[];
}

/** What changed from A to B, the largest change of each table first. Times are means per step. */
export interface DiffTable {
  table: string[];
  name: string[];
  short: string[];
  rest: boolean[];
  name_b: (string | null)[];
  status: string[];
  delta_ns: number[];
  share: (number | null)[];
  time_a_ns: (number | null)[];
  time_b_ns: (number | null)[];
  calls_a: (number | null)[];
  calls_b: (number | null)[];
  beyond: (boolean | null)[];
  host_a_ns: (number | null)[];
  host_b_ns: (number | null)[];
  event_a: (number | null)[];
  event_b: (number | null)[];
}

/** Both call trees matched on their structure, parents before children. */
export interface DiffTreeTable {
  parent: number[];
  name_a: (string | null)[];
  name_b: (string | null)[];
  backward: boolean[];
  kind: string[];
  status: string[];
  device_a_ns: (number | null)[];
  device_b_ns: (number | null)[];
  host_a_ns: number[];
  host_b_ns: number[];
  calls_a: (number | null)[];
  calls_b: (number | null)[];
  event_a: (number | null)[];
  event_b: (number | null)[];
}

/** One row per process group that moved anything, those with the most time first. Sums of calls are means of the ranks that recorded some. */
export interface ProcessGroupsTable {
  group: (string | null)[];
  description: (string | null)[];
  backend: (string | null)[];
  ranks: (string | null)[];
  group_size: (number | null)[];
  recorded: number[];
  reach: (string | null)[];
  nodes: (number | null)[];
  calls: number[];
  bytes: (number | null)[];
  total_ns: number[];
  exposed_ns: number[];
  waiting_ns: (number | null)[];
  transfer_ns: (number | null)[];
  bus_bandwidth: (number | null)[];
  link: (string | null)[];
  link_bandwidth: (number | null)[];
  link_share: (number | null)[];
}

/** One row per communication operation of all workers (`worker` −1) and of each worker. */
export interface OperationsTable {
  worker: number[];
  kind: string[];
  bytes: (number | null)[];
  dtype: (string | null)[];
  library: (string | null)[];
  group: (string | null)[];
  group_size: (number | null)[];
  calls: number[];
  total_ns: number[];
  mean_ns: number[];
  exposed_ns: number[];
  waiting_ns: (number | null)[];
  transfer_ns: (number | null)[];
  algorithm_bandwidth: (number | null)[];
  bus_bandwidth: (number | null)[];
  split: boolean[];
}

/** One row per record of the allocator, by device and time: the memory curve. */
export interface MemoryTable {
  time_ns: number[];
  allocated_bytes: number[];
  reserved_bytes: (number | null)[];
}

/** One row per block of memory from its allocation to its release. `allocated_ns` is missing before the recording, `released_ns` where it is not within it. */
export interface MemoryBlocksTable {
  operator: (string | null)[];
  parent: (string | null)[];
  module: (string | null)[];
  line: (string | null)[];
  category: (string | null)[];
  known_by: (string | null)[];
  bytes: number[];
  allocated_ns: (number | null)[];
  released_ns: (number | null)[];
  lifetime_ns: (number | null)[];
  event: number[];
}

/** One row per operator or module; a total counts a recursion once. */
export interface MemoryStatisticsTable {
  name: string[];
  calls: (number | null)[];
  increase_bytes: number[];
  self_increase_bytes: number[];
  allocations: number[];
  self_allocations: number[];
  allocation_bytes: number[];
  self_allocation_bytes: number[];
}

/** What is alive at a moment, blocks of one origin together, the largest first. `oldest_ns` is missing before the recording. */
export interface MemoryAliveTable {
  operator: (string | null)[];
  parent: (string | null)[];
  module: (string | null)[];
  line: (string | null)[];
  category: (string | null)[];
  known_by: (string | null)[];
  bytes: number[];
  blocks: (number | null)[];
  largest_bytes: (number | null)[];
  oldest_ns: (number | null)[];
}

/** One row per operator, caller, module, line, call stack or category: what it held at one moment and at another, the largest change first. `allocated_bytes` and `freed_bytes` are missing between two traces. */
export interface MemoryChangesTable {
  name: (string | null)[];
  delta_bytes: number[];
  before_bytes: number[];
  after_bytes: number[];
  allocated_bytes: (number | null)[];
  freed_bytes: (number | null)[];
  delta_blocks: number[];
}

/** One row per pool and stream of the caching allocator: blocks of one are never given to another. */
export interface MemoryPoolsTable {
  stream: (number | null)[];
  pool: string[];
  segments: number[];
  reserved_bytes: number[];
  allocated_bytes: number[];
  rounding_bytes: number[];
  free_bytes: number[];
  largest_free_bytes: number[];
  split_bytes: number[];
  fragmentation: (number | null)[];
  blocks: number[];
}

/** One row per block in use of the part of a map that is shown. */
export interface MemoryMapBlocksTable {
  offset_bytes: number[];
  bytes: number[];
  requested_bytes: (number | null)[];
  state: string[];
  category: (string | null)[];
  line: (string | null)[];
  stack: (number | null)[];
}

/** Hits of a search by name; `look` is that of the first event of the name. */
export interface MatchesTable {
  name: string[];
  look: number[];
  count: number[];
  total_ns: number[];
}

/** Events of a window by name and look. Times are clipped to the window. */
export interface AreaTable {
  name: string[];
  look: number[];
  count: number[];
  total_ns: number[];
  self_ns: number[];
  share: (number | null)[];
  mean_ns: number[];
  shortest_ns: number[];
  longest_ns: number[];
  longest_event: number[];
}

/** One row per file that was seen: what became of it, and why. */
export interface FilesTable {
  path: string[];
  state: string[];
  reason: string[];
  bytes: number[];
  events: (number | null)[];
  lost: (number | null)[];
  run: string[];
  worker: string[];
  span: string[];
}

/** One row per operator (`by="name"`), per operator, input shapes and input types (`"shape"`), and per call stack (`"stack"`). */
export interface OperatorsTable {
  name: string[];
  input_shapes: (string | null)[];
  has_stack: boolean[];
  time_share: (number | null)[];
  calls: number[];
  device_self_ns: (number | null)[];
  device_total_ns: (number | null)[];
  host_self_ns: number[];
  host_total_ns: number[];
  host_median_ns: (number | null)[];
  host_mean_ns: (number | null)[];
  host_deviation_ns: (number | null)[];
  host_min_ns: (number | null)[];
  host_max_ns: (number | null)[];
  matrix_eligible: number[];
  matrix_self_share: (number | null)[];
  matrix_total_share: (number | null)[];
  attribution: (string | null)[];
}

/** One row per caller of an operator or a kernel, callees before their callers. */
export interface CallersTable {
  name: string[];
  parent: number[];
  kind: string[];
  layers: (string | null)[];
  calls: number[];
  device_self_ns: (number | null)[];
  device_total_ns: (number | null)[];
  host_self_ns: (number | null)[];
  host_total_ns: (number | null)[];
  total_ns: (number | null)[];
}

/** One row per kernel name (`by="name"`), per name and operator (`"operator"`), or per name, operator and launch properties (`"properties"`). */
export interface KernelsTable {
  name: string[];
  short_name: string[];
  operator: (string | null)[];
  no_operator: (string | null)[];
  fused: (string | null)[];
  time_share: (number | null)[];
  calls: number[];
  total_ns: number[];
  mean_ns: number[];
  median_ns: (number | null)[];
  deviation_ns: (number | null)[];
  min_ns: number[];
  max_ns: number[];
  grid: (string | null)[];
  block: (string | null)[];
  registers: (number | null)[];
  shared_memory_bytes: (number | null)[];
  blocks_per_sm: (number | null)[];
  occupancy: (number | null)[];
  matrix: number[];
  matrix_eligible: number[];
  communication: boolean[];
}

/** One row per name of a runtime or driver call, the largest total first. A call within another one of its name counts as a call and not for times. */
export interface ApiCallsTable {
  name: string[];
  kind: (string | null)[];
  calls: number[];
  total_ns: number[];
  thread_share: (number | null)[];
  mean_ns: number[];
  median_ns: (number | null)[];
  max_ns: number[];
  event: number[];
}

/** The longest runtime and driver calls, one by one. */
export interface LongCallsTable {
  name: string[];
  dur_ns: number[];
  reason: (string | null)[];
  operator: (string | null)[];
  kernel: (string | null)[];
  start_ns: number[];
  event: number[];
}

/** One row per kernel name: how long its launches take and its calls wait to start, and how many calls are short. */
export interface LaunchesTable {
  name: string[];
  calls: number[];
  total_ns: number[];
  short: number[];
  short_ns: number[];
  below_launch: (number | null)[];
  launch_ns: (number | null)[];
  median_delay_ns: (number | null)[];
  max_delay_ns: (number | null)[];
  event: number[];
}

/** One row per kind, host memory and size of copies and memsets, the most time first. */
export interface CopiesTable {
  kind: string[];
  memory: (string | null)[];
  size: (string | null)[];
  calls: number[];
  total_ns: number[];
  median_ns: number[];
  max_ns: number[];
  bytes: (number | null)[];
  rate: (number | null)[];
  link_share: (number | null)[];
  event: number[];
}

/** One row per profiled kernel (`cuda_profiler_range`), behind these columns one per counter under its own name. `time_ns` is missing where the times of the file are no measured ones. */
export interface CountersTable {
  kernel: string[];
  short_name: string[];
  op_stack: string[][];
  top_op: (string | null)[];
  bottom_op: (string | null)[];
  step: (number | null)[];
  time_ns: (number | null)[];
  flops: (number | null)[];
  bytes: (number | null)[];
  intensity: (number | null)[];
  flops_rate: (number | null)[];
  unit: (string | null)[];
  precision: (string | null)[];
  peak: (number | null)[];
  launch: number[];
  event: number[];
}

/** One row per sampled counter, device and step; the step is missing outside all. */
export interface CounterSamplesTable {
  counter: string[];
  unit: string[];
  device: string[];
  step: (number | null)[];
  samples: number[];
  mean: (number | null)[];
  min: (number | null)[];
  max: (number | null)[];
}

/** One row per operator and input (`by="operator"`), or per kernel and the operator that it works for (`"kernel"`). */
export interface EfficiencyTable {
  name: (string | null)[];
  kernel: (string | null)[];
  short_name: (string | null)[];
  parameters: (string | null)[];
  input_shapes: (string | null)[];
  input_dtypes: (string | null)[];
  family: (string | null)[];
  calls: number[];
  time_ns: number[];
  of_roof: (number | null)[];
  over_roof_ns: (number | null)[];
  roof: (string | null)[];
  no_roof: (string | null)[];
  flops_share: (number | null)[];
  bytes_share: (number | null)[];
  bound: (string | null)[];
  recoverable_ns: (number | null)[];
  flops_rate: (number | null)[];
  bytes_rate: (number | null)[];
  intensity: (number | null)[];
  flops: (number | null)[];
  bytes: (number | null)[];
  ideal_ns: (number | null)[];
  fast: (boolean | null)[];
  unit: (string | null)[];
  precision: (string | null)[];
  peak: (number | null)[];
  matrix: number[];
  event: number[];
}

/** One row per kernel, or per family of the performance models, those with most time first. */
export interface KernelsTogetherTable {
  name: (string | null)[];
  time_ns: number[];
  calls: number[];
  kernels: number[];
  of_roof: (number | null)[];
  roof: (string | null)[];
  no_roof: (string | null)[];
  matrix: (number | null)[];
}

/** One row per iteration of an inference server. */
export interface IterationsTable {
  name: string[];
  step: number[];
  phase: string[];
  kind: string[];
  part: (string | null)[];
  context_requests: (number | null)[];
  context_tokens: (number | null)[];
  generation_requests: (number | null)[];
  generation_tokens: (number | null)[];
  batch: (number | null)[];
  padding: (number | null)[];
  begin_ns: number[];
  earlier_ns: number[];
  silent_ns: number[];
  wall_ns: number[];
  device_ns: (number | null)[];
  gap_ns: (number | null)[];
  draft_ns: (number | null)[];
  host_ns: number[];
  scheduler_ns: (number | null)[];
  interval_ns: (number | null)[];
  least_prompt_tokens_per_second: (number | null)[];
  prompt_tokens_per_second: (number | null)[];
  least_tokens_per_second: (number | null)[];
  tokens_per_second: (number | null)[];
  odd: boolean[];
  cut: boolean[];
}

/** One row per phase of a server's iterations. */
export interface PhasesTable {
  phase: string[];
  iterations: number[];
  wall_ns: number[];
  interval_ns: (number | null)[];
  tokens: (number | null)[];
  least_prompt_tokens_per_second: (number | null)[];
  prompt_tokens_per_second: (number | null)[];
  least_tokens_per_second: (number | null)[];
  tokens_per_second: (number | null)[];
  padding: (number | null)[];
  device_share: (number | null)[];
  odd: number[];
}

/** Time on the critical path by call chain: one row per rung, callers before what they call. */
export interface LineLadderTable {
  name: string[];
  parent: number[];
  kind: string[];
  joined: number[];
  path_ns: number[];
  own_ns: number[];
  share: (number | null)[];
  group: (string | null)[];
  event: number[];
}

/** One row per source line of the user's own program or, by package, of that or a package. */
export interface LinesTable {
  line: (string | null)[];
  path_ns: number[];
  share: (number | null)[];
  python_ns: number[];
  host_ns: number[];
  device_ns: (number | null)[];
  calls: number[];
  event: number[];
}

/** One row per `nn.Module`, parents before children. */
export interface ModulesTable {
  parent: number[];
  name: string[];
  kind: string[];
  calls: (number | null)[];
  operators: number[];
  forward_device_total_ns: (number | null)[];
  forward_device_self_ns: (number | null)[];
  forward_host_total_ns: number[];
  forward_host_self_ns: number[];
  backward_device_total_ns: (number | null)[];
  backward_device_self_ns: (number | null)[];
  backward_host_total_ns: number[];
  backward_host_self_ns: number[];
  allocated_bytes: (number | null)[];
  increase_bytes: (number | null)[];
  event: number[];
}

/** A tree of frames, parents before children. `kind`: `module`, `annotation`, `operator`, `line` or `rest`, which stands for several that are too small to be drawn. Times are totals; what the children do not cover is the frame's own. `calls` of a line are those of the operators it leads to, its `first_ns` is -1. `event`: the longest call. */
export interface FlameTable {
  name: string[];
  parent: number[];
  kind: string[];
  backward: boolean[];
  calls: number[];
  device_ns: (number | null)[];
  host_ns: number[];
  first_ns: number[];
  event: number[];
}

/** One row per name of an annotation: `record_function`, NVTX, `gpu_user_annotation`. Steps are left out. */
export interface RangesTable {
  name: string[];
  kind: (string | null)[];
  calls: number[];
  host_ns: (number | null)[];
  device_ns: (number | null)[];
  busy_ns: (number | null)[];
  device_share: (number | null)[];
  launched: (number | null)[];
  path_ns: (number | null)[];
  path_share: (number | null)[];
  event: number[];
}

/** The declared tables. */
export type TableName = "ask" | "path_stretches" | "path_kinds" | "path_steps" | "path_events" | "path_ranks" | "step_causes" | "what_if_kinds" | "predicted_steps" | "what_if" | "experiments" | "steps" | "diff_memory" | "diff" | "diff_tree" | "process_groups" | "operations" | "memory" | "memory_blocks" | "memory_statistics" | "memory_alive" | "memory_changes" | "memory_pools" | "memory_map_blocks" | "matches" | "area" | "files" | "operators" | "callers" | "kernels" | "api_calls" | "long_calls" | "launches" | "copies" | "counters" | "counter_samples" | "efficiency" | "kernels_together" | "iterations" | "phases" | "line_ladder" | "lines" | "modules" | "flame" | "ranges";
