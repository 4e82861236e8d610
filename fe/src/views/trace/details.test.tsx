import { fireEvent, render, screen } from "@testing-library/preact";
import { describe, expect, it, vi } from "vitest";
import { HOSTILE } from "../../testing/cases";
import { areaColumns, AreaTable, Overlap } from "./area";
import { arrowsOfEvent } from "./arrows";
import { Details, ordinal, rankText, Summary } from "./details";
import { eventText } from "./details";
import { event, group, ref, siblings } from "./fixtures";
import { HelpDialog } from "./view";
import { Splitter } from "../../widgets";
import { text } from "../../testing/page";

const none = (): null => null;

describe("Details", () => {
  it("shows the way from the operator to the device, each a click", () => {
    const go = vi.fn();
    render(<Details on="GPU 0" payload={event(7)} go={go} allArguments={none} links={null} />);
    const chain = [...document.querySelectorAll(".chain li")].map((item) => item.textContent);
    expect(chain.map((line) => line.replace(/\d.*/, ""))).toEqual([
      "Operatoraten::mm",
      "LaunchcudaLaunchKernel",
      "Deviceevent ",
    ]);
    fireEvent.click(screen.getByText("cudaLaunchKernel"));
    expect(go).toHaveBeenCalledWith(expect.objectContaining({ event: 2 }));
    expect(document.querySelectorAll("[aria-current]")).toHaveLength(1);
  });

  it("cuts a long path at its begin, not at its line and function", () => {
    const name = "package/models/net.py(31): forward";
    const line = { kind: "python" as const, ref: { ...ref(1), name } };
    const chain = [line, ...event(7).chain];
    render(
      <Details
        on="GPU 0"
        payload={event(7, { chain })}
        go={none}
        allArguments={none}
        links={null}
      />,
    );
    expect(screen.getByText("package/models/").closest(".ref-folders")).not.toBeNull();
    expect(screen.getByText("net.py(31): forward").className).toBe("ref-line");
    expect(screen.getByTitle(name).querySelector(".ref-name")?.textContent).toBe(name);
  });

  it("says the exact time on hover, and what is not known not at all", () => {
    render(
      <Details
        on="GPU 0"
        payload={event(7, { launch_delay_ns: null, step: null })}
        go={none}
        allArguments={none}
        links={null}
      />,
    );
    expect(document.querySelector("dd[title]")?.getAttribute("title")).toMatch(/^7.000 ns$/);
    for (const absent of ["Launch delay", "Step"]) expect(text()).not.toContain(absent);
    expect(text()).toContain("Queue time");
  });

  it("says that an event overlaps another", () => {
    render(
      <Details
        on="GPU 0"
        payload={event(7, { overlapping: true })}
        go={none}
        allArguments={none}
        links={null}
      />,
    );
    expect(text()).toContain("Overlaps another event of its track");
  });

  it("leads to the others of its name", () => {
    const go = vi.fn();
    render(<Details on="GPU 0" payload={event(7)} go={go} allArguments={none} links={null} />);
    expect(text()).toContain("162 calls; this one is the 3rd slowest.");
    fireEvent.click(screen.getByRole("button", { name: "Slowest" }));
    expect(go).toHaveBeenCalledWith(ref(8));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Next" }).disabled).toBe(true);
  });

  it("lists the longest of what was launched first, all on demand", () => {
    const launched = Array.from({ length: 8 }, (_, i) => ref(20 + i));
    render(
      <Details
        on="GPU 0"
        payload={event(7, { launched, launched_total: 90, launched_ns: 9000 })}
        go={none}
        allArguments={none}
        links={null}
      />,
    );
    expect(screen.queryByText("event 27")).toBeNull();
    fireEvent.click(screen.getByText("3 more"));
    expect(screen.getByText("event 27")).toBeTruthy();
    expect(text()).toContain("The longest 8 of 90.");
  });

  it("reads all arguments only when asked", () => {
    const all = vi.fn(() => <p>everything</p>);
    render(<Details on="GPU 0" payload={event(7)} go={none} allArguments={all} links={null} />);
    expect(text()).toContain("[1, 1, 1]");
    expect(all).not.toHaveBeenCalled();
    fireEvent.click(screen.getByText(/^Show all arguments/));
    expect(text()).toContain("everything");
  });
});

it.each([
  [1, "1st"],
  [2, "2nd"],
  [3, "3rd"],
  [4, "4th"],
  [11, "11th"],
  [112, "112th"],
  [121, "121st"],
])("%d is the %s", (n, words) => expect(ordinal(n)).toBe(words));

it("rankText names the ends", () => {
  expect(rankText(siblings({ calls: 1, rank: 1 }))).toBe("The only call of this name.");
  expect(rankText(siblings({ calls: 5, rank: 1 }))).toContain("slowest");
  expect(rankText(siblings({ calls: 5, rank: 5 }))).toContain("fastest");
});

it("eventText is plain and exact", () => {
  const lines = eventText(event(7, { stack: ["net.py(3): forward"] })).split("\n");
  expect(lines[0]).toBe("event 7");
  expect(lines).toContain("duration: 100 ns (100 ns)");
  expect(lines).toContain("  operator: aten::mm (100 ns)");
  expect(lines.at(-1)).toBe("  net.py(3): forward");
  expect(lines.join("")).not.toContain("\u202f");
});

it("Summary says what a slice holds", () => {
  const onZoom = vi.fn();
  render(<Summary count={37} busy={0.82} longest="gemm" onZoom={onZoom} onLongest={none} />);
  expect(text()).toContain("37 events, 82.0 % busy, longest: gemm");
  fireEvent.click(screen.getByText("Zoom in"));
  expect(onZoom).toHaveBeenCalledOnce();
});

describe("arrowsOfEvent", () => {
  it("draws the launch of the chain, once, and on the common clock", () => {
    const [arrow, ...others] = arrowsOfEvent(event(7), 2, { offset: 50 });
    expect(others).toEqual([]);
    expect(arrow).toEqual({
      strong: true,
      source: { source: 2, lane: 1, time: 2150 },
      target: { source: 2, lane: 2, time: 7050 },
    });
    const known = event(7, {
      arrows: [
        { kind: "launch", label: "launched by", direction: "in", other: ref(2, { lane: 1 }) },
      ],
    });
    expect(arrowsOfEvent(known, 2, { offset: 50 })).toHaveLength(1);
  });
});

describe("area", () => {
  const payload = {
    t0_ns: 0,
    t1_ns: 1000,
    events: 3,
    kind: "device" as const,
    kinds: [{ kind: "device" as const, names: 2, events: 3, self_ns: 100 }],
    rows: {
      name: ["gemm", HOSTILE],
      look: [3, 1],
      count: [2, 1],
      self_ns: [80, 20],
      total_ns: [300, 100],
      share: [0.75, 0.25],
      mean_ns: [150, 100],
      shortest_ns: [100, 100],
      longest_ns: [200, 100],
      longest_event: [7, 8],
    },
    pooled: 0,
    groups: [
      { key: "1/1/calls", busy_ns: 250, events: 3 },
      { key: "unknown", busy_ns: 1, events: 1 },
    ],
    overlap: { computation_ns: 500, overlap_ns: 0, communication_ns: 250, idle_ns: 250 },
  };
  it("has shares of all names, and leads to the longest event", () => {
    const onEvent = vi.fn();
    const columns = areaColumns(payload, (number) => `#${number}`, onEvent);
    const cells = (key: string) => columns.find((column) => column.key === key)?.values;
    expect([cells("share"), cells("look")]).toEqual([
      [0.75, 0.25],
      ["Kernel", "Operator"],
    ]);
    expect(columns[0]?.href?.(0)).toBe("#7");
    columns[0]?.onFollow?.(1);
    expect(onEvent).toHaveBeenCalledWith(8);
  });
  it("shows busy shares of the rows it knows, and hostile names as text", () => {
    render(
      <AreaTable
        label="x"
        payload={payload}
        groups={[group()]}
        height={200}
        onEvent={none}
        hrefOfEvent={(n) => `#${n}`}
        look="table"
        onLook={none}
        onKind={none}
        flame={() => null}
      />,
    );
    expect(document.querySelectorAll(".busy .bar-row")).toHaveLength(1);
    expect(text()).toContain("25.0 %");
    expect(document.querySelector("img")).toBeNull();
  });
  it("shows the four parts of device time in figures", () => {
    render(<Overlap overlap={payload.overlap} />);
    for (const part of ["Computation only", "500 ns", "50.0 %", "Idle"])
      expect(text()).toContain(part);
  });
});

it("HelpDialog lists keys and gestures", () => {
  render(<HelpDialog onClose={none} />);
  for (const key of ["W", "Esc", "Wheel"]) expect(text()).toContain(key);
});

it("Splitter moves by keys within its bounds", () => {
  const onSize = vi.fn();
  render(
    <Splitter
      label="Width"
      orientation="vertical"
      size={300}
      least={290}
      most={310}
      onSize={onSize}
    />,
  );
  const line = screen.getByRole("separator");
  fireEvent.keyDown(line, { key: "ArrowLeft" });
  fireEvent.keyDown(line, { key: "ArrowRight" });
  fireEvent.keyDown(line, { key: "ArrowUp" });
  expect(onSize.mock.calls).toEqual([[310], [290]]);
});
