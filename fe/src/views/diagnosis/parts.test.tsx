import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { file, filesOf, HOSTILE } from "../fixtures";
import { recordInto } from "../../base/record";
import { fileColumns, HowToRecord, Places, StateFilter } from "./parts";

afterEach(cleanup);
const text = (): string => document.body.textContent;

it("Places lists directories and notes as text", () => {
  render(
    <Places
      payload={{
        version: "1",
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
        version: "1",
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
    "All 3",
    "Failed 2",
    "Ready 1",
  ]);
  expect(screen.getByText(/All/).getAttribute("aria-pressed")).toBe("true");
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
