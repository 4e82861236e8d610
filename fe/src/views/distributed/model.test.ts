import { describe, expect, it } from "vitest";
import { chosenColumns, columnNames, columnsText, readColumn, stepsPerColumn } from "./columns";
import { worker } from "./fixtures";
import {
  barTable,
  operationRows,
  readWorker,
  stepBars,
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
    expect(valuesAt(table, [0])).toEqual([10, null]);
    expect(valuesAt(table, [0, 2])).toEqual([20, null]);
    expect(valuesAt(table, null)).toEqual([20, null]);
  });
  it("is the mean of all steps where cells are sums of several", () => {
    const counts = [
      [3, 0, 1],
      [0, 0, 0],
    ];
    expect(valuesAt(table, null, counts)).toEqual([10, null]);
    expect(valuesAt(table, [0], counts)).toEqual([10 / 3, null]);
  });
});

it("has a bar per chosen step of the only worker", () => {
  const tables = [[[5, 6, 7]], [[1, null, 3]]];
  expect(
    stepBars(tables, [1, 2], ["4", "5", "6"]).map(({ label, values }) => [label, values]),
  ).toEqual([
    ["5", [6, 0]],
    ["6", [7, 3]],
  ]);
});

it("the chosen steps are those of the selected worker, found in the columns that hold them", () => {
  // Five steps of the run in columns of two; the selected worker lacks the first.
  const payload = {
    steps: ["a", "b", "c", "d", "e"],
    own_steps: [-1, 0, 1, 2, 3],
    column_begin: [0, 2, 4],
  };
  const chosen = (first: number | null, last: number | null) =>
    chosenColumns({ first, last, skipCold: false }, payload);
  expect([chosen(null, null), chosen(0, 0), chosen(0, 2), chosen(9, 9)]).toEqual([
    null,
    [0],
    [0, 1],
    null,
  ]);
  expect(columnsText([0, 1], payload)).toBe("average of steps a–d");
  expect(columnsText(null, payload)).toBe("average of 5 steps");
  expect(columnsText([1], { steps: ["7", "8"], column_begin: [0, 1] })).toBe("step 8");
});

it("steps and workers are read by their names", () => {
  const columns = { steps: ["ProfilerStep#10", "ProfilerStep#11", "b"], column_begin: [0, 2] };
  expect(
    ["ProfilerStep#11", "b", "gone", undefined].map((name) => readColumn(name, columns)),
  ).toEqual([0, 1, null, null]);
  expect(columnNames(columns)).toEqual(["10–11", "b"]);
  expect([stepsPerColumn(columns), stepsPerColumn({ steps: ["a"], column_begin: [0] })]).toEqual([
    2, 1,
  ]);
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
      [0],
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

it("operations are those of all workers, or of one", () => {
  expect([
    operationRows({ worker: [-1, 0, 1, -1] }, null),
    operationRows({ worker: [-1, 0, 1, -1] }, 1),
  ]).toEqual([[0, 3], [2]]);
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
