import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { SqlPayload, SqlTablesPayload } from "../../api/types.gen";
import type { Params } from "../../state/view";
import { HOSTILE } from "../../testing/cases";
import { serve, show as draw, type Shown, text } from "../../testing/page";
import { barsOf, drawable, gridColumns } from "./view";
import { SqlView } from "./view";

const tables = (missing = ""): SqlTablesPayload => ({
  tables: [
    {
      name: "kernels",
      topic: "Calls",
      doc: "Every kernel.",
      columns: [{ name: "dur", type: "BIGINT", unit: "ns", doc: "Duration." }],
    },
    {
      name: "facts.steps",
      topic: "Sums",
      doc: "Every step.",
      columns: [{ name: "wall", type: "BIGINT", unit: "ns", doc: "Length." }],
    },
  ],
  examples: [{ question: "Which kernels?", statement: "select 1" }],
  missing,
});
const ANSWER: SqlPayload = {
  statement: "select 1",
  columns: [
    { name: "name", kind: "text" },
    { name: "dur", kind: "time" },
    { name: "id", kind: "event" },
    { name: "change", kind: "number" },
  ],
  values: [
    [HOSTILE, "gemm"],
    [2_000_000, null],
    [7, null],
    [-1, 2],
  ],
  total: 5,
  note: "The first 2 rows of 5.",
};

let [listed, failed, asked] = [tables(), false, [] as URL[]];
beforeEach(() => {
  [listed, failed] = [tables(), false];
  const error = { code: "bad_request", message: "Only reading is allowed.", hint: "" };
  asked = serve({ "sql/tables": () => listed, sql: () => (failed ? { error } : ANSWER) });
});

const show = (params: Params = {}): Shown["setParam"] => draw(SqlView, params).setParam;

it("shows the answer of the statement in the link, and what is left out", async () => {
  show({ q: "select 2" });
  await waitFor(() => expect(text()).toContain("The first 2 rows of 5."));
  const grid = screen.getByRole("grid", { name: "Answer" });
  expect(within(grid).getAllByRole("row")).toHaveLength(3);
  expect(within(grid).getByRole("link", { name: "#7" })).toBeTruthy();
  expect(screen.getByRole("textbox", { name: /^One SELECT/ })).toHaveProperty("value", "select 2");
});

it("puts a statement into the link on Ctrl+Enter, and answers an example of the server's before", async () => {
  const setParam = show();
  const box = await screen.findByRole("textbox", { name: /^One SELECT/ });
  await waitFor(() => expect(box).toHaveProperty("value", "select 1"));
  fireEvent.input(box, { target: { value: "select 3" } });
  fireEvent.keyDown(box, { key: "Enter" });
  expect(setParam).not.toHaveBeenCalled();
  fireEvent.keyDown(box, { key: "Enter", ctrlKey: true });
  expect(setParam).toHaveBeenCalledWith("q", "select 3");
  expect(asked.map(String).filter((url) => !url.includes("sql/tables"))).toEqual([
    expect.not.stringContaining("q="),
  ]);
});

it("says what to install where DuckDB is missing, not as an error", async () => {
  listed = tables("pip install duckdb pyarrow");
  show({ q: "select 2" });
  await waitFor(() => expect(text()).toContain("pip install duckdb pyarrow"));
  expect(screen.queryByRole("alert")).toBeNull();
});

it("says why a statement was not answered", async () => {
  failed = true;
  show({ q: "drop table x" });
  await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("Only reading"));
});

it("starts a statement from the list of tables", async () => {
  show();
  const [first] = await screen.findAllByRole("button", { name: "Show its rows", hidden: true });
  fireEvent.click(first!);
  expect(screen.getByRole("textbox", { name: /^One SELECT/ })).toHaveProperty(
    "value",
    "select * from kernels limit 100",
  );
});

it("folds the tables by topic, and finds them by name and column", async () => {
  show();
  const list = await screen.findByRole("region", { name: "Tables and their columns" });
  const open = (): string[] =>
    [...list.querySelectorAll("details")].map(
      (one) => `${one.firstElementChild?.textContent}${one.open ? " open" : ""}`,
    );
  expect(open()).toEqual(["Calls and records open", "kernels", "facts.*", "facts.steps"]);
  const box = within(list).getByRole("searchbox");
  fireEvent.input(box, { target: { value: "WALL" } });
  expect(open()).toEqual(["facts.* open", "facts.steps open"]);
  fireEvent.input(box, { target: { value: "kern" } });
  expect(open()).toEqual(["Calls and records open", "kernels"]);
  fireEvent.input(box, { target: { value: "nowhere" } });
  expect(list.textContent).toContain("No table or column matches.");
});

it("draws numbers that are not negative, unknown as nothing", () => {
  expect(drawable(ANSWER)).toEqual([1]);
  expect(barsOf(ANSWER, 1).map(({ values }) => values)).toEqual([[2_000_000], [0]]);
  expect(gridColumns(ANSWER, () => "#").map(({ kind }) => kind)).toEqual([
    "code",
    "time",
    "text",
    "number",
  ]);
});
