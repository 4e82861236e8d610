import { expect, it } from "vitest";
import type { CollectivePeer, EventPayload, EventRef } from "../../api/types.gen";
import { arrowsToPeers } from "./peers";
import type { Recording } from "./recordings";

const ref = (lane: number, start_ns: number): EventRef => ({
  event: 1,
  lane,
  name: "ncclKernel",
  look: 13,
  start_ns,
  dur_ns: 10,
});
const peer = (worker: string, lane: number, start: number): CollectivePeer => ({
  worker,
  span: "1",
  ref: ref(lane, start),
});
const recording = (worker: string, offset: number): Recording =>
  ({ query: { worker, span: "1" }, offset }) as unknown as Recording;

it("draws an arrow to every other worker that is in sight, on the common clock", () => {
  const recordings = [recording("rank0", 0), recording("rank1", 500)];
  const peers = [
    peer("rank0", 4, 100),
    peer("rank1", 6, 90),
    peer("rank2", 6, 80),
    peer("rank1", -1, 90),
  ];
  const payload = { ref: ref(4, 100) } as unknown as EventPayload;
  expect(arrowsToPeers(peers, recordings, 0, payload)).toEqual([
    {
      source: { source: 0, lane: 4, time: 100 },
      target: { source: 1, lane: 6, time: 590 },
      strong: true,
    },
  ]);
});
