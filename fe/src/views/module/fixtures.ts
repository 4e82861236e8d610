/** Payloads of the Module page for tests. */

import type {
  FlameTable,
  FlamePayload,
  ModulesTable,
  ModulePayload,
  RangesPayload,
} from "../../api/types.gen";
import { rowsOf } from "../../testing/cases";
import { CPU, GPU, reply } from "../../testing/replies";

/** `Net` calls `Block_0`, which calls `Block_1` and a `Linear`. */
export function moduleRows(over: Partial<ModulesTable> = {}): ModulesTable {
  return rowsOf(reply("module", GPU).rows, [0, 1, 2, 3], {
    parent: [-1, 0, 1, 1],
    name: ["Net_0", "Block_0", "Block_1", "Linear_0"],
    kind: ["Net", "Block", "Block", "Linear"],
    calls: [6, 6, 6, 12],
    operators: [60, 30, 10, 12],
    forward_host_total_ns: [100, 80, 20, 30],
    forward_host_self_ns: [20, 30, 20, 30],
    forward_device_total_ns: [1000, 800, 200, 300],
    forward_device_self_ns: [200, 300, 200, 300],
    backward_host_total_ns: [50, 40, 10, 15],
    backward_host_self_ns: [10, 15, 10, 15],
    backward_device_total_ns: [500, 400, 100, 150],
    backward_device_self_ns: [100, 150, 100, 150],
    allocated_bytes: [null, 10, 20, null],
    increase_bytes: [null, -5, 5, null],
    event: [10, 11, 12, -1],
    ...over,
  });
}

/** Ranges of these names; the first one is the longest of all. */
export const ranges = (names: readonly string[]): RangesPayload =>
  reply("ranges", GPU, {
    rows: rowsOf(
      reply("ranges", GPU).rows,
      names.map(() => 0),
      { name: [...names], event: names.map((_, row) => 40 + row) },
    ),
  });

export const modules = (over: Partial<ModulePayload> = {}): ModulePayload =>
  reply("module", GPU, {
    rows: moduleRows(),
    totals: {
      ...{ module_host_ns: 150, outside_host_ns: 30 },
      ...{ module_device_ns: 1500, outside_device_ns: 300, unattributed_device_ns: 40 },
      ...{ backward_tied: 234, backward_untied: 0, backward_outside: 2 },
    },
    ...over,
  });

export const flameRows = (over: Partial<FlameTable> = {}): FlameTable => ({
  parent: [-1, 0, 0, -1],
  name: ["Net_0", "aten::mm", "aten::mul", "smaller"],
  kind: ["module", "operator", "operator", "rest"],
  backward: [false, false, true, false],
  calls: [6, 12, 12, 3],
  host_ns: [100, 40, 20, 5],
  device_ns: [1000, 700, 200, null],
  first_ns: [0, 5, 1, 200],
  event: [10, 21, 22, -1],
  ...over,
});

export const flame = (over: Partial<FlamePayload> = {}): FlamePayload =>
  reply("module/flame", CPU, {
    ...{ has_device: true, rows: flameRows(), pooled: 7, unattributed_device_ns: 2000 },
    ...over,
  });
