/** Diff payloads for tests: small, and true to the wire types. */

import type {
  Aligned,
  ChangeStatus,
  ChangeTable,
  DiffPayload,
  DiffSide,
  DiffTable,
  DiffTreeTable,
  ExperimentsPayload,
  StepsTable,
} from "../../api/types.gen";
import { rowsOf, step, stepsOf } from "../../testing/cases";
import { reply } from "../../testing/replies";

export const MS = 1_000_000;

/** Steps of so many ms; the fourth is cold and not compared. */
export function measured(times: readonly number[]): StepsTable {
  return stepsOf(
    times.map((ms, i) =>
      step(i, { wall_ns: ms * MS, cold: i === 3, selected: i < 3, name: `ProfilerStep#${i}` }),
    ),
  );
}

const RECORDED = reply("diff", "slow");

export const side = (over: Partial<DiffSide> = {}): DiffSide => ({
  ...RECORDED.a,
  ...{ run: "run", span: "1", label: "run · worker0", device: "Tesla V100-DGXS-32GB" },
  steps: measured([210, 214, 212, 300]),
  ...{ selected: 3, mean_ns: 212 * MS, spread_ns: 2 * MS },
  ...over,
});

type Change = [
  table: ChangeTable,
  name: string,
  status: ChangeStatus,
  a: number | null,
  b: number | null,
];

export function changes(rows: readonly Change[], over: Partial<DiffTable> = {}): DiffTable {
  const all = <T>(value: T): T[] => rows.map(() => value);
  return rowsOf(RECORDED.changes, all(0), {
    table: rows.map(([table]) => table),
    name: rows.map(([, name]) => name),
    short: rows.map(([, name]) => name),
    status: rows.map(([, , status]) => status),
    calls_a: rows.map(([, , , a]) => (a === null ? null : 4)),
    calls_b: rows.map(([, , , , b]) => (b === null ? null : 4)),
    time_a_ns: rows.map(([, , , a]) => a),
    time_b_ns: rows.map(([, , , , b]) => b),
    delta_ns: rows.map(([, , , a, b]) => (b ?? 0) - (a ?? 0)),
    share: rows.map(([, , , a, b]) => ((b ?? 0) - (a ?? 0)) / (212 * MS)),
    event_a: rows.map(([, , , a], i) => (a === null ? null : i)),
    event_b: rows.map(([, , , , b], i) => (b === null ? null : 100 + i)),
    ...over,
  });
}

export const ROWS: readonly Change[] = [
  ["category", "kernel", "changed", 150 * MS, 125 * MS],
  ["category", "other", "same", 62 * MS, 62 * MS],
  ["operator", "aten::mm", "changed", 100 * MS, 75 * MS],
  ["operator", "aten::add", "gone", 5 * MS, null],
  ["operator", "aten::copy_", "new", null, 5 * MS],
  ["kernel", "gemm", "changed", 100 * MS, 75 * MS],
];

export function tree(over: Partial<DiffTreeTable> = {}): DiffTreeTable {
  return {
    parent: [-1, 0, 0],
    kind: ["module", "operator", "operator"],
    backward: [false, false, true],
    name_a: ["Net", "aten::mm", "aten::add"],
    name_b: ["Net", "aten::matmul", null],
    status: ["changed", "changed", "gone"],
    calls_a: [1, 4, 4],
    calls_b: [1, 4, 0],
    host_a_ns: [9 * MS, 5 * MS, 4 * MS],
    host_b_ns: [6 * MS, 6 * MS, 0],
    device_a_ns: [105 * MS, 100 * MS, 5 * MS],
    device_b_ns: [75 * MS, 75 * MS, 0],
    event_a: [1, 2, 3],
    event_b: [1, 2, null],
    ...over,
  };
}

/** The recording itself, one that took longer, and one that is still read. */
export function experiments(over: Partial<ExperimentsPayload> = {}): ExperimentsPayload {
  return reply("experiments", "slow", {
    rows: rowsOf(reply("experiments", "slow").rows, [2, 2, 2], {
      ...{ run: ["r", "s", "t"], worker: ["w", "w", "w"], span: ["1", "1", "1"] },
      ...{ state: ["ready", "ready", "waiting"], steps: [3, 3, null] },
      ...{ recorded: ["2026-01-02 10:00", "2026-01-02 08:00", null] },
      ...{ step_ns: [212 * MS, 237 * MS, null], delta_ns: [null, 25 * MS, null] },
      ...{
        changed: [null, true, null],
        findings: ["The GPU waits for the host (12 %)", null, null],
      },
    }),
    ...{ base: 0, total: 3 },
    suggestion: { row: 1, reason: "Previous recording of the same program: 2 h earlier." },
    ...over,
  });
}

export function diff(over: Partial<DiffPayload> = {}): DiffPayload {
  const wholes = [
    ["category", 212, 187],
    ["operator", 105, 80],
    ["kernel", 100, 75],
  ] as const;
  return {
    ...RECORDED,
    a: side(),
    b: side({
      ...{ run: "other", label: "other · worker0", steps: measured([186, 188, 187, 260]) },
      ...{ mean_ns: 187 * MS, spread_ns: MS },
    }),
    headline: ["A step takes 187 ms, 25.0 ms less than before."],
    verdict: { ...RECORDED.verdict, delta_ns: -25 * MS, share: -0.118, low: -0.132, high: -0.104 },
    changes: changes(ROWS),
    wholes: wholes.map(([table, a, b]) => ({
      ...{ table, time_a_ns: a * MS, time_b_ns: b * MS, pooled: 0 },
    })),
    tree: tree(),
    ...over,
  };
}

/** A step of 212 ms and one of 187 ms, which gained 30 ms and lost 5. */
export function aligned(over: Partial<Aligned> = {}): Aligned {
  const recorded = reply("diff/aligned", "slow").steps!;
  const one = { run: "run", span: "1", step: 0, step_name: "step 0", of: 3 };
  return {
    ...recorded,
    before: { ...recorded.before, ...one, length_ns: 212 * MS },
    after: { ...recorded.after, ...one, run: "other", length_ns: 187 * MS },
    changes: [
      {
        ...{ group: "compute", label: "GPU compute", more: "gemm: −30.0 ms" },
        ...{ before_ns: 150 * MS, after_ns: 120 * MS },
      },
      { group: "host_code", label: "Host code", before_ns: 62 * MS, after_ns: 67 * MS, more: "" },
    ],
    ...over,
  };
}
