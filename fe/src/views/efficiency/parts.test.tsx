import { cleanup, render, screen } from "@testing-library/preact";
import { expect, it } from "vitest";
import { GPU_WORDS } from "../../testing/cases";
import { efficiency } from "./fixtures";
import { StepFacts } from "./parts";
import { RoofCell } from "./roof_cell";
import { text } from "../../testing/page";

it("says the MFU of each step, and only its rate where no peak is known", () => {
  const [first, second] = efficiency().steps;
  render(<StepFacts steps={[first!, { ...second!, mfu: null }]} />);
  expect(screen.getAllByRole("definition").map((element) => element.textContent)).toEqual([
    "7.3 %, 71.8 TFLOP/s in 18.1 ms",
    "132 TFLOP/s in 9.83 ms",
  ]);
});

it("draws a share of its roof, and says why there is more than all of it", () => {
  const cell = (share: number, roof: string): string => {
    cleanup();
    render(<RoofCell {...{ share, roof }} reason="" words={GPU_WORDS} />);
    return text();
  };
  expect(cell(0.235, "memory")).toBe("23.5 %memory");
  expect(cell(0.5, "matrix bf16")).toBe("50.0 %Tensor Cores bf16");
  expect(cell(1.3, "memory")).toBe("130.0 %memory, cache");
  expect(document.querySelector<HTMLElement>(".roof-fill")?.style.width).toBe("100%");
  expect(cell(1.3, "vector fp32")).toBe("130.0 %vector fp32, clock");
});

it("shows no number where the roof is unknown, but why", () => {
  const { rerender } = render(
    <RoofCell share={null} roof={null} reason="link, peak unknown" words={GPU_WORDS} />,
  );
  expect(text()).toBe("link, peak unknown");
  expect(document.querySelector(".roof-fill")).toBeNull();
  rerender(<RoofCell share={null} roof={null} reason="link" words={GPU_WORDS} narrow />);
  expect(text()).toBe("");
  expect(document.querySelector(".roof-cell")?.getAttribute("title")).toContain("link");
});
