import { describe, expect, it } from "vitest";
import { distributed, lateItem, MS, worker } from "./fixtures";
import {
  barTable,
  beforeText,
  incomplete,
  laggards,
  notesOf,
  operationRows,
  readStep,
  readWorker,
  topSentences,
  valuesAt,
  workerBars,
  workerName,
} from "./model";
import { countsText } from "./tables";

describe("valuesAt", () => {
  const table = [
    [10, null, 30],
    [null, null, null],
  ];
  it("is one step, or the mean of the steps that are there", () => {
    expect(valuesAt(table, 0)).toEqual([10, null]);
    expect(valuesAt(table, null)).toEqual([20, null]);
  });
});

it("steps and workers are read by their names", () => {
  expect(readStep("ProfilerStep#11", ["ProfilerStep#10", "ProfilerStep#11"])).toBe(1);
  expect([readStep("gone", ["a"]), readStep(undefined, ["a"])]).toEqual([null, null]);
  expect([
    readWorker("host_101", [worker(0), worker(1)]),
    readWorker("gone", [worker(0)]),
    readWorker("", []),
  ]).toEqual([1, null, null]);
});

describe("workerBars", () => {
  it("has one bar per worker, and says of an absent step that it is not there", () => {
    const workers = [worker(0), worker(1), worker(2, { state: "waiting", message: "" })];
    const bars = workerBars(
      workers,
      [
        [[5], [null], [null]],
        [[7], [null], [null]],
      ],
      0,
    );
    expect(bars.map(({ values, note }) => [values, note])).toEqual([
      [[5, 7], undefined],
      [[0, 0], "no such step"],
      [[0, 0], "not read yet"],
    ]);
    const table = barTable(
      [
        { key: "x", label: "X", color: "" },
        { key: "y", label: "Y", color: "" },
      ],
      bars,
    );
    expect(table.rows[0]).toEqual(["rank 0 (host_100)", 5, 7, 5 / 12, 7 / 12]);
    expect(table.rows[1]?.slice(1)).toEqual([null, null, null, null]);
  });
});

describe("who holds the others back", () => {
  it("is the one that all waiting of all steps was for most, not the one that is last most often", () => {
    const late = [
      lateItem(0, { worker: 0, caused_ns: 5 }),
      lateItem(1, { worker: 0, caused_ns: 5 }),
      lateItem(2, { worker: 2, caused_ns: 100 }),
    ];
    expect(
      laggards({ ...distributed(), late }).map(({ worker: place, causedNs }) => [place, causedNs]),
    ).toEqual([
      [2, 100],
      [0, 10],
    ]);
  });
  it("is told with steps, wait, cause and gain", () => {
    expect(topSentences(distributed())).toEqual([
      "Rank 1 is late in 3 of 4 steps: the others wait up to 12.0 ms per step for it.",
      "On time it could save up to 11.0 ms in each of them, 8.3 % of the time of all steps.",
      "Before that its host works 12.0 ms longer than that of the rank that waits longest in the step that cost most; the largest part: aten::mm in Net.layer1, train.py(12): forward, by 11.0 ms on the host.",
    ]);
  });
  it("is told with a second one that costs much, and of one step without a mean", () => {
    const two = distributed(3, 4, {
      late: [
        lateItem(1),
        lateItem(2, { worker: 2, caused_ns: 5 * MS }),
        lateItem(3, { worker: 0, caused_ns: 4 * MS }),
      ],
    });
    const sentences = topSentences(two);
    expect(sentences[0]).toBe(
      "Rank 1 is late in 1 of 4 steps: the others wait up to 12.0 ms for it.",
    );
    expect(sentences[1]).toBe(
      "On time it could save up to 11.0 ms, 2.8 % of the time of all steps.",
    );
    expect(sentences.at(-1)).toBe(
      "Rank 2 is late in 1 of 4 steps: the others wait up to 12.0 ms for it.",
    );
    expect(
      topSentences(
        distributed(3, 4, { late: [lateItem(1), lateItem(2, { worker: 2, caused_ns: MS })] }),
      ).length,
    ).toBe(3);
  });
  it("is nobody when the gain is below 1 % of the steps, or nothing at all", () => {
    const little = distributed(3, 4, { late: [lateItem(1, { lead_ns: 0.5 * MS })] });
    expect(topSentences(little)).toEqual([
      "No worker holds the others back for long: the latest, rank 1, costs 0.1 % of the steps.",
    ]);
    expect(topSentences(distributed(3, 4, { late: [] }))[0]).toBe(
      "No worker holds the others back: they arrive at every collective together.",
    );
    expect(topSentences(distributed(3, 4, { late: [lateItem(1, { caused_ns: 0 })] }))[0]).toContain(
      "together",
    );
  });
  it("is not known with one worker, without a match, and without communication", () => {
    expect(topSentences(distributed(1))[0]).toContain("recording of one worker");
    expect(topSentences(distributed(3, 4, { matched: 0 }))[0]).toContain("could be matched");
    expect(
      topSentences(
        distributed(2, 1, {
          workers: [worker(0, { collectives: 0 }), worker(1, { collectives: 0 })],
        }),
      )[0],
    ).toBe("No communication was recorded.");
  });
  it("is not told before it is known", () => {
    const none = { late: [], matched: 0, progress: 0.5 };
    expect(topSentences(distributed(3, 4, none))).toEqual(["The workers are still being read."]);
    expect(topSentences(distributed(3, 4, { progress: 0.5 }))[0]).toContain(
      "So far: Rank 1 is late",
    );
  });
  it("needs no rank", () =>
    expect(
      topSentences({
        ...distributed(),
        workers: [worker(0), worker(1, { rank: null, worker: "node-7" }), worker(2)],
      })[0],
    ).toMatch(/^node-7 is late/));
});

it("what ran before is told as far as it is known", () => {
  const none = {
    before_name: null,
    before_side: null,
    before_operator: null,
    before_module: null,
    before_line: null,
    before_ns: null,
  };
  expect(beforeText(lateItem(0, none))).toBe("");
  expect(beforeText(lateItem(0, { ...none, before_line: "a.py(3): f", before_ns: 2000 }))).toBe(
    "a.py(3): f, by 2.00 µs",
  );
  expect(beforeText(undefined)).toBe("");
});

it("operations are those of all workers, or of one", () => {
  expect([
    operationRows({ worker: [-1, 0, 1, -1] }, null),
    operationRows({ worker: [-1, 0, 1, -1] }, 1),
  ]).toEqual([[0, 3], [2]]);
});

it("notes begin with the workers that could not be read", () => {
  expect(notesOf(distributed(2, 1, { notes: ["a"] }))).toEqual(["a"]);
  const failed = (count: number): string =>
    notesOf({
      ...distributed(),
      workers: Array.from({ length: count }, (_, rank) => worker(rank, { state: "failed" })),
    })[0] ?? "";
  expect(failed(2)).toContain("of rank 0, rank 1 could not");
  expect(failed(6)).toContain("of 6 workers could not");
});

it("workers are still to come until all is there", () => {
  expect([incomplete(distributed()), incomplete({ progress: 0.9 })]).toEqual([false, true]);
});

it("counts are told once where all are equal", () => {
  const workers = Array.from({ length: 7 }, (_, rank) => worker(rank));
  expect(countsText([3, 3], workers)).toBe("3 each");
  expect(countsText([3, 3, 3, 3, 3, 3, 2], workers)).toBe(
    "3 on rank 0, rank 1, rank 2, rank 3 and 2 more; 2 on rank 6",
  );
});

it("a worker is called by its rank, else by its name", () =>
  expect([workerName(worker(4)), workerName({ rank: null, worker: "w" })]).toEqual([
    "rank 4",
    "w",
  ]));
