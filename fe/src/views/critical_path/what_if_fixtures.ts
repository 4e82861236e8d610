/** A payload of what-ifs for tests. */

import type { WhatIfPayload, WhatIfPrediction } from "../../api/types.gen";
import { declaredTable } from "../../testing/cases";

const SELECTORS = ["kernel", "operator", "line", "name"];
const parameter = (name: string, value = "", values: string[] = []) => ({
  name,
  default: value,
  about: `About ${name}.`,
  values,
});

export function whatIf(over: Partial<WhatIfPayload> = {}): WhatIfPayload {
  return {
    path: "run/it's.json",
    steps: 2,
    measured_ns: 36_000,
    replay_error: 0.001,
    presets: declaredTable<WhatIfPayload["presets"]>("what_if", 2, {
      change: ["no-sync", "host:factor=0.5"],
      words: ["Calls that wait for the device return at once", "The host's own work × 0.5"],
      saved_ns: [13_000, 1_500],
      saved: [0.361, 0.0417],
    }),
    catalogue: [
      {
        name: "scale",
        words: "Time of {chosen} × {factor}",
        selects: true,
        parameters: [
          ...SELECTORS.map((name) => parameter(name)),
          parameter("kind", "", ["kernel", "python"]),
          parameter("factor", "0.5"),
        ],
      },
      {
        name: "no-sync",
        words: "Calls{of_name} that wait for the device return at once",
        selects: false,
        parameters: [parameter("name", "*")],
      },
      {
        name: "host",
        words: "The host's own work × {factor}",
        selects: false,
        parameters: [parameter("factor", "0.5")],
      },
      {
        name: "peak",
        words: "Kernels{of_operator} reach {share} of the device's peak",
        selects: false,
        parameters: [parameter("share", "0.7"), parameter("operator", "*")],
      },
    ],
    prediction: null,
    ...over,
  };
}

export function prediction(over: Partial<WhatIfPrediction> = {}): WhatIfPrediction {
  return {
    changes: [],
    measured_ns: 36_000,
    replayed_ns: 36_036,
    replay_error: 0.001,
    predicted_ns: 23_000,
    low_ns: 19_000,
    high_ns: 27_000,
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
