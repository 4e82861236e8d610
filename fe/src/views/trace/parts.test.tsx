import { render, screen } from "@testing-library/preact";
import { describe, expect, it } from "vitest";
import { HOSTILE, step } from "../../testing/cases";
import { GPU, reply } from "../../testing/replies";
import {
  Handover,
  IDLE,
  OpenPanel,
  PartPicker,
  TraceFacts,
  type HandoverStatus,
  type PartPickerProps,
} from "./parts";
import { text } from "../../testing/page";

const none = (): void => undefined;

describe("TraceFacts", () => {
  it("scales units and knows when the recording began", () => {
    render(<TraceFacts payload={reply("trace", GPU, { origin_ns: "1623143568000000000" })} />);
    for (const part of ["183 KiB", "88.2 ms", "2021-06-08 09:12:48.000 UTC"])
      expect(text()).toContain(part);
  });
  it("claims no wall clock that it does not know, and draws a hostile file name as text", () => {
    render(<TraceFacts payload={reply("trace", GPU, { origin_ns: "12345", file: HOSTILE })} />);
    expect(text()).not.toContain("UTC");
    expect(text()).toContain(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
  });
});

const picker = (over: Partial<PartPickerProps>): PartPickerProps => ({
  mode: "whole",
  onMode: none,
  steps: [step(0), step(1), step(2)],
  from: "",
  to: "",
  onFrom: none,
  onTo: none,
  spanNs: 1_000_000_000,
  window: null,
  problem: "",
  ...over,
});

describe("PartPicker", () => {
  it("says what the part is", () => {
    render(
      <PartPicker {...picker({ mode: "steps", window: { t0: 100_000_000, t1: 300_000_000 } })} />,
    );
    expect(text()).toContain("200 ms, from 100 ms to 300 ms after the first event.");
  });
  it("shows a problem where the summary stands", () => {
    render(
      <PartPicker {...picker({ mode: "window", problem: "The range ends before it begins." })} />,
    );
    expect(screen.getByRole("alert").textContent).toContain("ends before it begins");
    expect(screen.getByLabelText("From").getAttribute("aria-invalid")).toBe("true");
  });
});

describe("OpenPanel", () => {
  const panel = (over: Partial<Parameters<typeof OpenPanel>[0]> = {}): void => {
    render(
      <OpenPanel
        perfettoUrl="https://ui.perfetto.dev"
        fileHref="trace/file?run=a"
        whole
        status={IDLE}
        onOpen={none}
        onCancel={none}
        {...over}
      />,
    );
  };
  it("says that it is another site and that nothing is uploaded", () => {
    panel();
    expect(text()).toContain("another site (ui.perfetto.dev)");
    expect(text()).toContain("not uploaded");
    expect(screen.getByText("Download the file").closest("a")?.getAttribute("href")).toBe(
      "trace/file?run=a",
    );
  });
  it("opens nothing and downloads nothing without a valid part", () => {
    panel({ fileHref: null });
    expect(screen.getByText("Open in Perfetto").closest("button")?.disabled).toBe(true);
    expect(screen.queryByText(/Download/)).toBeNull();
  });
  it("does not open an address that is not of the web", () => {
    panel({ perfettoUrl: "javascript:alert(1)" });
    expect(screen.getByText("Open in Perfetto").closest("button")?.disabled).toBe(true);
  });
});

describe("Handover", () => {
  const shown = (over: Partial<HandoverStatus>): string => {
    render(<Handover status={{ ...IDLE, ...over }} onCancel={none} />);
    return text();
  };
  it("shows bytes of bytes", () =>
    expect(shown({ state: "opening", progress: { received: 512, total: 2048 } })).toContain(
      "512 B of 2.00 KiB",
    ));
  it("shows bytes alone where the total is not known", () => {
    expect(shown({ state: "opening", progress: { received: 512, total: null } })).toContain(
      "512 B",
    );
  });
  it.each([
    ["blocked", "Allow pop-ups"],
    ["no_answer", "did not answer"],
    ["closed", "was closed"],
    ["handed", "open in Perfetto"],
    ["failed", "could not be fetched"],
  ] as const)("%s is said in words", (state, words) => expect(shown({ state })).toContain(words));
  it("passes on why it failed, as text", () => {
    expect(shown({ state: "failed", reason: HOSTILE })).toContain(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
  });
});
