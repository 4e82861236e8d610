/** Recorded what-ifs, changed for a case. */

import type { WhatIfPayload, WhatIfPrediction } from "../../api/types.gen";
import { declaredTable, rowsOf } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";

export function whatIf(over: Partial<WhatIfPayload> = {}): WhatIfPayload {
  const { presets } = reply("what_if", GPU);
  const rows = ["no-sync", "host:factor=0.5"].map((change) => presets.change.indexOf(change));
  return reply("what_if", GPU, {
    ...{ path: "run/it's.json", steps: 2, measured_ns: 36_000, replay_error: 0.001 },
    presets: rowsOf(presets, rows, { saved_ns: [13_000, 1_500], saved: [0.361, 0.0417] }),
    ...over,
  });
}

export function prediction(over: Partial<WhatIfPrediction> = {}): WhatIfPrediction {
  return {
    ...{ changes: [], drawn: [], device: "GPU" },
    ...{ measured_ns: 36_000, replayed_ns: 36_036, replay_error: 0.001 },
    ...{ predicted_ns: 23_000, low_ns: 19_000, high_ns: 27_000, absent: false },
    kinds: declaredTable<WhatIfPrediction["kinds"]>("what_if_kinds", 2, {
      kind: ["kernel", "synchronization"],
      measured_ns: [18_000, 18_000],
      predicted_ns: [18_000, 5_000],
    }),
    steps: declaredTable<WhatIfPrediction["steps"]>("predicted_steps", 2, {
      step: [0, 1],
      name: ["ProfilerStep#1", "ProfilerStep#2"],
      measured_ns: [36_000, 36_000],
      replayed_ns: [36_036, 36_036],
      predicted_ns: [27_000, 19_000],
      saved: [0.25, 0.47],
    }),
    ...over,
  };
}
