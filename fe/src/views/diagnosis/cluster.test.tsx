import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";
import type { ClusterItem } from "../../api/types.gen";
import { Cluster } from "./cluster";

afterEach(cleanup);
const text = (): string => document.body.textContent;

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
