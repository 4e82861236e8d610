/** What the plugin's routes answered about recordings: `python -m tests.generate --write` asks them (`tests/generate/replies.py`). */

import type { Routes } from "../api/routes.gen";
import cnn_workers_0 from "./replies/cnn_workers_0.json";
import server from "./replies/server.json";
import slow from "./replies/slow.json";
import snapshot from "./replies/snapshot.json";
import synthetic_ddp8 from "./replies/synthetic_ddp8.json";

const RECORDED = { cnn_workers_0, server, slow, snapshot, synthetic_ddp8 };

type Recording = keyof typeof RECORDED;
type Asked<R extends Recording> = keyof (typeof RECORDED)[R] & string;
type Answer<A extends string> = A extends keyof Routes
  ? Routes[A]
  : A extends `${infer Route extends keyof Routes}?${string}`
    ? Routes[Route]
    : never;

/** A recording with an accelerator: rank 2 of 8. */
export const GPU = "synthetic_ddp8";
/** A recording without one. */
export const CPU = "cnn_workers_0";

/** A reply about a recording, with other values of some fields. */
export function reply<R extends Recording, A extends Asked<R>>(
  asked: A,
  recording: R,
  over: Partial<Answer<A>> = {},
): Answer<A> {
  const recorded: unknown = RECORDED[recording][asked];
  return { ...structuredClone(recorded as Answer<A>), ...over };
}
