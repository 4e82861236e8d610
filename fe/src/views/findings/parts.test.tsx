import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import type { Evidence } from "../../api/types.gen";
import { finding, findings, HOSTILE } from "../fixtures";
import { basisText, findingsOf, gainOfFirst, gainText, togetherText } from "./model";
import { FindingList, RankedFindings, Unsure } from "./parts";

afterEach(cleanup);
const text = (): string => document.body.textContent;
const links = {
  timeline: ({ worker, span, event }: Evidence): string => `#trace-${worker}-${span}-${event}`,
  whatIf: (change: string): string => `#change-${change}`,
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
    expect(gainOfFirst([finding(), flush, small, free])).toBe("−59.0 ms (33.1 % of a step)");
    expect(gainOfFirst([free, flush])).toBe("");
    expect(gainText(free)).toBe("costs no step time");
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
    expect(togetherText(payload)).toBe(
      "simulated; all together: 178 ms → 100 ms (90.0 ms to 110 ms)",
    );
    expect(togetherText(findings())).toBe("");
  });

  it("says what was looked at", () => {
    expect(basisText(findings())).toBe("6 steps of 178 ms on average");
    expect(basisText(findings([], { steps: 0, mean_ns: null }))).toBe("");
  });
});

const open = (): void => {
  for (const button of screen.getAllByRole("button", { name: "what to try" }))
    fireEvent.click(button);
};

describe("FindingList", () => {
  it("shows what, how much, the numbers in their units, what to try, when not, and the line", () => {
    render(
      <FindingList
        findings={[
          finding({
            sentence: HOSTILE,
            numbers: [
              { label: "Peak", value: 1024, unit: "bytes" },
              { label: "Device", value: 3, unit: "" },
            ],
          }),
        ]}
        links={links}
      />,
    );
    open();
    for (const part of [
      "Waiting for input data",
      HOSTILE,
      "−59.0 ms",
      "33.1 % of a step",
      "certain",
      "Peak: 1.00 KiB",
      "Device: 3",
      "Try: More workers.",
      "Caveat: More workers may not help.",
      "train.py(12): main",
    ])
      expect(text()).toContain(part);
    expect(document.querySelector("img")).toBeNull();
    expect(screen.getByText("what-if").getAttribute("href")).toBe("#change-dataloader-ready");
    expect(screen.getByText("timeline").getAttribute("href")).toBe("#trace-w-s-7");
  });

  it("leads from the evidence to the timeline of its worker, and says how much of it is shown", () => {
    const evidence = Array.from({ length: 6 }, (_, i) => ({
      label: `copy ${i}`,
      worker: `w${i}`,
      span: "s",
      event: i,
      start_ns: 0,
      dur_ns: 1000,
    }));
    render(<FindingList findings={[finding({ evidence, evidence_count: 120 })]} links={links} />);
    open();
    expect(text()).toContain("The largest 6 of 120 events on the timeline:");
    expect(
      [...document.querySelectorAll(".finding-evidence a")].map((link) =>
        link.getAttribute("href"),
      )[5],
    ).toBe("#trace-w5-s-5");
    expect(screen.getByText("2 more")).toBeTruthy();
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
    open();
    expect([...document.querySelectorAll("a")].map((a) => [a.href, a.target, a.rel])).toEqual([
      ["https://docs.pytorch.org/x", "_blank", "noopener noreferrer"],
    ]);
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
            caveat: "",
            attempt: "",
            numbers: [],
          }),
        ]}
        links={links}
      />,
    );
    open();
    expect(screen.getByText("profiler")).toBeTruthy();
    expect(text()).toContain("costs no step time");
    expect(text()).not.toContain("of a step");
    expect(text()).not.toMatch(/Caveat:|Try:/);
  });
});

describe("RankedFindings", () => {
  const theory = finding({ rule: "t", title: "Pauses", certainty: "theoretical" });
  const shown = () => document.querySelectorAll(".findings:first-child > .finding").length;
  const folded = () => document.querySelectorAll(".findings-rest .finding").length;

  it("folds what only theory promises", () => {
    render(<RankedFindings findings={[theory, finding()]} links={links} />);
    expect(
      screen.getByText("1 more, theoretical: Pauses, −59.0 ms (33.1 % of a step)"),
    ).toBeTruthy();
    expect([shown(), folded()]).toEqual([1, 1]);
  });

  it("shows the three that save most", () => {
    const five = [1, 2, 3, 4, 5].map((n) => finding({ sentence: `Number ${n}.` }));
    render(<RankedFindings findings={five} links={links} />);
    expect([shown(), folded()]).toEqual([3, 2]);
    expect(text()).toContain("2 more: Waiting for input data");
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
