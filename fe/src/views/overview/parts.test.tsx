import { act, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import type { DefectItem } from "../../api/types.gen";
import { device, findings, GPU_WORDS, HOSTILE, overview, step, stepsOf } from "../../testing/cases";
import { viewProps, text } from "../../testing/page";
import { Notes } from "../loaded";
import { Answer } from "./answer";
import { Health, healthText } from "./foot";
import { AverageTable, Devices, stepBars, StepChart } from "./parts";
import { rowsOf } from "../rows";

const { hrefOf } = viewProps({}, { setParam: () => undefined, setSteps: () => undefined });

describe("Answer", () => {
  it("leads with the answer of the findings, and what it is about", () => {
    render(<Answer payload={overview()} told={findings()} hrefOf={hrefOf} />);
    const headline = document.querySelector(".headline-first");
    expect([headline?.textContent, headline?.className]).toEqual([
      findings().headline,
      "headline-first",
    ]);
    expect(text()).not.toContain("first look");
    expect(document.querySelector(".headline-detail")?.textContent).toBe(findings().detail);
    expect(text()).toContain("Step 4, the median of 4 · training · CPU only");
    expect(screen.getByText("cnn.py:24").title).toBe("cnn.py(24): __getitem__");
  });

  it("leads with a first look, marked, while findings are looked for or ranks are read", () => {
    const { rerender } = render(<Answer told={null} payload={overview()} hrefOf={hrefOf} />);
    const headline = (): unknown => {
      const found = document.querySelector(".headline-first.muted");
      return [found?.textContent, screen.getAllByText("first look").length];
    };
    expect(headline()).toEqual([overview().first_look, 1]);
    expect(text()).toContain(
      "Why, and what to change, is known when all of it is read. Ready: Operators, Kernels",
    );
    rerender(
      <Answer
        told={findings([], { progress: 0.4 })}
        payload={overview()}
        rank="rank 0"
        hrefOf={hrefOf}
      />,
    );
    // What part of the ranks says may be taken back.
    expect(headline()).toEqual([overview().first_look.replace(/\.$/, " on rank 0."), 1]);
    expect(text()).not.toContain(findings().headline);
    rerender(<Answer told={null} payload={overview({ first_look: "" })} hrefOf={hrefOf} />);
    expect(document.querySelector(".headline-first")?.textContent).toContain("Looking for");
  });

  it("offers the rank that is read as its own subject once the others take long", () => {
    vi.useFakeTimers();
    const told = findings([], { progress: 0.4 });
    render(<Answer told={told} payload={overview()} rank="rank 0" hrefOf={hrefOf} />);
    expect(screen.queryByText("rank 0 alone")).toBeNull();
    void act(() => void vi.advanceTimersByTime(31_000));
    const link = screen.getByText("rank 0 alone");
    expect(link.getAttribute("href")).toBe("#overview?ranks=own&all=");
    vi.useRealTimers();
  });

  it("says that a part is lost, also without findings, and draws names as text", () => {
    const headline = [{ key: "loss", text: HOSTILE, tone: "attention" }] as const;
    render(<Answer payload={overview({ headline: [...headline] })} told="" hrefOf={hrefOf} />);
    expect(document.querySelector(".headline-first")).toBeNull();
    expect(text()).toContain(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("one accelerator", () => {
  it("shows the four figures", () => {
    render(<Devices devices={[device()]} words={GPU_WORDS} />);
    for (const share of ["80.8 %", "67.9 %", "20.3 %", "44.9 %"]) expect(text()).toContain(share);
  });

  it("writes unknown with the reasons, and no 0, when nothing is known", () => {
    const unknown = ["Utilization: no step time.", "Achieved occupancy: not in the trace."];
    const nothing = {
      utilization: null,
      sm_efficiency: null,
      occupancy: null,
      matrix_core_share: null,
      unknown,
    };
    render(<Devices devices={[device(nothing)]} words={GPU_WORDS} />);
    expect(screen.getAllByText("unknown")).toHaveLength(4);
    for (const reason of unknown) expect(text()).toContain(reason);
    expect(text()).not.toMatch(/\b0(\.0)? %/);
    expect(document.querySelector(".meter span")).toBeNull();
  });

  it("keeps a real 0 apart from unknown", () => {
    render(<Devices devices={[device({ matrix_core_share: 0 })]} words={GPU_WORDS} />);
    expect(text()).toContain("0 %");
    expect(screen.queryByText("unknown")).toBeNull();
  });

  it("uses the vendor's words", () => {
    render(
      <Devices
        devices={[device()]}
        words={{ device: "NPU", multiprocessor: "AI core", matrix_cores: "Cube units" }}
      />,
    );
    expect(text()).toContain("Cube units time");
    expect(document.querySelector("thead")?.textContent).not.toContain("SM");
  });
});

describe("Devices", () => {
  it("says only once what the figures of eight accelerators cannot tell", () => {
    render(
      <Devices
        devices={Array.from({ length: 8 }, (_, id) => device({ id, details: HOSTILE }))}
        words={GPU_WORDS}
      />,
    );
    expect(document.querySelectorAll("tbody tr")).toHaveLength(8);
    expect(text()).toContain(HOSTILE);
    expect(document.querySelector("img")).toBeNull();
  });

  it("says once why a figure is unknown, and for which accelerators", () => {
    const unknown = ["Achieved occupancy: not in the trace."];
    render(
      <Devices
        devices={[
          device(),
          device({ id: 2, title: "GPU 2", occupancy: null, unknown }),
          device({ id: 5, title: "GPU 5", occupancy: null, unknown }),
        ]}
        words={GPU_WORDS}
      />,
    );
    expect(text()).toContain("GPU 2, GPU 5: Achieved occupancy: not in the trace.");
    expect(screen.getAllByText("unknown")).toHaveLength(2);
  });
});

describe("stepBars", () => {
  it("marks odd steps with the reason, and fades what is not selected", () => {
    const bars = stepBars([
      step(0),
      step(1, { odd: true, odd_reason: "12 ms more DataLoader time" }),
      step(2, { selected: false }),
    ]);
    expect(bars.map(({ mark, faded }) => [mark, faded])).toEqual([
      ["", false],
      ["odd: 12 ms more DataLoader time", false],
      ["", true],
    ]);
  });

  it("adds up to the wall time for every step", () => {
    const { steps } = overview();
    expect(stepBars(rowsOf(steps)).map(({ values }) => values.reduce((a, b) => a + b, 0))).toEqual(
      steps.wall_ns,
    );
  });
});

describe("StepChart", () => {
  it("stands steps without a name, without time, and hundreds of them", () => {
    const steps = stepsOf(
      Array.from({ length: 300 }, (_, i) => step(i, { name: i ? HOSTILE : "" })),
    );
    render(
      <StepChart payload={overview({ steps })} chosen={3} onChoose={() => undefined}>
        {""}
      </StepChart>,
    );
    expect(document.querySelector("img")).toBeNull();
    expect(document.querySelectorAll(".stack-bar")).toHaveLength(300);
  });
});

describe("AverageTable", () => {
  it("shows the categories, their shares, and the whole", () => {
    const payload = overview();
    if (!payload.average) throw new Error("no average");
    render(<AverageTable average={payload.average} />);
    const rows = [...document.querySelectorAll("tbody tr")].map((row) => row.textContent);
    expect(rows).toHaveLength(8);
    expect(rows[0]).toBe("Kernel7.64 ms65.7 %");
    expect(document.querySelector("tfoot")?.textContent).toBe("Average step11.6 ms100 %");
    const share = payload.average.categories_ns.kernel! / payload.average.wall_ns;
    expect(document.querySelector(".share-bar")?.getAttribute("style")).toContain(`* ${share}`);
  });

  it("shows a dash, not 0, for what was not recorded, and the exact sum all the same", () => {
    const host = {
      kernel: null,
      memcpy: null,
      memset: null,
      communication: 0,
      runtime: null,
      dataloader: 20,
      cpu_exec: 70,
      other: 10,
    };
    render(<AverageTable average={{ steps: 1, wall_ns: 100, categories_ns: host }} />);
    const rows = [...document.querySelectorAll("tbody tr")].map((row) => row.textContent);
    expect(rows[0]).toBe("Kernel––");
    expect(rows.at(-1)).toBe("1 more0 ns0 %");
    expect(document.querySelector("tfoot")?.textContent).toBe("Step100 ns100 %");
  });

  it("has no share where there is no time", () => {
    const zero = {
      kernel: 0,
      memcpy: 0,
      memset: 0,
      communication: 0,
      runtime: 0,
      dataloader: 0,
      cpu_exec: 0,
      other: 0,
    };
    render(<AverageTable average={{ steps: 1, wall_ns: 0, categories_ns: zero }} />);
    expect(text()).not.toContain("%");
    expect(text()).not.toContain("NaN");
  });
});

const defect = (over: Partial<DefectItem>): DefectItem => ({
  name: "truncated_file",
  severity: "data_loss",
  sentence: "The file ends in the middle.",
  count: 1,
  touched_ns: null,
  touched_share: null,
  doubtful: [],
  ...over,
});

describe("Health", () => {
  it("shows count, step time touched and what to doubt", () => {
    const items = [
      defect({
        touched_ns: 5_000_000,
        touched_share: 0.02,
        count: 12,
        doubtful: ["all totals", "utilization"],
      }),
      defect({ name: "a", severity: "error", touched_ns: 0, touched_share: 0 }),
      defect({ name: "b", severity: "of another version", sentence: HOSTILE }),
    ];
    render(<Health items={items} />);
    expect(text()).toContain("12×");
    expect(text()).toContain(
      "Touches 5.00 ms (2.0 %) of step time. Doubtful: all totals, utilization.",
    );
    expect(text()).toContain("Touches no step time.");
    expect(text()).toContain("of another version");
    expect(document.querySelector("img")).toBeNull();
    expect(healthText(items)).toBe("1 error, 1 data loss");
    expect(healthText([])).toBe("sound");
  });

  it("claims nothing about time where a defect is not located", () => {
    render(<Health items={[defect({})]} />);
    expect(document.querySelector(".defect-more")?.textContent).toBe("");
  });
});

it("Notes draws nothing for no note and text for a hostile one", () => {
  const { container } = render(<Notes notes={[]} />);
  expect(container.innerHTML).toBe("");
  render(<Notes notes={[HOSTILE]} />);
  expect(document.querySelector("img")).toBeNull();
});
