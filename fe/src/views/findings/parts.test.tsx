import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { describe, expect, it } from "vitest";
import type { Evidence, Finding } from "../../api/types.gen";
import { finding, findings, HOSTILE } from "../../testing/cases";
import {
  findingsOf,
  gainOfFirst,
  gainText,
  headingText,
  lineParts,
  nowAndThen,
  ranked,
  togetherText,
} from "./model";
import { FindingList, RankedFindings, Unsure } from "./parts";
import { serve, text } from "../../testing/page";
import { strip } from "../critical_path/fixtures";
import { prediction, whatIf } from "../critical_path/what_if_fixtures";

const links = {
  timeline: ({ worker, span, event }: Evidence): string => `#trace-${worker}-${span}-${event}`,
  verify: "torch-tb-profiler diff A B",
  whatIf: ({ change }: Finding): string => `#change-${change ?? ""}`,
  simulated: ({ change }: Finding) =>
    change ? { run: "r", worker: "w", span: "s", change } : null,
};

describe("what is said of them", () => {
  const small = finding({
    rule: "small",
    recoverable_ns: 5_000_000,
    share: 0.03,
    views: ["kernel"],
  });
  const free = finding({
    rule: "free",
    recoverable_ns: null,
    share: null,
    views: ["memory", "kernel"],
  });
  const flush = finding({
    rule: "flush",
    recoverable_ns: 90_000_000,
    share: 0.5,
    artefact: true,
    views: ["kernel"],
  });

  it("keeps those of a view, in the order in which they came", () => {
    expect(
      findingsOf(findings([flush, free, small, finding()]), "kernel").map((item) => item.rule),
    ).toEqual(["flush", "free", "small"]);
  });

  it("names what the first saves, and never a sum", () => {
    expect(gainOfFirst([finding(), flush, small, free])).toBe("−8.8 ms");
    expect(gainOfFirst([free, flush])).toBe("");
    expect(gainText(free)).toBe("");
  });

  it("says what all of them save together, theory left out", () => {
    const total = { recoverable_ns: 1, share: 0.1, low_ns: 90_000_000, high_ns: 110_000_000 };
    const payload = findings([finding()], {
      totals: [
        { ...total, certainty: "certain", step_ns: 119_000_000 },
        { ...total, certainty: "likely", step_ns: 100_000_000 },
        { ...total, certainty: "theoretical", step_ns: 10_000_000 },
      ],
    });
    expect(togetherText({ ...payload, together: "Each alone …" })).toBe(
      "All of it at once would leave about 100 ms.",
    );
    expect(togetherText(payload)).toBe("");
  });

  it("says in the heading whether the savings are of every step, and whether they overlap", () => {
    expect(headingText(findings())).toBe("saves per step, simulated");
    expect(headingText(findings([finding({ step: 3 })], { together: "Less." }))).toBe(
      "saves in each marked step, simulated; savings overlap",
    );
    expect(headingText(findings([finding()], { steps: 1 }))).toBe("saves, simulated");
    expect(headingText(findings([], { healthy: false }))).toContain("what could be checked");
  });

  it("shows a line by its file, and leaves other texts as they are", () => {
    expect(lineParts("/a/b/train.py(12): main").place).toBe("train.py:12");
    expect(lineParts("C:\\b\\train.py: main")).toEqual({ place: "train.py", name: "main" });
    expect(lineParts("aten::mm").place).toBe("aten::mm");
  });
});

it("lists what the answer says, then what recurs by what it saves, then what happened once", () => {
  const saves = (rule: string, recoverable_ns: number, step: number | null = null) =>
    finding({ rule, recoverable_ns, step });
  const given = [saves("a", 3), saves("once", 9, 4), saves("c", 1), saves("b", 5)];
  expect(ranked(given).top.map(({ rule }) => rule)).toEqual(["a", "b", "c", "once"]);
});

function openDetails(): Element {
  const details = document.querySelector("details")!;
  details.open = true;
  return details;
}

describe("a finding opened", () => {
  const open = finding({
    ...{ recoverable_ns: 30_000_000, share: 0.3, edit: "- f(x)\n+ f(x, 4)" },
    ...{ recoverable_low_ns: 10_000_000, recoverable_high_ns: 50_000_000 },
  });

  it("draws the step as it is and as simulated on one axis, the saved span hatched", () => {
    expect(nowAndThen(open)).toEqual({ now: 1e8, then: 7e7, range: "50 ms to 90 ms" });
    expect(nowAndThen({ ...open, recoverable_ns: null })).toBeNull();
    render(<FindingList findings={[open]} links={links} />);
    const bars = [...document.querySelectorAll<HTMLElement>(".now-then .fall-bar")];
    expect(bars.map(({ style }) => style.width || style.left)).toEqual(["100%", "70%", "70%"]);
    expect(bars[2]?.className).toContain("fall-gained");
    expect(text()).toContain("about 70 ms");
  });

  it("draws the lanes of both where the change can be simulated, once it is opened", async () => {
    const strips = [strip(), { ...strip(), end_ns: strip().start_ns + 70 }];
    const asked = serve({
      what_if: whatIf({ prediction: prediction({ drawn: strips, device: "GPU" }) }),
    });
    const saves = { ...open, recoverable_ns: 30 };
    render(<FindingList findings={[saves]} links={links} />);
    expect(asked).toEqual([]);
    fireEvent(openDetails(), new Event("toggle"));
    await waitFor(() => expect(screen.getByRole("group", { name: /^now: 100 ns/ })).toBeTruthy());
    expect(asked[0]?.searchParams.get("change")).toBe(open.change);
    expect(screen.getByRole("group", { name: /^then: about 70 ns/ })).toBeTruthy();
    expect(text()).toContain("Step 5, simulated");
    expect(document.querySelector(".now-then")).toBeNull();
  });

  it("keeps to bars where the change saves something else", async () => {
    const strips = [strip(), { ...strip(), end_ns: strip().start_ns + 70 }];
    const asked = serve({
      what_if: whatIf({ prediction: prediction({ drawn: strips, device: "GPU" }) }),
    });
    render(<FindingList findings={[{ ...open, recoverable_ns: 10 }]} links={links} />);
    fireEvent(openDetails(), new Event("toggle"));
    await waitFor(() => expect(asked).toHaveLength(1));
    await new Promise((done) => setTimeout(done, 50));
    expect(document.querySelector(".now-then")).toBeTruthy();
    expect(screen.queryByRole("group", { name: /^now/ })).toBeNull();
  });

  it("shows the edit of one call as a pattern, and what compares the next recording", () => {
    render(<FindingList findings={[open]} links={links} />);
    expect(document.querySelector(".edit-after")?.textContent).toBe("+ f(x, 4)");
    expect(text()).toContain("a pattern");
    expect(text()).toContain(links.verify);
  });
});

describe("FindingList", () => {
  it("shows what, how much, what to try, when not, and the line", () => {
    render(
      <FindingList
        findings={[
          finding({
            sentence: HOSTILE,
          }),
        ]}
        links={links}
      />,
    );
    for (const part of [
      "Prepare batches in worker processes",
      "num_workers=0; longest wait 8.84 ms",
      "every step",
      HOSTILE,
      "−8.8 ms",
      "15.0 % of the step",
      "●●○ likely",
      "Try: Load in worker processes",
      "But: More workers do not help workers that wait for storage.",
      "cnn.py: main",
    ])
      expect(text()).toContain(part);
    expect(document.querySelector("img")).toBeNull();
    expect(screen.getByText("What if …").getAttribute("href")).toBe("#change-dataloader-ready");
    expect(screen.getByText("On the timeline").getAttribute("href")).toBe(
      "#trace-worker0-1795224546877694723-2889",
    );
  });

  it("has only links of the web, apart from the page", () => {
    const webLinks = [
      { text: "good", url: "https://docs.pytorch.org/x" },
      { text: "bad", url: "javascript:alert(1)" },
    ];
    render(
      <FindingList
        findings={[finding({ links: webLinks, evidence: [], change: null })]}
        links={links}
      />,
    );
    expect([...document.querySelectorAll("a")].map((a) => [a.href, a.target, a.rel])).toEqual([
      ["https://docs.pytorch.org/x", "_blank", "noopener noreferrer"],
    ]);
  });

  it("draws a cell per step, and none of very many", () => {
    const steps = [0, 1, 2].map((step) => ({ step, counts: step > 0 }));
    const { rerender } = render(
      <FindingList findings={[finding({ steps: [1] })]} links={links} steps={steps} />,
    );
    const cells = () => [...document.querySelectorAll(".cells i")].map((cell) => cell.className);
    expect(cells()).toEqual(["apart", "hit", ""]);
    rerender(
      <FindingList
        findings={[finding()]}
        links={links}
        steps={Array.from({ length: 25 }, (_, step) => ({ step, counts: true }))}
      />,
    );
    expect(cells()).toEqual([]);
  });

  it("marks what is the profiler's own doing in words, and draws no bar without a share", () => {
    render(
      <FindingList
        findings={[
          finding({
            artefact: true,
            recoverable_ns: null,
            share: null,
            line: null,
            sentence: "",
            caveat: "",
            attempt: "",
            numbers: [],
          }),
        ]}
        links={links}
      />,
    );
    expect(text()).toContain("profiler");
    expect(text()).not.toContain("of the step");
    expect(document.querySelector(".finding-bar")).toBeNull();
    expect(text()).not.toMatch(/But:|Try:/);
  });
});

describe("RankedFindings", () => {
  const theory = finding({ rule: "t", certainty: "theoretical" });
  const shown = () => document.querySelectorAll(".findings:first-child > .finding").length;
  const folded = () => document.querySelectorAll(".findings-foot .finding").length;

  it("folds what only theory promises", () => {
    render(<RankedFindings findings={[theory, finding()]} links={links} />);
    expect([shown(), folded()]).toEqual([1, 1]);
  });

  it("shows the four that save most", () => {
    const five = [1, 2, 3, 4, 5].map((n) => finding({ sentence: `Number ${n}.` }));
    render(<RankedFindings findings={five} links={links} />);
    expect([shown(), folded()]).toEqual([4, 1]);
    expect(text()).toContain("1 more");
  });

  it("shows what theory promises where there is nothing firmer", () => {
    render(<RankedFindings findings={[theory]} links={links} />);
    expect([shown(), folded()]).toEqual([1, 0]);
  });
});

it("what could not be judged is counted, with its reasons", () => {
  render(<Unsure reasons={["No stacks were recorded.", "The ranks are still imported."]} />);
  expect(text()).toContain("2 checks could not be made");
  expect(text()).toContain("No stacks were recorded.");
});
