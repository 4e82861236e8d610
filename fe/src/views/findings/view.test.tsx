import { cleanup, render, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ALL_STEPS } from "../../state/view";
import { finding, findings } from "../../testing/cases";
import { Findings, FindingsStrip } from "./view";
import { serve, text } from "../../testing/page";

let answer: unknown;
let asked: URL[];
beforeEach(() => {
  asked = serve({ findings: () => answer });
});
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
    reload: () => undefined,
  } as const;
  const list = (data: ReturnType<typeof findings>): void => {
    render(
      <Findings
        resource={{ ...resource, data }}
        selection={{ run: "r", worker: "w", span: "s" }}
        hrefOf={hrefOf}
        steps={[]}
      />,
    );
  };

  it("calls nothing healthy that could not be judged", () => {
    list(findings([], { healthy: false, unsure: ["Only the device was recorded."] }));
    expect(text()).toContain("no cause in what could be checked");
    expect(text()).toContain("1 check could not be made");
    cleanup();
    list(findings([]));
    expect(text()).toContain("What to changeno known cause costs 2 % or more");
    cleanup();
    list(findings([], { step_ns: null }));
    expect(text()).toBe("");
  });

  it("folds nothing away where there is no step to save time of", () => {
    list(findings([finding({ recoverable_ns: null })], { step_ns: null }));
    expect(text()).not.toContain("nothing was found");
    expect(document.querySelectorAll(".findings-foot details")).toHaveLength(0);
    expect(document.querySelectorAll("details")).toHaveLength(1);
  });

  it("predicts of the step that the saving is of", () => {
    list(findings([finding({ step: 4 })]));
    expect(hrefOf).toHaveBeenCalledWith(
      "critical_path",
      { what_if: "dataloader-ready" },
      undefined,
      {
        first: 4,
        last: 4,
        skipCold: false,
      },
    );
  });
});

describe("FindingsStrip", () => {
  it("is a line that opens when there is something", async () => {
    answer = findings([
      finding({
        views: ["kernel"],
        evidence: [{ label: "a", worker: "w9", span: "s9", event: 4, start_ns: 0, dur_ns: 1 }],
      }),
      finding({ rule: "b", action: "Not here" }),
    ]);
    strip();
    await waitFor(() => expect(screen.getByText("1 finding")).toBeTruthy());
    expect(document.querySelector(".findings-strip[open]")).toBeNull();
    expect(document.querySelector("summary")?.textContent).toContain(
      "Prepare batches in worker processes−8.8 ms",
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
        action: "Make it faster",
        sentence: `It is rank ${rank}.`,
        views: ["kernel"],
      });
    answer = findings([late(2), late(5)]);
    strip();
    await waitFor(() => expect(screen.getByText("2 findings")).toBeTruthy());
    expect(document.querySelector(".findings-titles")?.textContent).toBe("Make it faster");
    for (const rank of [2, 5]) expect(text()).toContain(`It is rank ${rank}.`);
  });

  it("is nothing where nothing concerns the view", async () => {
    answer = findings();
    strip();
    await waitFor(() => expect(asked).toHaveLength(1));
    expect(text()).toBe("");
  });

  it("says why there is none", async () => {
    answer = { error: { code: "import_failed", message: "It broke.", hint: "" } };
    strip();
    await waitFor(() => expect(text()).toContain("The findings could not be loaded: It broke."));
  });
});
