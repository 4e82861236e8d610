import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import type { StepMfu } from "../../api/types.gen";
import { efficiency, onHost } from "./fixtures";
import { familyRows } from "./model";
import { Families, StepChart } from "./parts";

afterEach(cleanup);

const show = (steps: readonly StepMfu[]): void => {
  render(
    <StepChart
      payload={efficiency()}
      steps={steps}
      chosen={null}
      isChosen={() => true}
      onChoose={vi.fn()}
    />,
  );
};
const facts = (): (string | null)[] =>
  screen.getAllByRole("definition").map((element) => element.textContent);

it("says the figures of a single step instead of drawing a lone bar", () => {
  show([{ index: 0, steps: 1, name: "ProfilerStep#4", mfu: 0.25, flops: 3e12, wall_ns: 2e9 }]);
  expect(document.body.textContent).toContain("MFU of the step");
  expect(facts()).toEqual(["25.0 %", "1.50 TFLOP/s", "3.00 TFLOP", "2.00 s"]);
  expect(screen.queryByRole("button", { name: /^step/ })).toBeNull();
});

it("leaves out a share that is not known, and draws bars of several steps", () => {
  show([{ index: 0, steps: 1, name: "ProfilerStep#4", mfu: null, flops: 3e12, wall_ns: 2e9 }]);
  expect(document.body.textContent).toContain("FLOP/s of the step");
  expect(facts()).toEqual(["1.50 TFLOP/s", "3.00 TFLOP", "2.00 s"]);
  cleanup();
  show(efficiency().steps);
  expect(screen.queryAllByRole("definition")).toEqual([]);
  expect(screen.getAllByRole("button", { name: /^step/ })).toHaveLength(2);
});

it("says nothing of use where matrix cores could not be used", () => {
  const families = {
    ...efficiency().families,
    family: ["gemm", "communication", null],
    matrix_ns: [7000, null, 0],
    matrix_unknown_ns: [500, null, 500],
  };
  const payload = efficiency({ families });
  const { container } = render(<Families payload={payload} rows={familyRows(payload, [])} />);
  const said = (name: string): string | null | undefined =>
    [...container.querySelectorAll("li")]
      .find((row) => row.title.startsWith(name))
      ?.querySelector(".muted")?.textContent;
  expect([said("gemm"), said("communication")]).toEqual(["87.5 % used", "n/a"]);
  cleanup();
  render(<Families payload={onHost()} rows={familyRows(onHost(), [])} />);
  expect(document.body.textContent).not.toContain("n/a");
});
