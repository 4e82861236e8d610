/**
 * The built page with made-up answers, for work on the page without Python: `npm run build && npm run dev -- [PORT] [ROWS] [STEPS]`.
 *
 * Runs: one that is ready, one that is imported for 12 s over and over, one that failed. The numbers mean nothing.
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const PORT = Number(argv[2] ?? 8123);
const ROWS = Number(argv[3] ?? 400);
const STEP_COUNT = Number(argv[4] ?? 40);
const STATIC = fileURLToPath(new URL("../../torch_tb_profiler/static/", import.meta.url));
const PAGE = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><title>PyTorch Profiler</title><script type="module" src="static/boot.js"></script></head><body></body></html>`;
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; script-src 'self'";
const VOCABULARY = { device: "GPU", multiprocessor: "SM", matrix_cores: "Tensor Cores" };

/** Numbers that are the same in every run. */
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const between = (low, high) => Math.round(low * (high / low) ** random());
const list = (make, count = ROWS) => Array.from({ length: count }, (_, i) => make(i));

const CATEGORIES = [
  "kernel",
  "memcpy",
  "memset",
  "communication",
  "runtime",
  "dataloader",
  "cpu_exec",
  "other",
];
const STEPS = list((index) => {
  const scale = index === 17 ? 2.2 : index < 2 ? 1.6 : 1;
  const categories_ns = Object.fromEntries(
    CATEGORIES.map((name, i) => [name, Math.round((scale * between(2e6, 3e6)) / (i + 1))]),
  );
  const wall_ns = Object.values(categories_ns).reduce((a, b) => a + b);
  const odd_reason = index === 17 ? "Communication took 8.2 ms more than the median" : "";
  return {
    index,
    name: `ProfilerStep#${index + 10}`,
    start_ns: index * 2e7,
    wall_ns,
    categories_ns,
    cold: index < 2,
    odd: index === 17,
    odd_reason,
    cut: index === STEP_COUNT - 1,
    selected: true,
  };
}, STEP_COUNT);

/** Rows of equal keys as the table that a reply holds. */
const columns = (rows) =>
  Object.fromEntries(Object.keys(rows[0]).map((key) => [key, rows.map((row) => row[key])]));
const STEPS_TABLE = columns(
  STEPS.map(({ index, categories_ns, ...step }) => ({
    step: index,
    ...step,
    ...Object.fromEntries(CATEGORIES.map((key) => [`${key}_ns`, categories_ns[key]])),
  })),
);

const span = (name, state, progress = 1, message = "") => ({
  name,
  label: `${name}`,
  state,
  progress,
  message,
  bytes: 62_000_000,
});
const worker = (rank, spans) => ({
  name: `host-7_${2000 + rank}`,
  rank,
  rank_source: "distributedInfo",
  world_size: 4,
  spans,
});
const importing = () => (Date.now() % 12_000) / 12_000;

function runs() {
  const progress = importing();
  return {
    version: `${Math.floor(progress * 10)}`,
    scanning: false,
    logdirs: ["/data/logs"],
    runs: [
      {
        name: "resnet50/batch32",
        synthetic: true,
        kind: "training",
        recorded: null,
        workers: [0, 1, 2, 3].map((rank) => worker(rank, [span("1", "ready"), span("2", "ready")])),
      },
      {
        name: "being_imported",
        synthetic: false,
        kind: "training",
        recorded: null,
        workers: [worker(0, [span("1", "importing", progress)])],
      },
      {
        name: "broken",
        synthetic: false,
        kind: "training",
        recorded: null,
        workers: [worker(0, [span("1", "failed", 0, "Truncated at byte 12345.")])],
      },
    ],
  };
}

function operators(group) {
  const name = list(
    (i) =>
      `aten::${["conv2d", "batch_norm", "relu_", "add_", "mm", "copy_", "native_layer_norm_backward"][i % 7]}_${i}`,
  );
  return {
    group,
    has_device: true,
    vocabulary: VOCABULARY,
    rows: {
      name,
      shapes: list((i) =>
        group === "name" ? null : `[[32, 3, ${i}, 224], [64, 3, 7, 7], [], [], []]`,
      ),
      stack: list(() => null),
      has_stack: list((i) => i % 3 !== 0),
      calls: list(() => between(1, 5000)),
      device_self_ns: list(() => (random() < 0.3 ? 0 : between(1e3, 9e7))),
      device_total_ns: list(() => between(1e3, 2e8)),
      host_self_ns: list(() => between(1e3, 9e6)),
      host_total_ns: list(() => between(1e4, 9e7)),
      matrix_eligible: list((i) => i % 3),
      matrix_self_share: list((i) => (i % 3 === 1 ? random() : null)),
      matrix_total_share: list((i) => (i % 3 === 1 ? random() : null)),
    },
    frames: { parent: [], frame: [] },
    pooled: 0,
    missing: [],
  };
}

function kernels(group) {
  const properties = group === "properties";
  const full = (i) =>
    `void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x${i}_tn_align8>(cutlass_80_wmma_tensorop_bf16_s161616gemm::Params)`;
  return {
    group,
    vocabulary: VOCABULARY,
    rows: {
      name: list(full),
      short: list((i) => `cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x${i}_tn_align8`),
      operator: list((i) => (i % 9 ? `aten::mm_${i}` : null)),
      reason: list((i) => (i % 9 ? null : "launched outside every operator")),
      grid: list((i) => (properties ? `[${i}, 1, 1]` : null)),
      block: list(() => (properties ? "[256, 1, 1]" : null)),
      registers: list(() => (properties ? 128 : null)),
      shared_memory_bytes: list(() => (properties ? 49152 : null)),
      calls: list(() => between(1, 900)),
      total_ns: list(() => between(1e4, 9e7)),
      mean_ns: list(() => between(1e3, 9e5)),
      shortest_ns: list(() => between(500, 9e3)),
      longest_ns: list(() => between(1e4, 9e6)),
      blocks_per_sm: list((i) => (i % 5 ? random() * 20 : null)),
      occupancy: list((i) => (i % 5 ? random() : null)),
      matrix: list((i) => i % 3),
      matrix_eligible: list((i) => i % 3),
      communication: list((i) => i % 11 === 0),
    },
    pooled: 0,
    attribution: { device_events: 1000, kernels: 900, with_launch: 890, with_operator: 800 },
    missing: [],
  };
}

function overview() {
  const mean = (pick) =>
    Math.round(STEPS.reduce((sum, step) => sum + pick(step), 0) / STEPS.length);
  const device = (id) => ({
    id: `${id}`,
    name: "NVIDIA A100-SXM4-80GB",
    memory_bytes: 85e9,
    capability: "8.0",
    multiprocessors: 108,
    utilization: 0.873,
    sm_efficiency: 0.61,
    occupancy: 0.42,
    matrix_core_share: 0.31,
    matrix_unknown_share: 0.08,
    unknown: [],
  });
  return {
    configuration: [
      { label: "Workers", value: "4", hint: "" },
      { label: "Communication backend", value: "nccl", hint: "" },
      { label: "PyTorch", value: "2.9.0", hint: "" },
    ],
    vocabulary: VOCABULARY,
    step_source: "ProfilerStep",
    steps: STEPS_TABLE,
    average: {
      steps: STEPS.length,
      wall_ns: mean((s) => s.wall_ns),
      categories_ns: Object.fromEntries(
        CATEGORIES.map((name) => [name, mean((s) => s.categories_ns[name])]),
      ),
    },
    devices: [device(0)],
    recommendations: [
      {
        rule: "dataloader",
        title: "Load data faster",
        text: "The DataLoader takes 12.3 % of the step.",
        caveat: "",
        numbers: [{ label: "DataLoader", value: 2.4e6, unit: "ns" }],
        links: [],
      },
    ],
    health: [
      {
        name: "launch_without_kernel",
        severity: "notice",
        sentence: "A launch whose kernel was not recorded.",
        count: 12,
        touched_ns: 1.2e6,
        touched_share: 0.002,
        doubtful: ["operator device time"],
      },
    ],
    notes: [],
    missing: [],
  };
}

const ROUTES = {
  runs,
  diagnosis: () => ({
    version: "1",
    logdirs: ["/data/logs"],
    notes: [],
    files: columns(
      list(
        (i) => ({
          path: `run/${i}.pt.trace.json.gz`,
          run: "run",
          worker: "w",
          span: `${i}`,
          state: i % 4 ? "ready" : "rejected",
          reason: i % 4 ? "" : "It is not a trace.",
          bytes: between(1e3, 1e9),
          events: 1000,
          lost: 0,
        }),
        20,
      ),
    ),
  }),
  steps: () => ({ source: "ProfilerStep", steps: STEPS_TABLE }),
  overview,
  operator: (query) => operators(query.get("group") ?? "name"),
  "operator/stacks": (query) => ({
    name: query.get("name"),
    shapes: null,
    stacks: list(
      (i) => ({
        frames: ["train.py(31): step", "model.py(12): forward", `layer.py(${i}): __call__`],
        calls: i + 1,
        device_self_ns: 1e6,
        device_total_ns: 2e6,
        host_self_ns: 1e5,
        host_total_ns: 1e6,
      }),
      3,
    ),
    without: 2,
    missing: [],
  }),
  kernel: (query) => kernels(query.get("group") ?? "name"),
  trace: () => ({
    file: "a.pt.trace.json.gz",
    bytes: 62e6,
    events: 239000,
    span_ns: 8e8,
    origin_ns: "1700000000000000000",
    perfetto_url: "https://ui.perfetto.dev",
    steps: STEPS_TABLE,
  }),
};

const failure = (code, message, hint, more = {}) => ({
  error: { code, message, hint, progress: null, ...more },
});

function answer(path, query) {
  seed = 1;
  const route = ROUTES[path];
  if (!route) return [404, failure("not_found", `There is no route ${path}.`, "")];
  if (query.get("run") === "broken")
    return [409, failure("import_failed", "Truncated at byte 12345.", "Record it again.")];
  if (query.get("run") === "being_imported")
    return [
      202,
      failure("not_ready", "26.6 MB of 62.0 MB read.", "Wait.", { progress: importing() }),
    ];
  return [200, route(query)];
}

createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  const path = url.pathname.slice(1);
  const send = (status, type, body) =>
    response
      .writeHead(status, { "Content-Type": type, "Content-Security-Policy": POLICY })
      .end(body);
  if (path === "") return send(200, "text/html", PAGE);
  if (path === "static/boot.js")
    return send(200, "text/javascript", 'import { render } from "./index.js";\nrender();\n');
  if (/^static\/[\w./-]+\.js$/.test(path) && !path.includes("..")) {
    return send(200, "text/javascript", readFileSync(STATIC + path.slice(7)));
  }
  const [status, body] = answer(path, url.searchParams);
  return send(status, "application/json", JSON.stringify(body));
}).listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}/`));
