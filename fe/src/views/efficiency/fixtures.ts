/** Recorded replies of the Efficiency page: a product, an addition and a sort that is not modelled. */

import type { EfficiencyPayload, EfficiencyTable } from "../../api/types.gen";
import { rowsOf } from "../../testing/cases";
import { CPU, GPU, reply } from "../../testing/replies";

export const rows = (over: Partial<EfficiencyTable> = {}): EfficiencyTable =>
  rowsOf(reply("efficiency", GPU).rows, [1, 3, 0], {
    name: ["aten::mm", "aten::add", "aten::sort"],
    kernel: ["void gemm<1>()", "void add()", "sort"],
    short_name: ["gemm", "add", "sort"],
    family: ["gemm", "elementwise", null],
    calls: [4, 2, 1],
    time_ns: [8000, 2000, 500],
    flops_rate: [4.6e14, 6.05e11, null],
    bytes_rate: [1.8e12, 7.26e12, null],
    roof: ["memory", "memory", null],
    of_roof: [0.54, 0.9, null],
    over_roof_ns: [3700, 200, null],
    matrix: [1, 0, 2],
    event: [11, 12, -1],
    ...over,
  });

export const efficiency = (over: Partial<EfficiencyPayload> = {}): EfficiencyPayload =>
  reply("efficiency", GPU, { rows: rows(), pooled: 0, ...over });

export const onHost = (): EfficiencyPayload => reply("efficiency", CPU);
