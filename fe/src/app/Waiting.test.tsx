import { act, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { WaitingPayload } from "../api/types.gen";
import { waitingStore } from "../state/resource";
import type { Params, ViewId } from "../state/view";
import { Waiting } from "./Waiting";

const SELECTION = { run: "r", worker: "w", span: "1" };
const waiting = (over: Partial<WaitingPayload> = {}): WaitingPayload => ({
  progress: 0.25,
  label: "Reading 2.58 MiB",
  parts: [
    { name: "Read", share: 0.5 },
    { name: "Analyse", share: 0.5 },
  ],
  ...over,
});

let answers: WaitingPayload[];
let asked: URL[];

beforeEach(() => {
  asked = [];
  vi.useFakeTimers();
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(new URL(url, "http://x/"));
    const body = answers.length > 1 ? answers.shift() : answers[0];
    return Promise.resolve(Response.json(body));
  });
});

afterEach(() => {
  waitingStore.set(0);
  vi.useRealTimers();
});

const settle = async (ms = 0): Promise<void> => {
  for (let past = 0; past <= ms; past += 100)
    await act(async () => {
      await vi.advanceTimersByTimeAsync(past ? 100 : 0);
    });
};
const waits = (count: number): Promise<void> =>
  act(() => {
    waitingStore.set(count);
  });
const bar = (): number => Number(screen.getByRole("progressbar").getAttribute("aria-valuenow"));
const filled = (): string[] =>
  [...document.querySelectorAll<HTMLElement>(".waiting-track > div")].map((e) => e.style.width);

function show(params: Params = {}, view: ViewId = "overview", selection = SELECTION) {
  return render(<Waiting selection={selection} params={params} view={view} />);
}

it("asks nothing of a run that was just chosen until its trace is known", async () => {
  answers = [waiting()];
  show({}, "overview", { run: "r", worker: "", span: "" });
  await waits(1);
  await settle();
  expect(asked).toEqual([]);
});

it("is there while the page waits, and asks as long", async () => {
  answers = [waiting(), waiting({ progress: 0.75 })];
  show();
  await settle(5000);
  expect([asked.length, document.body.textContent]).toEqual([0, ""]);
  await waits(2);
  await settle();
  expect([bar(), filled()]).toEqual([25, ["50%", "0%"]]);
  expect(document.body.textContent).toBe("Reading 2.58 MiBReadAnalyse");
  await settle(1500);
  expect([bar(), filled()]).toEqual([75, ["100%", "50%"]]);
  await waits(0);
  const before = asked.length;
  await settle(3000);
  expect([asked.length, screen.queryByRole("progressbar")]).toEqual([before, null]);
});

it("never falls, never is full, and stays until the page has its answer", async () => {
  answers = [waiting({ progress: 0.6 }), waiting({ progress: 0.2 }), waiting({ progress: 1 })];
  await waits(1);
  show();
  await settle();
  const seen = [bar()];
  for (let look = 0; look < 20; look++) {
    await settle(200);
    seen.push(bar());
  }
  expect([seen, [...new Set(seen)]]).toEqual([seen.toSorted((a, b) => a - b), [60, 99]]);
});

it("is not there for what is none of the trace's making", async () => {
  answers = [waiting({ progress: 1 })];
  await waits(1);
  show();
  await settle(3000);
  expect(asked).toHaveLength(1);
  expect(screen.queryByRole("progressbar")).toBeNull();
});

it("counts ranks without naming one, as one part", async () => {
  answers = [waiting({ label: "3 of 8 ranks read", parts: [] })];
  await waits(1);
  show();
  await settle();
  expect(document.body.textContent).toBe("3 of 8 ranks read");
  expect(filled()).toEqual(["25%"]);
});

it("ends when what is waited for cannot come", async () => {
  answers = [waiting()];
  await waits(1);
  show();
  await settle();
  vi.stubGlobal("fetch", () =>
    Promise.resolve(
      Response.json(
        { error: { code: "import_failed", message: "No.", hint: "", progress: null } },
        { status: 409 },
      ),
    ),
  );
  await settle(1500);
  expect(screen.queryByRole("progressbar")).toBeNull();
});

it("asks for the timeline on Trace, and for both sides on Diff", async () => {
  answers = [waiting()];
  await waits(1);
  show({}, "trace");
  show({ run2: "s", worker2: "v", span2: "2" }, "diff");
  await settle();
  expect(asked.map(({ search }) => search)).toEqual([
    "?run=r&worker=w&span=1&what=timeline",
    "?run=r&worker=w&span=1&what=answer&run2=s&worker2=v&span2=2",
  ]);
});
