import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  handOver,
  PATIENCE_MS,
  perfettoOrigin,
  PING_MS,
  type Browser,
  type HandoverState,
  type Received,
} from "./perfetto";

const URL_ = "https://ui.perfetto.dev";

function lab(popupOpens = true) {
  const sent: { message: unknown; origin: string; transfer: Transferable[] | undefined }[] = [];
  const popup = {
    closed: false,
    close: vi.fn(),
    postMessage: (message: unknown, origin: string, transfer?: Transferable[]) =>
      sent.push({ message, origin, transfer }),
  };
  const listeners = new Set<(m: Received) => void>();
  const timers = new Set<() => void>();
  const browser: Browser = {
    open: (url) => (opened.push(url), popupOpens ? popup : null),
    listen: (heard) => (listeners.add(heard), () => listeners.delete(heard)),
    every: (_ms, run) => (timers.add(run), () => timers.delete(run)),
  };
  const states: [HandoverState, string][] = [];
  const opened: string[] = [];
  let give!: (b: ArrayBuffer) => void;
  let refuse!: (e: unknown) => void;
  const bytes = new Promise<ArrayBuffer>(
    (resolve, reject) => ((give = resolve), (refuse = reject)),
  );
  const start = () =>
    handOver(browser, {
      url: URL_,
      title: "t",
      fileName: "f.json",
      bytes: () => bytes,
      onState: (s, r) => states.push([s, r]),
    });
  const tick = (times = 1) => {
    for (let i = 0; i < times; i++) [...timers].forEach((run) => run());
  };
  const say = (message: Partial<Received>) =>
    [...listeners].forEach((heard) =>
      heard({ source: popup, origin: URL_, data: "PONG", ...message }),
    );
  const traces = () => sent.filter((s) => s.message !== "PING");
  return {
    opened,
    sent,
    popup,
    browser,
    listeners,
    timers,
    states,
    give,
    refuse,
    start,
    tick,
    say,
    traces,
  };
}

describe("handOver", () => {
  let l: ReturnType<typeof lab>;
  beforeEach(() => {
    l = lab();
  });

  it("opens at once, asks until answered, then sends the bytes once with the documented fields", async () => {
    l.start();
    expect(l.opened).toEqual([URL_]);
    l.tick(3);
    expect(l.sent.map((s) => [s.message, s.origin])).toEqual([
      ["PING", URL_],
      ["PING", URL_],
      ["PING", URL_],
    ]);
    l.say({});
    l.tick(2);
    expect(l.sent).toHaveLength(3);
    const buffer = new ArrayBuffer(4);
    l.give(buffer);
    await Promise.resolve();
    expect(l.traces()).toEqual([
      {
        message: { perfetto: { buffer, title: "t", fileName: "f.json", localOnly: true } },
        origin: URL_,
        transfer: [buffer],
      },
    ]);
    expect(l.states.map(([s]) => s)).toEqual(["opening", "handed"]);
    l.say({});
    expect(l.traces()).toHaveLength(1);
    expect([l.listeners.size, l.timers.size]).toEqual([0, 0]);
  });

  it("waits for the page when the bytes come first", async () => {
    l.start();
    l.give(new ArrayBuffer(1));
    await Promise.resolve();
    expect(l.traces()).toHaveLength(0);
    l.say({});
    expect(l.traces()).toHaveLength(1);
  });

  it.each([
    ["another window", { source: {} }],
    ["another origin", { origin: "https://ui.perfetto.dev.evil.example" }],
    ["another word", { data: "PANG" }],
  ])("does not believe %s", async (_what, message) => {
    l.start();
    l.give(new ArrayBuffer(1));
    await Promise.resolve();
    l.say(message);
    expect(l.traces()).toHaveLength(0);
  });

  it("says that the window was blocked", () => {
    const blocked = lab(false);
    blocked.start();
    expect(blocked.states).toEqual([["blocked", ""]]);
  });

  it("gives up when nobody answers, and stops asking", () => {
    l.start();
    l.tick(PATIENCE_MS / PING_MS + 1);
    expect(l.states.at(-1)).toEqual(["no_answer", ""]);
    expect(l.timers.size).toBe(0);
  });

  it("does not give up on a page that answered while the bytes are still being fetched", () => {
    l.start();
    l.say({});
    l.tick(PATIENCE_MS / PING_MS + 10);
    expect(l.states.at(-1)![0]).toBe("opening");
  });

  it("notices that the window was closed", () => {
    l.start();
    l.popup.closed = true;
    l.tick();
    expect(l.states.at(-1)).toEqual(["closed", ""]);
  });

  it("tells why the bytes could not be had", async () => {
    l.start();
    l.refuse(new Error("HTTP 404"));
    await new Promise((done) => setTimeout(done));
    expect(l.states.at(-1)).toEqual(["failed", "HTTP 404"]);
  });

  it("sends nothing after it was cancelled", async () => {
    l.start()();
    l.say({});
    l.give(new ArrayBuffer(1));
    await Promise.resolve();
    expect(l.traces()).toHaveLength(0);
    expect(l.states.at(-1)![0]).toBe("cancelled");
  });
});

describe("perfettoOrigin", () => {
  it("is the exact origin of a self-hosted copy", () =>
    expect(perfettoOrigin("http://localhost:9001/ui/index.html")).toBe("http://localhost:9001"));
  it("refuses what is not a web address", () =>
    expect(() => perfettoOrigin("javascript:alert(1)")).toThrow());
});
