import { cleanup, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ALL_STEPS } from "../../state/view";
import { finding, findings } from "../fixtures";
import { Findings, FindingsStrip } from "./view";

let answer: unknown;
beforeEach(() =>
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(answer)))),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const text = (): string => document.body.textContent;
const hrefOf = vi.fn(() => "#there");
const strip = (): void => {
  render(
    <FindingsStrip
      view="kernel"
      steps={ALL_STEPS}
      selection={{ run: "r", worker: "w", span: "s" }}
      hrefOf={hrefOf}
    />,
  );
};

describe("Findings", () => {
  const resource = {
    state: "ready",
    stale: false,
    error: null,
    progress: null,
    message: "",
    reload: () => undefined,
  } as const;
  const list = (data: ReturnType<typeof findings>): void => {
    render(
      <Findings
        resource={{ ...resource, data }}
        selection={{ run: "r", worker: "w", span: "s" }}
        hrefOf={hrefOf}
      />,
    );
  };

  it("calls nothing healthy that could not be judged", () => {
    list(findings([], { healthy: false, unsure: ["Only the device was recorded."] }));
    expect(text()).toContain("No findings in what could be checked.");
    expect(text()).toContain("1 check could not be made");
    cleanup();
    list(findings([]));
    expect(text()).toContain("No finding costs 2 % of a step or more.");
  });
});

describe("FindingsStrip", () => {
  it("is a line while it waits, and one that opens when there is something", async () => {
    answer = findings([
      finding({
        views: ["kernel"],
        evidence: [{ label: "a", worker: "w9", span: "s9", event: 4, start_ns: 0, dur_ns: 1 }],
      }),
      finding({ rule: "b", title: "Not here" }),
    ]);
    strip();
    expect(document.querySelector(".findings-strip[aria-busy=true]")).toBeTruthy();
    await waitFor(() => expect(screen.getByText("1 finding")).toBeTruthy());
    expect(document.querySelector(".findings-strip[open]")).toBeNull();
    expect(document.querySelector("summary")?.textContent).toContain(
      "Waiting for input data−59.0 ms (33.1 % of a step)",
    );
    expect(text()).not.toContain("Not here");
    expect(hrefOf).toHaveBeenCalledWith(
      "trace",
      { sel: "4" },
      { run: "r", worker: "w9", span: "s9" },
    );
  });

  it("names what several ranks do once, and lists all of it", async () => {
    const late = (rank: number): ReturnType<typeof finding> =>
      finding({
        rule: "straggler",
        title: "Another rank keeps this one waiting",
        sentence: `It is rank ${rank}.`,
        views: ["kernel"],
      });
    answer = findings([late(2), late(5)]);
    strip();
    await waitFor(() => expect(screen.getByText("2 findings")).toBeTruthy());
    expect(document.querySelector(".findings-titles")?.textContent).toBe(
      "Another rank keeps this one waiting",
    );
    expect(
      [...document.querySelectorAll(".finding-head > div > p")].map((line) => line.textContent),
    ).toEqual(["It is rank 2.", "It is rank 5."]);
  });

  it("says so when nothing concerns the view", async () => {
    answer = findings();
    strip();
    await waitFor(() => expect(text()).toContain("No findings for this view."));
  });

  it("says why there is none", async () => {
    answer = { error: { code: "import_failed", message: "It broke.", hint: "" } };
    strip();
    await waitFor(() => expect(text()).toContain("The findings could not be loaded: It broke."));
    expect(document.querySelector("[aria-busy=true]")).toBeNull();
  });
});
