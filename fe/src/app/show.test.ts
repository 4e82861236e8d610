import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { columnsOfTable, declareTables } from "../views/columns";
import { show } from "./show";

const drawn = vi.hoisted(() => [] as number[]);
vi.mock("./lazy_component", () => ({ fetchLater: () => Promise.resolve() }));
vi.mock("./App", () => ({
  App: () => {
    drawn.push(columnsOfTable("operators").length);
    return null;
  },
}));

const column = {
  key: "name",
  label: "Name",
  kind: "text",
  term: "",
  width: null,
  bar: false,
  hidden: false,
};
const WORDS = { definitions: [], tables: [{ name: "operators", columns: [column] }] };

beforeEach(() => {
  vi.useFakeTimers();
  declareTables([]);
  drawn.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

it("draws without the words after two seconds, asks again, and draws anew when they are there", async () => {
  let asked = 0;
  vi.stubGlobal("fetch", () => {
    asked += 1;
    return asked < 3
      ? Promise.reject(new TypeError("not reachable"))
      : Promise.resolve(new Response(JSON.stringify(WORDS)));
  });
  const shown = show();
  await vi.advanceTimersByTimeAsync(1999);
  expect(drawn).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await shown;
  expect(drawn[0]).toBe(0);
  await vi.advanceTimersByTimeAsync(4000);
  expect(drawn.at(-1)).toBe(1);
});

it("waits for words that come in time", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(WORDS))));
  await show();
  expect(drawn).not.toContain(0);
});
