import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import type { Evidence } from "../../api/types.gen";
import { finding, findings, HOSTILE } from "../fixtures";
import { basisText, findingsOf, gainOfAll, gainText, ordered } from "./model";
import { FindingList, Unsure } from "./parts";

afterEach(cleanup);
const text = (): string => document.body.textContent;
const hrefOf = ({ worker, span, event }: Evidence): string => `#trace-${worker}-${span}-${event}`;

describe("the order and the sums", () => {
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

  it("puts the largest first, what costs no time after, and the profiler's own last", () => {
    expect(ordered([flush, free, small, finding()]).map((item) => item.rule)).toEqual([
      "input_bound",
      "small",
      "free",
      "flush",
    ]);
  });

  it("keeps those of a view", () => {
    expect(
      findingsOf(findings([flush, free, small, finding()]), "kernel").map((item) => item.rule),
    ).toEqual(["small", "free", "flush"]);
  });

  it("sums what a run without the profiler could have back", () => {
    expect(gainOfAll([finding(), small, free, flush])).toBe("up to 64.0 ms (36.1 %) of a step");
    expect(gainOfAll([free, flush])).toBe("");
    expect(gainText(free)).toBe("costs no step time");
  });

  it("says what was looked at", () => {
    expect(basisText(findings())).toBe("6 steps of 178 ms on average");
    expect(basisText(findings([], { steps: 0, step_ns: null }))).toBe("");
  });
});

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
        hrefOf={hrefOf}
      />,
    );
    for (const part of [
      "Waiting for input data",
      HOSTILE,
      "up to 59.0 ms (33.1 %) of a step",
      "Peak: 1.00 KiB",
      "Device: 3",
      "Try: More workers.",
      "Caveat: More workers may not help.",
      "train.py(12): main",
    ])
      expect(text()).toContain(part);
    expect(document.querySelector("img")).toBeNull();
    expect(document.querySelector<HTMLElement>(".meter > span")?.style.width).toBe("33.1%");
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
    render(<FindingList findings={[finding({ evidence, evidence_count: 120 })]} hrefOf={hrefOf} />);
    expect(text()).toContain("The largest 6 of 120 events on the timeline:");
    expect(
      [...document.querySelectorAll(".finding-evidence a")].map((link) =>
        link.getAttribute("href"),
      )[5],
    ).toBe("#trace-w5-s-5");
    expect(screen.getByText("2 more")).toBeTruthy();
  });

  it("has only links of the web, apart from the page", () => {
    const links = [
      { text: "good", url: "https://docs.pytorch.org/x" },
      { text: "bad", url: "javascript:alert(1)" },
    ];
    render(<FindingList findings={[finding({ links, evidence: [] })]} hrefOf={hrefOf} />);
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
        hrefOf={hrefOf}
      />,
    );
    expect(screen.getByText("profiler")).toBeTruthy();
    expect(text()).toContain("costs no step time");
    expect(document.querySelector(".meter")).toBeNull();
    expect(text()).not.toMatch(/Caveat:|Try:/);
  });
});

it("what could not be judged is counted, with its reasons", () => {
  render(<Unsure reasons={["No stacks were recorded.", "The ranks are still imported."]} />);
  expect(text()).toContain("2 checks could not be made");
  expect(text()).toContain("No stacks were recorded.");
});
