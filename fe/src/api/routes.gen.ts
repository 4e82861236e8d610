// Generated from the routes of torch_tb_profiler/web by `python -m tests.generate --write`. Do not edit.

import type {
  AlignedPayload,
  AlignmentPayload,
  ApiCallsPayload,
  AreaFlamePayload,
  AreaPayload,
  ArrowsPayload,
  AskPayload,
  AxisPayload,
  CallersPayload,
  CollectivePayload,
  CountersPayload,
  CountersTablePayload,
  CriticalPathPayload,
  DefinitionsPayload,
  DiagnosisPayload,
  DiffPayload,
  DistributedMapPayload,
  DistributedPayload,
  EfficiencyPayload,
  EventArgsPayload,
  EventPathPayload,
  EventPayload,
  ExperimentsPayload,
  FindingsPayload,
  FlamePayload,
  HeatPayload,
  IterationsPayload,
  KernelPayload,
  LinesPayload,
  MemoryAlivePayload,
  MemoryBlocksPayload,
  MemoryChangesPayload,
  MemoryCurvePayload,
  MemoryMapPayload,
  MemoryPayload,
  MemoryStatisticsPayload,
  ModulePayload,
  NamesPayload,
  NextHitPayload,
  OperatorPayload,
  OverviewPayload,
  OverviewRanksPayload,
  PathOverlayPayload,
  PathRowsPayload,
  ProcessGroupsPayload,
  RangesPayload,
  RanksPathPayload,
  RanksRowsPayload,
  RunsPayload,
  SearchPayload,
  SourcePayload,
  SqlPayload,
  SqlTablesPayload,
  StepCausesPayload,
  StepDifferencePayload,
  StepsPayload,
  StragglersPayload,
  TablePayload,
  TimelinePayload,
  TourPayload,
  TracePayload,
  WaitingPayload,
  WhatIfPayload,
} from "./types.gen";

export interface OfTrace {
  /** The run's name in `/runs`. */
  run: string;
  /** The worker's name in the run. */
  worker: string;
  /** The span's name at the worker. */
  span: string;
}

export interface OfContent {
  /** The content of the file, from `/trace/timeline`. */
  id: string;
}

export interface OfSteps {
  /** Steps by their `step` in `/steps`, both ends included. What lies outside every step counts only where the trace marks no steps. */
  steps?: string;
  /** Leave out the steps marked cold. */
  skip_cold?: "0" | "1";
  /** Of these only steps of one kind, by its name in `/overview`. */
  step_kind?: string;
}

/** What each route answers with. */
export interface Routes {
  runs: RunsPayload;
  waiting: WaitingPayload;
  tour: TourPayload;
  diagnosis: DiagnosisPayload;
  definitions: DefinitionsPayload;
  steps: StepsPayload;
  iterations: IterationsPayload;
  overview: OverviewPayload;
  operator: OperatorPayload;
  callers: CallersPayload;
  kernel: KernelPayload;
  critical_path: CriticalPathPayload;
  "critical_path/rows": PathRowsPayload;
  what_if: WhatIfPayload;
  efficiency: EfficiencyPayload;
  counters: CountersTablePayload;
  module: ModulePayload;
  table: TablePayload;
  lines: LinesPayload;
  source: SourcePayload;
  ranges: RangesPayload;
  api_calls: ApiCallsPayload;
  "module/flame": FlamePayload;
  memory: MemoryPayload;
  "memory/curve": MemoryCurvePayload;
  "memory/blocks": MemoryBlocksPayload;
  "memory/statistics": MemoryStatisticsPayload;
  "memory/alive": MemoryAlivePayload;
  "memory/source": SourcePayload;
  "memory/map": MemoryMapPayload;
  "memory/changes": MemoryChangesPayload;
  findings: FindingsPayload;
  distributed: DistributedPayload;
  "distributed/map": DistributedMapPayload;
  "distributed/groups": ProcessGroupsPayload;
  "overview/ranks": OverviewRanksPayload;
  "overview/ranks/known": OverviewRanksPayload;
  "critical_path/ranks": RanksPathPayload;
  "critical_path/ranks/rows": RanksRowsPayload;
  "critical_path/steps": StepCausesPayload;
  "critical_path/step": StepDifferencePayload;
  stragglers: StragglersPayload;
  experiments: ExperimentsPayload;
  ask: AskPayload;
  diff: DiffPayload;
  "diff/aligned": AlignedPayload;
  "diff/axis": AxisPayload;
  trace: TracePayload;
  "trace/timeline": TimelinePayload;
  "trace/names": NamesPayload;
  "trace/search": SearchPayload;
  "trace/search/heat": HeatPayload;
  "trace/search/next": NextHitPayload;
  "trace/area": AreaPayload;
  "trace/area/flame": AreaFlamePayload;
  "trace/arrows": ArrowsPayload;
  "trace/counters": CountersPayload;
  "trace/event": EventPayload;
  "trace/event/args": EventArgsPayload;
  "trace/event/path": EventPathPayload;
  "trace/path": PathOverlayPayload;
  "trace/alignment": AlignmentPayload;
  "trace/collective": CollectivePayload;
  sql: SqlPayload;
  "sql/tables": SqlTablesPayload;
}

/** What each route takes. */
export interface Parameters {
  runs: {
    /** Scan the logdir again, in the background. */
    rescan?: "0" | "1";
  };
  waiting: OfTrace & {
    /** `answer`: what is told of the trace and of those recorded with it; `timeline`: that alone. */
    what?: "answer" | "timeline";
    /** The run of side B. */
    run2?: string;
    /** The worker of side B. */
    worker2?: string;
    /** The span of side B. */
    span2?: string;
  };
  tour: Record<string, never>;
  diagnosis: Record<string, never>;
  definitions: Record<string, never>;
  steps: OfTrace & OfSteps;
  iterations: OfTrace & OfSteps;
  overview: OfTrace & OfSteps;
  operator: OfTrace & OfSteps & {
    /** What a row is one of. */
    group?: "name" | "shape" | "stack";
  };
  callers: OfTrace & OfSteps & {
    /** The operator or the full name of the kernel. */
    name: string;
    /** What `name` names. */
    of?: "operator" | "kernel";
    /** Only an operator's calls with these shapes. */
    shapes?: string;
    /** Also frames of libraries. */
    library?: "0" | "1";
  };
  kernel: OfTrace & OfSteps & {
    /** `operator`: also by operator; `properties`: by operator, grid and block. */
    group?: "name" | "operator" | "properties";
  };
  critical_path: OfTrace & OfSteps;
  "critical_path/rows": OfTrace & OfSteps & {
    /** What a row is one of. */
    by?: "place" | "event" | "operator" | "module" | "line" | "track";
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
  };
  what_if: OfTrace & OfSteps & {
    /** Changes as `whatif --change` takes them, separated by semicolons. */
    change?: string;
  };
  efficiency: OfTrace & OfSteps & {
    /** What a row is one of. */
    group?: "operator" | "kernel";
  };
  counters: OfTrace & OfSteps;
  module: OfTrace & OfSteps;
  table: OfTrace & OfSteps & {
    /** The table. */
    name: "steps" | "scalars" | "iterations" | "critical_path" | "operators" | "kernels" | "lines" | "line_ladder" | "ranges" | "api_calls" | "long_calls" | "launches" | "copies" | "compiled" | "modules" | "memory" | "memory_blocks" | "memory_alive" | "memory_categories" | "memory_changes" | "memory_segments" | "memory_failures" | "collectives" | "counters" | "counter_samples" | "efficiency" | "pyprof" | "findings";
    /** What a row is one of, as in Python; empty: as it is there. */
    by?: string;
  };
  lines: OfTrace & OfSteps & {
    /** Lines of the program alone, or of packages too. */
    group?: "own" | "package";
  };
  source: OfTrace & OfSteps;
  ranges: OfTrace & OfSteps;
  api_calls: OfTrace & OfSteps & {
    /** Kernels below it are short, ns. */
    short_ns?: string;
  };
  "module/flame": OfTrace & OfSteps & {
    /** Frames: modules and operators, or Python source lines. */
    tree?: "module" | "line";
  };
  "module/flame/file": OfTrace & OfSteps & {
    /** Frames: modules and operators, or Python source lines. */
    tree?: "module" | "line";
    /** Whose time the values are. */
    metric?: "host" | "device";
    /** `folded` is for flamegraph.pl and others. */
    format?: "folded" | "speedscope";
  };
  memory: OfTrace;
  "memory/curve": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
    /** About how many points. */
    n?: string;
  };
  "memory/blocks": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
  };
  "memory/statistics": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
    /** What a row is one of. */
    group?: "operator" | "module";
  };
  "memory/alive": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** When. Default: at the device's peak. */
    t?: string;
  };
  "memory/source": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** When. Default: at the device's peak. */
    t?: string;
  };
  "memory/map": OfTrace & {
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** When. Default: when the snapshot was written. */
    t?: string;
    /** Segments of this stream. */
    stream?: string;
    /** Segments of this pool, as `pools` names it. */
    pool?: string;
    /** From this byte of all segments. */
    b0?: string;
    /** To this byte. */
    b1?: string;
    /** About how many cells. */
    n?: string;
  };
  "memory/changes": OfTrace & {
    /** The run of side B. */
    run2: string;
    /** The worker of side B. */
    worker2: string;
    /** The span of side B. */
    span2: string;
    /** The `key` of a device of `/memory`; 404 where there is none. Default: the first. */
    device?: string;
    /** The first moment, in A. Default: at the device's peak. */
    t?: string;
    /** The second moment, in B. Default: at the device's peak. */
    t2?: string;
    /** What a row is one of. */
    by?: "operator" | "parent" | "module" | "line" | "stack" | "category";
    /** A is the recording that was made before the other; two of one time stay as they are. */
    earlier_first?: "0" | "1";
  };
  findings: OfTrace & OfSteps & {
    /** Of this rank alone, whatever is known of the others. */
    alone?: "0" | "1";
  };
  distributed: OfTrace;
  "distributed/map": OfTrace & {
    /** What of each worker and step; `step` is how long it took. */
    measure?: "late" | "waiting" | "transfer" | "exposed" | "hidden" | "computation" | "other" | "step";
  };
  "distributed/groups": OfTrace;
  "overview/ranks": OfTrace;
  "overview/ranks/known": OfTrace;
  "critical_path/ranks": OfTrace & OfSteps;
  "critical_path/ranks/rows": OfTrace & OfSteps & {
    /** What a row is one of, each on one rank. */
    by?: "rank" | "event" | "operator" | "module" | "line";
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
  };
  "critical_path/steps": OfTrace & {
    /** `all`: of a run of several ranks the path through all of them; `own`: that of this trace. */
    ranks?: "all" | "own";
  };
  "critical_path/step": OfTrace & {
    /** Number of the step in `/critical_path/steps`. */
    step: string;
    /** `all`: of a run of several ranks the path through all of them; `own`: that of this trace. */
    ranks?: "all" | "own";
  };
  stragglers: OfTrace;
  experiments: OfTrace & {
    /** `own`: the worker that goes with the asked one; `all`: medians over the workers. */
    ranks?: "own" | "all";
  };
  ask: OfTrace & OfSteps & {
    /** Words of names, or a command. */
    q?: string;
  };
  diff: OfTrace & OfSteps & {
    /** The run of side B. */
    run2: string;
    /** The worker of side B. */
    worker2: string;
    /** The span of side B. */
    span2: string;
    /** Steps of side B. */
    steps2?: string;
    /** Leave out the steps marked cold. */
    skip_cold2?: "0" | "1";
    /** Of these only steps of one kind, by its name in `/overview`. */
    step_kind2?: string;
    /** A is the recording that was made before the other; two of one time stay as they are. */
    earlier_first?: "0" | "1";
  };
  "diff/aligned": OfTrace & OfSteps & {
    /** The run of side B. */
    run2: string;
    /** The worker of side B. */
    worker2: string;
    /** The span of side B. */
    span2: string;
    /** Steps of side B. */
    steps2?: string;
    /** Leave out the steps marked cold. */
    skip_cold2?: "0" | "1";
    /** Of these only steps of one kind, by its name in `/overview`. */
    step_kind2?: string;
    /** A is the recording that was made before the other; two of one time stay as they are. */
    earlier_first?: "0" | "1";
  };
  "diff/axis": OfTrace & OfSteps & {
    /** The run of side B. */
    run2: string;
    /** The worker of side B. */
    worker2: string;
    /** The span of side B. */
    span2: string;
    /** Steps of side B. */
    steps2?: string;
    /** Leave out the steps marked cold. */
    skip_cold2?: "0" | "1";
    /** Of these only steps of one kind, by its name in `/overview`. */
    step_kind2?: string;
    /** A is the recording that was made before the other; two of one time stay as they are. */
    earlier_first?: "0" | "1";
    /** The begin of the window, ns on the axis. Default: all of it. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
    /** Parts of the window. */
    n?: string;
  };
  "diff/file": OfTrace & OfSteps & {
    /** The run of side B. */
    run2: string;
    /** The worker of side B. */
    worker2: string;
    /** The span of side B. */
    span2: string;
    /** Steps of side B. */
    steps2?: string;
    /** Leave out the steps marked cold. */
    skip_cold2?: "0" | "1";
    /** Of these only steps of one kind, by its name in `/overview`. */
    step_kind2?: string;
    /** `csv` has every row, times in ns per step. */
    format?: "csv" | "markdown";
    /** A is the recording that was made before the other; two of one time stay as they are. */
    earlier_first?: "0" | "1";
  };
  trace: OfTrace & OfSteps;
  "trace/file": OfTrace & {
    /** The begin of the window of time. */
    t0?: string;
    /** The end of it, not included. */
    t1?: string;
  };
  "trace/timeline": OfTrace;
  "trace/names": OfTrace & OfContent & {
    /** The number of the first one. */
    first?: string;
  };
  "trace/tiles": OfTrace & OfContent & {
    /** The level. */
    level: string;
    /** Tile numbers. */
    k: string;
    /** Lanes, both ends of a range included. Default: all. */
    lanes?: string;
  };
  "trace/search": OfTrace & OfContent & {
    /** The text to search for. */
    q: string;
    /** `q` is a regular expression in RE2's syntax. */
    re?: "0" | "1";
    /** Search the arguments that the import keeps, too. */
    args?: "0" | "1";
    /** Match case; else `ß` equals `ss`. */
    case?: "0" | "1";
    /** Events of one kind; `first`: of the first kind, in this order, that there is any of. */
    kind?: "first" | "all" | "device" | "operator" | "runtime" | "annotation" | "python" | "other";
  };
  "trace/search/heat": OfTrace & OfContent & {
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** Equal parts of the window. */
    n: string;
    /** The text to search for. */
    q: string;
    /** `q` is a regular expression in RE2's syntax. */
    re?: "0" | "1";
    /** Search the arguments that the import keeps, too. */
    args?: "0" | "1";
    /** Match case; else `ß` equals `ss`. */
    case?: "0" | "1";
    /** Events of one kind; `first`: of the first kind, in this order, that there is any of. */
    kind?: "first" | "all" | "device" | "operator" | "runtime" | "annotation" | "python" | "other";
  };
  "trace/search/next": OfTrace & OfContent & {
    /** The text to search for. */
    q: string;
    /** `q` is a regular expression in RE2's syntax. */
    re?: "0" | "1";
    /** Search the arguments that the import keeps, too. */
    args?: "0" | "1";
    /** Match case; else `ß` equals `ss`. */
    case?: "0" | "1";
    /** Events of one kind; `first`: of the first kind, in this order, that there is any of. */
    kind?: "first" | "all" | "device" | "operator" | "runtime" | "annotation" | "python" | "other";
    /** The hit that follows this event in time order. */
    after?: string;
    /** The hit that comes before this event. */
    before?: string;
    /** The first hit from this time on. */
    t?: string;
    /** From `t` on, or before it. */
    dir?: "next" | "previous";
  };
  "trace/area": OfTrace & OfContent & {
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** Lanes, both ends of a range included. Default: all. */
    lanes?: string;
    /** Events of one kind; `first`: of the first kind, in this order, that there is any of. */
    kind?: "first" | "all" | "device" | "operator" | "runtime" | "annotation" | "python" | "other";
  };
  "trace/area/flame": OfTrace & OfContent & {
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** The kind of events. */
    kind: "device" | "operator" | "runtime" | "annotation" | "python" | "other";
    /** Lanes, both ends of a range included. Default: all. */
    lanes?: string;
  };
  "trace/arrows": OfTrace & OfContent & {
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** At most so many, thinned evenly. */
    cap?: string;
    /** Names of `arrow_kinds`. Default: all. */
    kinds?: string;
    /** One end lies on one. Default: all. */
    lanes?: string;
  };
  "trace/counters": OfTrace & OfContent & {
    /** Places among its `counters`. */
    series: string;
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** Equal parts of the window. */
    n: string;
  };
  "trace/event": OfTrace & OfContent & {
    /** The event. */
    event: string;
  };
  "trace/event/args": OfTrace & OfContent & {
    /** The event. */
    event: string;
  };
  "trace/event/path": OfTrace & OfContent & {
    /** The event. */
    event: string;
  };
  "trace/path": OfTrace & OfContent & {
    /** The begin of the window of time. */
    t0: string;
    /** The end of it, not included. */
    t1: string;
    /** Pixels of the window: what is closer is drawn as one. */
    n: string;
    /** At most so many segments. */
    cap?: string;
    /** At most so many arrows, thinned evenly. */
    arrows?: string;
  };
  "trace/alignment": OfTrace & {
    /** Only the workers of these ranks, and the requested one. Default: all; of more than 64 the nearest ranks. */
    ranks?: string;
  };
  "trace/collective": OfTrace & OfContent & {
    /** The event. */
    event: string;
    /** Only the workers of these ranks, and the requested one. Default: all; of more than 64 the nearest ranks. */
    ranks?: string;
  };
  sql: OfTrace & {
    /** One SELECT; `docs/guide/sql.md` lists the tables. */
    q?: string;
    /** At most so many rows. */
    rows?: string;
  };
  "sql/tables": Record<string, never>;
}
