import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunsPayload } from "../api/types.gen";
import { besideOf, complete, find, POLL, pollRuns, runsStore } from "./runs";
import { run, runsOf, span, worker } from "../testing/runs";

const PAYLOAD = runsOf([
  run("a", [worker("w0", null, [span("1", "failed"), span("2")]), worker("w1", null, [span("9")])]),
  run("b", [worker("w0", null, [span("1", "failed")])]),
]);

describe("besideOf", () => {
  const jobs = [0, 0, 1, -1].map((job, i) => worker(`w${i}`, null, [span("1")], { job }));
  const payload = { ...PAYLOAD, runs: [{ ...PAYLOAD.runs[0]!, workers: jobs }] };
  const names = (chosen: string) =>
    besideOf(payload, { run: "a", worker: chosen, span: "1" }).map(({ name }) => name);

  it("is the job, and whoever may belong to it", () => {
    expect(names("w0")).toEqual(["w0", "w1", "w3"]);
    expect(names("w2")).toEqual(["w2", "w3"]);
    expect(names("w3")).toEqual(["w0", "w1", "w2", "w3"]);
    expect(names("gone")).toEqual([]);
  });
});

describe("complete", () => {
  it("opens on what can be read, and keeps what was asked for", () => {
    const [first, second] = PAYLOAD.runs;
    const broken = worker("w0", null, [span("1", "failed")]);
    const runs = [second!, { ...first!, workers: [broken, worker("w1", null, [span("9")])] }];
    const payload = { ...PAYLOAD, runs };
    const readable = { run: "a", worker: "w1", span: "9" };
    expect(complete(payload, { run: "", worker: "", span: "" })).toEqual(readable);
    expect(complete(payload, { ...readable, worker: "w0", span: "" })).toEqual({
      ...readable,
      worker: "w0",
      span: "1",
    });
    expect(complete(payload, { run: "b", worker: "", span: "" }).run).toBe("b");
  });

  it("takes the first run and its first span that is no failure", () => {
    expect(complete(PAYLOAD, { run: "", worker: "", span: "" })).toEqual({
      run: "a",
      worker: "w0",
      span: "2",
    });
  });
  it("takes a failed span where there is no other", () =>
    expect(complete(PAYLOAD, { run: "b", worker: "", span: "" }).span).toBe("1"));
  it("fills a link that names only run and worker", () =>
    expect(complete(PAYLOAD, { run: "a", worker: "w1", span: "" }).span).toBe("9"));
  it("does not jump elsewhere when a name is gone", () => {
    for (const gone of [
      { run: "gone", worker: "w0", span: "1" },
      { run: "a", worker: "gone", span: "1" },
      { run: "a", worker: "w0", span: "gone" },
    ]) {
      expect(complete(PAYLOAD, gone)).toEqual(gone);
      expect(find(PAYLOAD, gone).span).toBeNull();
    }
  });
  it("waits for the first answer", () =>
    expect(complete(null, { run: "x", worker: "", span: "" })).toEqual({
      run: "x",
      worker: "",
      span: "",
    }));
});

describe("pollRuns", () => {
  const answers = vi.fn<() => Promise<Response>>();
  let end: () => void = () => undefined;
  const answer = (payload: RunsPayload): void =>
    void answers.mockImplementation(() => Promise.resolve(new Response(JSON.stringify(payload))));
  beforeEach(() => {
    vi.useFakeTimers();
    runsStore.set({ payload: null, error: null });
    vi.stubGlobal("fetch", answers.mockReset());
  });
  afterEach(() => {
    end();
    vi.useRealTimers();
  });

  it("asks every few seconds, and keeps the payload while nothing changes", async () => {
    answer(PAYLOAD);
    end = pollRuns();
    await vi.advanceTimersByTimeAsync(0);
    const first = runsStore.get();
    expect(first.payload?.version).toBe("1");
    await vi.advanceTimersByTimeAsync(POLL.quiet * 2 + 10);
    expect(answers).toHaveBeenCalledTimes(3);
    expect(runsStore.get()).toBe(first);
  });

  it("asks more often while something is imported and seldom while the page is hidden", async () => {
    answer({
      ...PAYLOAD,
      runs: [
        {
          name: "a",
          synthetic: false,
          kind: "",
          recorded: null,
          workers: [worker("w", null, [span("1", "importing")])],
        },
      ],
    });
    end = pollRuns();
    await vi.advanceTimersByTimeAsync(POLL.busy * 2 + 10);
    expect(answers).toHaveBeenCalledTimes(3);
    vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    await vi.advanceTimersByTimeAsync(POLL.busy);
    const before = answers.mock.calls.length;
    await vi.advanceTimersByTimeAsync(POLL.hidden - 100);
    expect(answers).toHaveBeenCalledTimes(before);
  });

  it("keeps what it knows when the server is away, says so, and goes on", async () => {
    answer(PAYLOAD);
    end = pollRuns();
    await vi.advanceTimersByTimeAsync(0);
    answers.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    await vi.advanceTimersByTimeAsync(POLL.quiet);
    expect(runsStore.get()).toMatchObject({
      payload: { version: "1" },
      error: { code: "network" },
    });
    await vi.advanceTimersByTimeAsync(POLL.quiet);
    expect(runsStore.get().error).toBeNull();
  });

  it("asks at once when TensorBoard says that it reloaded", async () => {
    const offered: MessagePort[] = [];
    const parent = {
      postMessage: (text: string, _: string, ports: MessagePort[]) =>
        text === "experimental.bootstrap" && offered.push(...ports),
    };
    vi.spyOn(window, "parent", "get").mockReturnValue(parent as unknown as Window);
    answer(PAYLOAD);
    end = pollRuns();
    await vi.advanceTimersByTimeAsync(0);
    const before = answers.mock.calls.length;
    const port = offered[0]!;
    vi.useRealTimers();
    const replied = new Promise<string>(
      (resolve) => (port.onmessage = (event: MessageEvent<string>) => resolve(event.data)),
    );
    port.postMessage(
      JSON.stringify({
        type: "experimental.DataReloaded",
        id: 5,
        payload: {},
        error: null,
        isReply: false,
      }),
    );
    expect(JSON.parse(await replied)).toMatchObject({
      type: "experimental.DataReloaded",
      id: 5,
      isReply: true,
    });
    expect(answers.mock.calls.length).toBe(before + 1);
    port.close();
  });
});
