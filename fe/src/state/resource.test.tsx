import { act, renderHook } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SpanState } from "../api/types.gen";
import { useResource, waitingStore } from "./resource";
import { runsStore } from "./runs";
import type { Parameters } from "../api/client";
import { run, runsOf, span, worker } from "../testing/runs";

type Params = Parameters["steps"];

const QUERY: Params = { run: "r", worker: "w", span: "1" };

const catalogue = (state: SpanState, bytes = 10) => ({
  payload: runsOf([run("r", [worker("w", 0, [span("1", state, { progress: 0.5, bytes })])])]),
  error: null,
});

const reply = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const steps = (source: string): Response => reply(200, { source, steps: [] });
const notReady = (progress: number): Response =>
  reply(202, { error: { code: "not_ready", message: "half", hint: "", progress } });

describe("useResource", () => {
  const answers = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();
  beforeEach(() => {
    vi.useFakeTimers();
    answers.mockReset();
    vi.stubGlobal("fetch", answers);
    runsStore.set(catalogue("ready"));
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const settle = (ms = 0): Promise<void> =>
    act(async () => {
      await vi.advanceTimersByTimeAsync(ms);
    });
  const hook = (
    query: Params = QUERY,
  ): ReturnType<typeof renderHook<ReturnType<typeof useResource<"steps">>, Params>> =>
    renderHook((props: Params) => useResource("steps", props), { initialProps: query });

  it("loads", async () => {
    answers.mockResolvedValue(steps("a"));
    const { result } = hook();
    expect(result.current).toMatchObject({ state: "loading", data: null });
    await settle();
    expect(result.current).toMatchObject({ state: "ready", data: { source: "a" }, stale: false });
    expect(answers.mock.calls[0]?.[0]).toMatch(/steps\?run=r&worker=w&span=1$/);
  });

  it("asks again while the trace is imported, and has the page wait for it", async () => {
    answers
      .mockResolvedValueOnce(notReady(0.25))
      .mockResolvedValueOnce(notReady(0.75))
      .mockResolvedValue(steps("a"));
    const { result } = hook();
    await settle();
    expect(result.current).toMatchObject({ state: "importing", error: null, progress: "half" });
    await settle(300);
    expect([result.current.state, waitingStore.get()]).toEqual(["importing", 1]);
    await settle(1000);
    expect(result.current).toMatchObject({ state: "ready" });
    expect(result.current.progress).toBeUndefined();
    expect(waitingStore.get()).toBe(0);
    await settle(60_000);
    expect(answers).toHaveBeenCalledTimes(3);
  });

  it("keeps the old data of the same trace while other steps are on their way", async () => {
    answers.mockResolvedValueOnce(steps("all"));
    const { result, rerender } = hook();
    await settle();
    let finish: (response: Response) => void = () => undefined;
    answers.mockReturnValueOnce(new Promise((resolve) => (finish = resolve)));
    rerender({ ...QUERY, steps: "3" });
    expect(result.current).toMatchObject({
      state: "loading",
      data: { source: "all" },
      stale: true,
    });
    finish(steps("three"));
    await settle();
    expect(result.current).toMatchObject({
      state: "ready",
      data: { source: "three" },
      stale: false,
    });
  });

  it("drops the data of another trace at once and aborts its question", async () => {
    answers.mockResolvedValueOnce(steps("first")).mockReturnValue(new Promise(() => undefined));
    const { result, rerender } = hook();
    await settle();
    rerender({ ...QUERY, run: "second" });
    expect(result.current).toMatchObject({ state: "loading", data: null });
    rerender({ ...QUERY, run: "third" });
    await settle();
    expect(answers.mock.calls[1]?.[1].signal?.aborted).toBe(true);
  });

  it("gives the server's error, and asks again on reload", async () => {
    answers
      .mockResolvedValueOnce(
        reply(409, {
          error: { code: "import_failed", message: "cut at byte 7", hint: "record again" },
        }),
      )
      .mockResolvedValue(steps("a"));
    const { result } = hook();
    await settle();
    expect(result.current).toMatchObject({
      state: "error",
      error: { code: "import_failed", message: "cut at byte 7", hint: "record again" },
    });
    void act(() => result.current.reload());
    await settle();
    expect(result.current.state).toBe("ready");
  });

  it("asks again when the file changed and was imported anew, not at every step of the import", async () => {
    answers.mockImplementation(() => Promise.resolve(steps("a")));
    hook();
    await settle();
    void act(() => runsStore.set(catalogue("importing", 20)));
    await settle();
    const during = answers.mock.calls.length;
    void act(() => runsStore.set({ ...catalogue("importing", 20) }));
    await settle();
    expect(answers).toHaveBeenCalledTimes(during);
    void act(() => runsStore.set(catalogue("ready", 20)));
    await settle();
    expect(answers).toHaveBeenCalledTimes(during + 1);
  });

  it("goes on by itself when the server was away", async () => {
    answers.mockRejectedValueOnce(new TypeError("Failed to fetch")).mockResolvedValue(steps("a"));
    const { result } = hook();
    await settle();
    expect(result.current).toMatchObject({ state: "error", error: { code: "network" } });
    await settle(5000);
    expect(result.current.state).toBe("ready");
  });

  it("says so when something else than the server answers", async () => {
    answers.mockResolvedValueOnce(
      new Response("<html>Login</html>", { status: 200, headers: { "Content-Type": "text/html" } }),
    );
    const { result } = hook();
    await settle();
    expect(result.current.error).toMatchObject({ code: "bad_answer" });
    expect(result.current.error?.message).toContain(
      "text/html instead of JSON: <html>Login</html>",
    );
  });
});
