import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import type { ClusterItem } from "../../api/types.gen";
import { recordInto } from "../../base/record";
import { file, filesOf, HOSTILE } from "../../testing/cases";
import { Cluster, fileColumns, HowToRecord, Places, StateFilter } from "./parts";
import { text } from "../../testing/page";

it("Places lists directories and notes as text", () => {
  render(
    <Places
      payload={{
        logdirs: ["/logs", HOSTILE],
        notes: [HOSTILE],
        cluster: null,
        live: [],
        files: filesOf([]),
      }}
    />,
  );
  expect(text()).toContain("/logs");
  expect(document.querySelector("img")).toBeNull();
});

it("Places says so when there is no log directory", () => {
  render(
    <Places
      payload={{
        logdirs: [],
        notes: [],
        cluster: null,
        live: [],
        files: filesOf([]),
      }}
    />,
  );
  expect(text()).toContain("No log directory");
});

it("StateFilter counts per state and tells which was pressed", () => {
  const onState = vi.fn();
  render(
    <StateFilter
      files={filesOf([file("a"), file("b", { state: "failed" }), file("c", { state: "failed" })])}
      state={null}
      onState={onState}
    />,
  );
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual([
    "Traces 3",
    "Failed 2",
    "Ready 1",
  ]);
  expect(screen.getByText(/Traces/).getAttribute("aria-pressed")).toBe("true");
  fireEvent.click(screen.getByText(/Failed/));
  expect(onState).toHaveBeenCalledWith("failed");
});

it("fileColumns gives a reason for every file and keeps unknown counts unknown", () => {
  const columns = fileColumns(
    filesOf([
      file("a", { state: "rejected", reason: "not a trace", events: null, lost: null }),
      file("b", { reason: "" }),
    ]),
  );
  const of = (key: string): unknown[] =>
    Array.from(columns.find((c) => c.key === key)?.values ?? []);
  expect(of("reason")).toEqual(["not a trace", "OK"]);
  expect(of("events")).toEqual([null, 10]);
  expect(fileColumns(filesOf([])).every((c) => c.values.length === 0)).toBe(true);
});

it("HowToRecord gives code to paste when nothing was found", () => {
  render(<HowToRecord found={false} />);
  expect(text()).toContain("torch_tb_profiler.record(");
  expect(document.querySelector("code")?.textContent).toBe(recordInto("./log"));
});

const CLUSTER: ClusterItem = {
  address: "tcp://head:8786",
  connected: true,
  workers: 2,
  others: 0,
  threads: 16,
  memory: 2 ** 34,
  dashboard: "http://head:8787/status",
  waiting: 12,
  running: 16,
  done: 8,
  failed: 0,
};

it("counts tasks and links to Dask's page", () => {
  render(<Cluster cluster={CLUSTER} />);
  expect(text()).toContain("12 waiting, 16 running, 8 done");
  expect(text()).not.toContain("failed");
  expect(screen.getByText("Dask dashboard").getAttribute("href")).toBe("http://head:8787/status");
});

it("makes no link of an address that is no page", () => {
  render(<Cluster cluster={{ ...CLUSTER, dashboard: "javascript:alert(1)" }} />);
  expect(document.querySelector("a")).toBeNull();
});

it("says that nothing is known while the scheduler cannot be reached", () => {
  render(
    <Cluster
      cluster={{
        ...CLUSTER,
        connected: false,
        workers: null,
        others: null,
        threads: null,
        memory: null,
        dashboard: null,
        failed: 3,
      }}
    />,
  );
  expect(text()).toContain("tcp://head:8786 (not reachable)");
  expect(text()).toContain("Workers–Threads–Memory–");
  expect(text()).toContain("3 failed");
});

it("counts workers of another version apart", () => {
  render(<Cluster cluster={{ ...CLUSTER, others: 1 }} />);
  expect(text()).toContain("2 (1 with another version)");
});
